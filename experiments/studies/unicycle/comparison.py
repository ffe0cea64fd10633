"""The unicycle's comparisons: fixed gains, knowledge bases and LQR; survival, and the region of survived pushes.

    python -m experiments.studies unicycle           # taught are rides, and pushes from ahead and from the side
    python -m experiments.studies unicycle_region    # taught is a disc of pushes: designs search for the region

The second one is against the largest region of any fixed gains. Figures of the first:
`python -m benchmarks.vehicles.figures unicycle`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from experiments.runtime.run_folder import RunFolder
from experiments.runtime.tables import markdown_table
from experiments.studies.engine import outcomes
from experiments.studies.engine.changes import change_of_sum, near_the_least, percent, reached
from experiments.studies.engine.outcomes import BASE, Outcomes, quality, survival
from experiments.studies.engine.study import Study
from experiments.studies.unicycle.contenders import NAME as BEGUN
from experiments.studies.unicycle.contenders import balanced, measures, unicycle_contenders
from experiments.studies.unicycle.pushes import Condition, PushGrid, areas, conditions, drawn, largest_pushes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.studies.engine.contenders import RivalController
    from experiments.studies.engine.declaration import Declaration
    from experiments.studies.engine.study import Options
    from sscq.verdict.bootstrap import Change

    Array = np.ndarray

OWN = {
    "drawn": ("number", "seed", "ranges"),
    "drawn.ranges": (
        "speed", "roll", "pitch", "phase", "size", "direction", "height", "at", "lasting", "slope", "rider", "yaw",
        "joints", "noise", "delay",
    ),
    "region": ("rides", "seed", "speed", "phase", "height", "grip", "grid"),
    "region.grid": tuple(field.name for field in fields(PushGrid)),
    "aim": (),
}  # fmt: skip
"""Entries of the declarations: situations drawn from ranges; rides and grid of pushes; the region's larger share."""
_SIZES = "sizes"
_FINER = 5  # times finer steps, to see whether the steps of the simulation matter


@dataclass(frozen=True)
class PushOutcomes(Outcomes):
    """What one design's contenders did.

    Attributes
    ----------
    sizes : mapping of contender to ndarray [ride, direction]
        Largest push survived, N.
    finer : ndarray [ride, direction]
        The fixed gains' again, in finer steps.
    """

    sizes: Mapping[str, Array]
    finer: Array


def grid_of(declared: Declaration) -> PushGrid:
    """Return where and how finely the region is measured."""
    return PushGrid(**declared.own["region"]["grid"])


def rides_of(declared: Declaration, *, own: bool = False) -> list[Condition]:
    """Return the declared rides; `own` where the speed has a channel of its own."""
    region = declared.own["region"]
    return [replace(ride, balanced=own) for ride in conditions(region, region["rides"], region["seed"])]


def judged(run: Path, declared: Declaration, threads: int | None = None) -> PushOutcomes:
    """Return what a finished design's contenders did; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = unicycle_contenders(folder, threads)
        arrays = outcomes.cached(folder, "pushes", lambda: _computed(known, declared), declared.digest)
    sizes = {name: arrays[f"{name}.{_SIZES}"] for name in known}
    told = outcomes.read(known, arrays, measures(known))
    return PushOutcomes(run.name, **told, sizes=sizes, finer=arrays["finer"])


def _computed(known: Mapping[str, RivalController], declared: Declaration) -> dict[str, Array]:
    own, given = balanced(known["fixed"].plant), declared.own["drawn"]
    situations = drawn(given["ranges"], given["number"], given["seed"], balanced=own)
    rides, grid = rides_of(declared, own=own), grid_of(declared)
    found = outcomes.arrays_of(known, situations, measures(known))
    for name, robot in known.items():
        found[f"{name}.{_SIZES}"] = largest_pushes(robot.survives, rides, grid)
    fixed = known["fixed"]
    found["finer"] = largest_pushes(replace(fixed, step=fixed.step / _FINER).survives, rides, grid)
    return found


CONSTANT = (BASE, "own", "two_degree", "lqr")
"""Contenders whose gains are fixed, the simplest first."""
SIMPLEST = ("fixed", "two_degree", "lqr", "lqr_scheduled", "knowledge_base", "knowledge_base_free")
BETWEEN = 340.0  # N: how far the region of the first comparison reaches
_EQUAL = 0.01  # share of situations, and of regions, that counts as equal


def gained(found: PushOutcomes, name: str, base: str = BASE, largest: float = math.inf) -> Change:
    """Return by how much a contender's region, up to `largest` [N], is larger; whole rides are resampled."""
    return change_of_sum(areas(found.sizes[name], largest), areas(found.sizes[base], largest))


def best_constant(found: PushOutcomes, largest: float = math.inf) -> str:
    """Return which contender with fixed gains has the largest region, up to `largest` [N]."""
    known = [name for name in CONSTANT if name in found.sizes]
    return max(known, key=lambda name: float(areas(found.sizes[name], largest).sum()))


def share_of_disc(sizes: Array, largest: float) -> str:
    """Return a region's share of a disc of pushes [N]; larger ones do not count."""
    return f"{100 * areas(sizes, largest).mean() / (math.pi * largest**2):.1f} %"


def by_speed(found: PushOutcomes, speeds: Sequence[float], largest: float) -> list[str]:
    """Return areas in thirds of the rides' speeds."""
    parts = np.array_split(np.argsort(speeds), 3)
    head = ["controller", *(f"{min(speeds[i] for i in p):.2g} to {max(speeds[i] for i in p):.2g} m/s" for p in parts)]
    rows = [
        [found.titles[name], *(share_of_disc(sizes[p], largest) for p in parts)] for name, sizes in found.sizes.items()
    ]
    return markdown_table(head, rows)


class PushStudy(Study):
    """What both comparisons share; their sentences stand in their templates.

    A template's head also says `against`, what a table calls whom regions are compared with, and `base`, its cell.
    """

    own = OWN
    judges: ClassVar[str]
    """What names of contenders that the aim is about begin with."""

    def base(self, found: PushOutcomes, largest: float = math.inf) -> str:
        """Return whom regions up to `largest` [N] are compared with."""
        raise NotImplementedError

    def columns(self, largest: float, grip: float) -> dict[float, str]:
        """Return where regions end [N], and what each column of areas is called."""
        raise NotImplementedError

    def findings(self, folders: Mapping[str, Path], declared: Declaration) -> list[PushOutcomes]:
        """Return what each design's contenders did."""
        return [judged(folder, declared) for folder in folders.values()]

    def section(self, found: PushOutcomes, declared: Declaration) -> list[str]:
        """Return what one design found as Markdown lines."""
        largest, grip = grid_of(declared).largest, declared.own["region"]["grip"]
        steps = change_of_sum(areas(found.finer), areas(found.sizes[BASE]))
        return self.template.lines("design", {
            "design": found.design, "largest": largest, "steps": 100 * steps.value,
            "survival": survival(found.stood, found.titles),
            "quality": quality(found.quality, found.stood, found.titles, self.head["measures"]),
            "regions": self.regions(found, largest, grip),
            "by_speed": by_speed(found, [ride.speed for ride in rides_of(declared)], largest),
        })  # fmt: skip

    def values(self, found: Sequence[PushOutcomes], declared: Declaration, chosen: Options) -> dict[str, Any]:  # noqa: ARG002
        """Return what else the page's places hold."""
        return {
            "grid": grid_of(declared), "share": 100 * declared.own["aim"], "conclusion": self.conclusion(found),
            "aims": self.aims(found, declared),
        }  # fmt: skip

    def regions(self, found: PushOutcomes, largest: float, grip: float) -> list[str]:
        """Return areas of the regions up to several sizes, and changes against the base's there."""
        columns = self.columns(largest, grip)
        bases = {end: self.base(found, end) for end in columns}
        rows = []
        for name, sizes in found.sizes.items():
            row = [found.titles[name]]
            for end, base in bases.items():
                told = self.head["base"] if name == base else percent(gained(found, name, base, end))
                row += [share_of_disc(sizes, end), told]
            rows.append([*row, *self.further(sizes).values()])
        heads = [cell for title in columns.values() for cell in (title, f"against {self.head['against']}")]
        return markdown_table(["controller", *heads, *self.further(found.finer)], rows)

    def further(self, sizes: Array) -> dict[str, str]:  # noqa: ARG002
        """Return more cells of a contender by their columns' titles."""
        return {}

    def aims(self, found: Sequence[PushOutcomes], declared: Declaration) -> list[str]:
        """Return what became of the aim: a sentence for each design and contender that it is about."""
        lines = []
        for one in found:
            base, nearer = self.base(one), self.base(one, BETWEEN)
            for name in (name for name in one.sizes if name.startswith(self.judges) and name not in CONSTANT):
                more = gained(one, name, base)
                lines += self.template.lines("aim", {
                    "design": one.design, "title": one.titles[name], "more": percent(more),
                    "outcome": reached(more.value, more.low, declared.own["aim"]),
                    "largest": grid_of(declared).largest, "base": one.titles[base], "between": BETWEEN,
                    "nearer": percent(gained(one, name, nearer, BETWEEN)), "base_nearer": one.titles[nearer],
                })  # fmt: skip
        return lines

    def conclusion(self, found: Sequence[PushOutcomes]) -> str:
        """Return who has the largest region and who stands most often, means of all designs."""
        titles = found[0].titles
        stands = {name: float(np.mean([one.stood[name].mean() for one in found])) for name in titles}
        region = {
            name: float(np.mean([areas(o.sizes[name]).sum() / areas(o.sizes[self.base(o)]).sum() - 1.0 for o in found]))
            for name in titles
        }
        best, safest = (max(each, key=each.__getitem__) for each in (region, stands))
        constant = max((name for name in CONSTANT if name in stands), key=stands.__getitem__)
        begun = f" ({titles[BEGUN]}: {100 * region[BEGUN]:+.1f} %)" if BEGUN in region and best != BEGUN else ""
        (line,) = self.template.lines("conclusion", {
            "best": titles[best], "more": 100 * region[best], "begun": begun, "safest": titles[safest],
            "stands": 100 * stands[safest], "fixed_stands": 100 * stands[BASE], "constant": titles[constant],
            "constant_stands": 100 * stands[constant], "advice": _advice(region, stands, titles),
        })  # fmt: skip
        return line


def _advice(region: Mapping[str, float], stands: Mapping[str, float], titles: Mapping[str, str]) -> str:
    """The simplest that nobody beats by more than 1 % in survival and in region; else what each is best for."""
    each = [near_the_least({name: -v for name, v in one.items()}, by=_EQUAL) for one in (stands, region)]
    good = [name for name in SIMPLEST if all(name in several for several in each)]
    if good:
        return f"Use: {titles[good[0]]}."
    stand, area = (max(v, key=v.__getitem__) for v in (stands, region))
    return f"Use {titles[stand]} where all kinds of disturbance come, {titles[area]} against single pushes."


class UnicycleStudy(PushStudy):
    """Against the best fixed PID."""

    name = "unicycle"
    judges = "knowledge_base"

    def base(self, found: PushOutcomes, largest: float = math.inf) -> str:  # noqa: ARG002
        """Return the fixed PID."""
        return BASE

    def columns(self, largest: float, grip: float) -> dict[float, str]:
        """Return all of the region, and what is within the tyre's grip."""
        return {largest: f"area, of {largest:g} N all around", grip: f"area, of {grip:g} N (the tyre's grip)"}

    def further(self, sizes: Array) -> dict[str, str]:
        """Return mean pushes within 45 degrees of forward, of either side, of backward."""
        away = np.abs((np.arange(sizes.shape[1]) * 360.0 / sizes.shape[1] + 180.0) % 360.0 - 180.0)
        sectors = {
            "mean largest push forward, N": away <= 45.0, "to a side, N": (away > 45.0) & (away < 135.0),
            "backward, N": away >= 135.0,
        }  # fmt: skip
        return {title: f"{sizes[:, chosen].mean():.0f}" for title, chosen in sectors.items()}


class UnicycleRegionStudy(PushStudy):
    """Against the largest region of any fixed gains, and once more up to where the first comparison ends."""

    name = "unicycle_region"
    judges = ""

    def base(self, found: PushOutcomes, largest: float = math.inf) -> str:
        """Return whose region is the largest of those with fixed gains."""
        return best_constant(found, largest)

    def columns(self, largest: float, grip: float) -> dict[float, str]:
        """Return all of the region, the part that the first comparison has, and what is within the tyre's grip."""
        return {end: f"area, of {end:g} N all around" for end in (largest, BETWEEN, grip)}
