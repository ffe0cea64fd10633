"""The unicycle's comparisons: fixed gains, knowledge bases and LQR; survival, and the region of survived pushes.

    python -m experiments.studies unicycle           # taught are rides, and pushes from ahead and from the side
    python -m experiments.studies unicycle_region    # taught is a disc of pushes: designs search for the region

The second one is against the largest region of any fixed gains. Figures of the first:
`python -m benchmarks.vehicles.unicycle.figures`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.tables import markdown_table
from experiments.studies.engine.aims import near_the_least, reached
from experiments.studies.engine.intervals import change_of_sum, percent
from experiments.studies.engine.outcomes import BASE, quality, survival
from experiments.studies.engine.study import Study
from experiments.studies.unicycle.contenders import NAME as BEGUN
from experiments.studies.unicycle.outcomes import OWN, grid_of, judged, rides_of
from experiments.studies.unicycle.pushes import areas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.studies.engine.declaration import Declaration
    from experiments.studies.engine.study import Options
    from experiments.studies.unicycle.outcomes import PushOutcomes
    from sscq.verdict.bootstrap import Change

CONSTANT = (BASE, "own", "two_degree", "lqr")
"""Contenders whose gains are fixed, the simplest first."""
SIMPLEST = ("fixed", "two_degree", "lqr", "lqr_scheduled", "knowledge_base", "knowledge_base_free")
BETWEEN = 340.0  # N: how far the region of the first comparison reaches
_EQUAL = 0.01  # share of situations, and of regions, that counts as equal


def gained(found: PushOutcomes, name: str, base: str = BASE, largest: float = math.inf) -> Change:
    """Return by how much a contender's region, up to `largest` [N], is larger; whole rides are resampled."""
    return _larger(found.sizes[name], found.sizes[base], largest)


def _larger(ours: NDArray[np.float64], base: NDArray[np.float64], largest: float = math.inf) -> Change:
    return change_of_sum(areas(ours, largest), areas(base, largest))


def best_constant(found: PushOutcomes, largest: float = math.inf) -> str:
    """Return which contender with fixed gains has the largest region, up to `largest` [N]."""
    known = [name for name in CONSTANT if name in found.sizes]
    return max(known, key=lambda name: float(areas(found.sizes[name], largest).sum()))


def share_of_disc(sizes: NDArray[np.float64], largest: float, counted: float = math.inf) -> str:
    """Return a region's share of a disc of pushes [N], those counted up to a size."""
    return f"{100 * areas(sizes, counted).mean() / (math.pi * largest**2):.1f} %"


def by_speed(found: PushOutcomes, speeds: Sequence[float], largest: float) -> list[str]:
    """Return areas in thirds of the rides' speeds."""
    parts = np.array_split(np.argsort(speeds), 3)
    head = ["controller", *(f"{min(speeds[i] for i in p):.2g} to {max(speeds[i] for i in p):.2g} m/s" for p in parts)]
    rows = [
        [found.titles[name], *(share_of_disc(sizes[p], largest) for p in parts)] for name, sizes in found.sizes.items()
    ]
    return markdown_table(head, rows)


def means(found: Sequence[PushOutcomes]) -> dict[str, float]:
    """Return the share of the drawn situations in which each contender stood, the mean of the designs."""
    return {name: float(np.mean([one.stood[name].mean() for one in found])) for name in found[0].sizes}


class PushStudy(Study):
    """What both comparisons share."""

    own = OWN

    def findings(self, folders: Mapping[str, Path], declared: Declaration) -> list[PushOutcomes]:
        """Return what each design's contenders did."""
        return [judged(folder, declared) for folder in folders.values()]

    def sections(self, found: Sequence[PushOutcomes], declared: Declaration) -> list[str]:
        """Return a section of each design."""
        return [line for one in found for line in (*self.section(one, declared), "")]

    def section(self, found: PushOutcomes, declared: Declaration) -> list[str]:
        """Return what one design found as Markdown lines."""
        largest, grip = grid_of(declared).largest, declared.own["region"]["grip"]
        steps = _larger(found.finer, found.sizes[BASE])
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

    @abstractmethod
    def regions(self, found: PushOutcomes, largest: float, grip: float) -> list[str]:
        """Return a table of the regions' areas."""

    @abstractmethod
    def aims(self, found: Sequence[PushOutcomes], declared: Declaration) -> list[str]:
        """Return what became of the aim as Markdown lines."""

    @abstractmethod
    def conclusion(self, found: Sequence[PushOutcomes]) -> str:
        """Return who has the largest region and who stands most often."""


class UnicycleStudy(PushStudy):
    """Against the best fixed PID."""

    name = "unicycle"

    def regions(self, found: PushOutcomes, largest: float, grip: float) -> list[str]:
        """Return the regions' areas, all of them and within the tyre's grip [N], and mean pushes by direction."""
        rows = []
        for name, sizes in found.sizes.items():
            row = [found.titles[name]]
            for disc, end in ((largest, math.inf), (grip, grip)):
                told = "" if name == BASE else percent(gained(found, name, largest=end))
                row += [share_of_disc(sizes, disc, end), told]
            rows.append([*row, *(f"{sizes[:, chosen].mean():.0f}" for chosen in _sectors(sizes.shape[1]))])
        head = ("controller", f"area, of {largest:g} N all around", "against the fixed PID",
                f"area, of {grip:g} N (the tyre's grip)", "against the fixed PID", "mean largest push forward, N",
                "to a side, N", "backward, N")  # fmt: skip
        return markdown_table(head, rows)

    def aims(self, found: Sequence[PushOutcomes], declared: Declaration) -> list[str]:
        """Return a sentence for each design and knowledge base."""
        lines = []
        for one in found:
            for name in (name for name in one.sizes if name.startswith("knowledge_base")):
                more = gained(one, name)
                lines.append(
                    f"- {one.design}, {one.titles[name]}: **{reached(more.value, more.low, declared.own['aim'])}** "
                    f"(region {percent(more)} against the fixed PID)"
                )
        return lines

    def conclusion(self, found: Sequence[PushOutcomes]) -> str:
        """Return the largest mean region, the largest survival, and whom to use."""
        titles, stands = found[0].titles, means(found)
        region = {name: float(np.mean([gained(one, name).value for one in found])) for name in stands}
        best, safest = max(region, key=region.__getitem__), max(stands, key=stands.__getitem__)
        return (
            f"Largest region of survived pushes: {titles[best]}, {100 * region[best]:+.1f} % against the fixed PID; "
            f"most often upright in the drawn situations: {titles[safest]}, {100 * stands[safest]:.1f} % (the fixed "
            f"PID {100 * stands[BASE]:.1f} %). {_advice(region, stands, titles)}"
        )


def _sectors(n: int) -> list[NDArray[np.intp]]:
    """Directions within 45 degrees of forward, of either side, of backward."""
    away = np.abs((np.arange(n) * 360.0 / n + 180.0) % 360.0 - 180.0)
    return [np.flatnonzero(away <= 45.0), np.flatnonzero((away > 45.0) & (away < 135.0)), np.flatnonzero(away >= 135.0)]


def _advice(region: Mapping[str, float], stands: Mapping[str, float], titles: Mapping[str, str]) -> str:
    """The simplest that nobody beats by more than 1 % in survival and in region; else what each is best for."""
    each = [near_the_least({name: -v for name, v in one.items()}, by=_EQUAL) for one in (stands, region)]
    good = [name for name in SIMPLEST if all(name in several for several in each)]
    if good:
        return f"Use: {titles[good[0]]}."
    stand, area = (max(v, key=v.__getitem__) for v in (stands, region))
    return f"Use {titles[stand]} where all kinds of disturbance come, {titles[area]} against single pushes."


class UnicycleRegionStudy(PushStudy):
    """Against the largest region of any fixed gains, and once more up to where the first comparison ends."""

    name = "unicycle_region"

    def regions(self, found: PushOutcomes, largest: float, grip: float) -> list[str]:
        """Return areas of the regions up to several sizes, and changes against the largest one of fixed gains there."""
        ends = (largest, BETWEEN, grip)
        best = {end: best_constant(found, end) for end in ends}
        rows = []
        for name, sizes in found.sizes.items():
            row = [found.titles[name]]
            for end, base in best.items():
                told = "the best" if name == base else percent(gained(found, name, base, end))
                row += [share_of_disc(sizes, end, end), told]
            rows.append(row)
        heads = [(f"area, of {end:g} N all around", "against the best fixed gains") for end in ends]
        return markdown_table(["controller", *(cell for pair in heads for cell in pair)], rows)

    def aims(self, found: Sequence[PushOutcomes], declared: Declaration) -> list[str]:
        """Return a sentence for each design and contender with gains over the speed."""
        largest, lines = grid_of(declared).largest, []
        for one in found:
            base, nearer = best_constant(one), best_constant(one, BETWEEN)
            for name in (name for name in one.sizes if name not in CONSTANT):
                more = gained(one, name, base)
                lines.append(
                    f"- {one.design}, {one.titles[name]}: **{reached(more.value, more.low, declared.own['aim'])}**, "
                    f"{percent(more)} of the region up to {largest:g} N of {one.titles[base]}; up to {BETWEEN:g} N "
                    f"{percent(gained(one, name, nearer, BETWEEN))} of that of {one.titles[nearer]}"
                )
        return lines

    def conclusion(self, found: Sequence[PushOutcomes]) -> str:
        """Return who has the largest region and who stands most often, means of all designs."""
        titles, stands = found[0].titles, means(found)
        region = {
            name: float(np.mean([areas(o.sizes[name]).mean() / areas(o.sizes[best_constant(o)]).mean() for o in found]))
            for name in stands
        }
        best, safest = max(region, key=region.__getitem__), max(stands, key=stands.__getitem__)
        constant = max((name for name in CONSTANT if name in stands), key=stands.__getitem__)
        told = f"{titles[best]}, {100 * (region[best] - 1):+.1f} % against the best fixed gains"
        if BEGUN in region and best != BEGUN:
            told += f" ({titles[BEGUN]}: {100 * (region[BEGUN] - 1):+.1f} %)"
        return (
            f"Largest region of survived pushes: {told}. Most often upright in the drawn situations: {titles[safest]}, "
            f"{100 * stands[safest]:.1f} %; of the fixed gains {titles[constant]}, {100 * stands[constant]:.1f} %."
        )


def main(words: Sequence[str]) -> None:
    """Run the first comparison."""
    UnicycleStudy().main(words)


def main_of_regions(words: Sequence[str]) -> None:
    """Run the second one."""
    UnicycleRegionStudy().main(words)
