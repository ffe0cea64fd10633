"""The balancing vehicle's comparison: fixed gains, knowledge base, LQR; falls on slippery ground.

    python -m experiments.studies vehicle

Figure: `python -m benchmarks.vehicles.figures balancing_vehicle`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from experiments.runtime.run_folder import RunFolder
from experiments.runtime.tables import markdown_table
from experiments.studies.engine import outcomes
from experiments.studies.engine.changes import change_of_sum, near_the_least, percent, reached, wilson
from experiments.studies.engine.contenders import contenders
from experiments.studies.engine.outcomes import BASE, Outcomes, difference, quality, survival
from experiments.studies.engine.study import Study
from experiments.studies.vehicle.lqr import VehicleLqr
from experiments.studies.vehicle.situations import OWN, kind_of, slippery, unforeseen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.settings import Setup
    from experiments.studies.engine.contenders import RivalController
    from experiments.studies.engine.declaration import Declaration
    from experiments.studies.engine.study import Options
    from sscq.baselines.candidates import Candidate
    from sscq.verdict.bootstrap import Change

    Array = np.ndarray

MEASURES = ("iae", "speed_error", "slip_distance", "entropy_plant", "effort", "total_variation")
DRY_ERROR = "dry_error"
"""The measure that a design may limit."""
DRY, ON_SLIPPERY = "dry", "slippery"  # what names of designs begin with
_KB = "knowledge_base"
_SIMPLEST = (BASE, "two_degree", "lqr", _KB, "knowledge_base_free")
_EQUAL, _NEAR = 0.01, 1.03  # share of situations in which falls count as equal; factor of the error that does


@dataclass(frozen=True)
class SlipOutcomes(Outcomes):
    """What one design's contenders did.

    Attributes
    ----------
    kinds : tuple of str
        Of the situations.
    dry : mapping of contender to float
        Mean error on dry ground in the taught situations, simulated as they were searched.
    limit : float or None
        What the design allowed of it.
    """

    kinds: tuple[str, ...]
    dry: Mapping[str, float]
    limit: float | None

    @property
    def on_slippery(self) -> Array:
        """Which situations have slippery ground [situation]."""
        return np.array([slippery(kind) for kind in self.kinds])

    def falls(self, name: str, chosen: Array | None = None) -> int:
        """Return how often a contender falls, on slippery ground or in other chosen situations."""
        return int((~self.stood[name][self.on_slippery if chosen is None else chosen]).sum())


def robots(run: Path, step: float, threads: int | None = None) -> dict[str, RivalController]:
    """Return all contenders of a finished design, rolled out with a step [s]; LQR is searched here, once, and kept."""
    with RunFolder.resume(run, command="design") as folder:
        return contenders(folder, _searched, step, threads)


def _searched(job: Setup) -> list[Candidate]:
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    return [VehicleLqr(limits, job.laws[0].sample_time or job.step).candidate()]


def judged(run: Path, declared: Declaration) -> SlipOutcomes:
    """Return what a finished design's contenders did; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = contenders(folder, _searched, declared.own["drawn"]["step"])
        situations = unforeseen(declared)
        arrays = outcomes.cached(
            folder, "drawn", lambda: outcomes.arrays_of(known, situations, MEASURES), declared.digest
        )
        dry = {name: _when_taught(replace(one, step=folder.config["step"])) for name, one in known.items()}
        limit = folder.config["fitness"]["own_limits"].get(DRY_ERROR)
    kinds = tuple(kind_of(one) for one in situations)
    return SlipOutcomes(run.name, **outcomes.read(known, arrays, MEASURES), kinds=kinds, dry=dry, limit=limit)


def _when_taught(one: RivalController) -> float:
    """Mean error on dry ground in the taught situations."""
    return float(one.outcome(sscq.standard_sets(one.plant)["taught"], (DRY_ERROR,))[DRY_ERROR].mean())


def fewer(stood: Array, base: Array) -> Change:
    """Return the change of the number of falls; NaN where the base never falls."""
    return change_of_sum(~stood, ~base)


def falls_and_limit(found: SlipOutcomes) -> list[str]:
    """Return falls on slippery ground beside the error on dry ground when taught, and the limit that held for it."""
    base, limit, rows = found.dry[BASE], found.limit, []
    for name in found.stood:
        dry = found.dry[name]
        told = "" if limit is None else f"{100 * (dry / limit - 1):+.1f} %"
        change = f"{100 * (dry / base - 1):+.1f} %"
        rows.append([found.titles[name], str(found.falls(name)), f"{dry:.3f}", change, told])
    return markdown_table(("controller", "falls", "dry error", "against the fixed PID", "against the limit"), rows)


def by_kind(found: SlipOutcomes) -> list[str]:
    """Return the falls in each kind of situation."""
    kinds = {kind: np.array(found.kinds) == kind for kind in dict.fromkeys(found.kinds)}
    head = ("controller", *(f"{kind.replace('_', ' ')} ({int(those.sum())})" for kind, those in kinds.items()))
    rows = [
        [found.titles[name], *(str(found.falls(name, those)) for those in kinds.values())] for name in found.stood
    ]  # fmt: skip
    return markdown_table(head, rows)


def aims(several: Sequence[SlipOutcomes], share: float) -> list[str]:
    """Return what became of the aim: a sentence for each design and knowledge base."""
    lines = []
    for found in several:
        chosen = found.on_slippery
        for name in (one for one in found.stood if one.startswith(_KB)):
            change = fewer(found.stood[name][chosen], found.stood[BASE][chosen])
            lines.append(
                f"- {found.design}, {found.titles[name]}: **{reached(-change.value, -change.high, share)}** "
                f"({found.falls(name)} falls, {percent(change, 0)} against {found.falls(BASE)} of the fixed PID taught "
                "the same)"
            )
    return lines


def across(several: Sequence[SlipOutcomes]) -> list[str]:
    """Return contenders taught on slippery ground against the fixed gains that were not, designs by their number."""
    designs, rows = {one.design: one for one in several}, []
    for taught in (one for one in several if one.design.startswith(ON_SLIPPERY)):
        dry = designs.get(taught.design.replace(ON_SLIPPERY, DRY))
        if dry is None:
            continue
        chosen, base = taught.on_slippery, dry.stood[BASE]
        for name, stood in taught.stood.items():
            low, high = wilson(taught.falls(name), int(chosen.sum()))
            both = ~chosen & stood & base
            error = taught.quality[name]["iae"][both].mean() / dry.quality[BASE]["iae"][both].mean()
            rows.append(
                [taught.design, taught.titles[name], str(taught.falls(name)),
                 f"{100 * low:.1f} to {100 * high:.1f} %", str(int((~base[chosen]).sum())),
                 percent(fewer(stood[chosen], base[chosen]), 0), difference(stood[chosen], base[chosen]),
                 f"{100 * (error - 1):+.1f} %"]
            )  # fmt: skip
    head = ("design", "controller", "falls on slippery ground", "share, Wilson interval",
            "of the fixed PID taught on dry ground", "change", "difference of standing, points",
            "error elsewhere against it")  # fmt: skip
    return markdown_table(head, rows)


def conclusion(several: Sequence[SlipOutcomes]) -> list[str]:
    """Return whom to use, from the mean over the designs of each kind."""
    told: list[str] = []
    for kind, ground in ((DRY, "Taught on dry ground alone"), (ON_SLIPPERY, "Taught on slippery ground as well")):
        designs = [one for one in several if one.design.startswith(kind)]
        if designs:
            told += [f"**{ground}: {_best(designs)}**", ""]
    return told[:-1]


def _best(designs: Sequence[SlipOutcomes]) -> str:
    """Falls first; among those within a point of the fewest the simplest within 3 % of the least error."""
    names = [name for name in _SIMPLEST if all(name in one.stood for one in designs)]
    slippery_falls = {n: float(np.mean([1 - one.stood[n][one.on_slippery].mean() for one in designs])) for n in names}
    falls = {n: float(np.mean([1 - one.stood[n].mean() for one in designs])) for n in names}
    error = {n: float(np.mean([_mean_error(one, n) for one in designs])) for n in names}
    use = near_the_least({n: error[n] for n in near_the_least(falls, by=_EQUAL)}, times=_NEAR)[0]
    titles = designs[0].titles
    told = (
        f"{titles[n]} falls in {100 * slippery_falls[n]:.1f} % of the situations on slippery ground, error "
        f"{error[n]:.2f}" for n in names
    )  # fmt: skip
    return f"{'; '.join(told)}. Use: {titles[use]}."


def _mean_error(found: SlipOutcomes, name: str) -> float:
    alive = np.all(list(found.stood.values()), axis=0)
    return float(found.quality[name]["iae"][alive].mean())


class VehicleStudy(Study):
    """Designs taught on dry ground, and on slippery ground as well."""

    name = "vehicle"
    own = OWN

    def findings(self, folders: Mapping[str, Path], declared: Declaration) -> list[SlipOutcomes]:
        """Return what each design's contenders did."""
        return [judged(folder, declared) for folder in folders.values()]

    def section(self, found: SlipOutcomes, declared: Declaration) -> list[str]:  # noqa: ARG002
        """Return what one design found as Markdown lines."""
        values: dict[str, Any] = {
            "design": found.design, "limit": "none" if found.limit is None else f"{found.limit:g}",
            "falls": falls_and_limit(found), "by_kind": by_kind(found),
        }  # fmt: skip
        for ground, chosen in ((ON_SLIPPERY, found.on_slippery), ("elsewhere", ~found.on_slippery)):
            stood = {name: one[chosen] for name, one in found.stood.items()}
            measured = {name: {m: v[chosen] for m, v in one.items()} for name, one in found.quality.items()}
            values[f"{ground}_survival"] = survival(stood, found.titles)
            values[f"{ground}_quality"] = quality(measured, stood, found.titles, self.head["measures"])
        return self.template.lines("design", values)

    def values(self, found: Sequence[SlipOutcomes], declared: Declaration, chosen: Options) -> dict[str, Any]:  # noqa: ARG002
        """Return what else the page's places hold."""
        return {
            "conclusion": conclusion(found), "share": 100 * declared.own["aim"],
            "aims": aims(found, declared.own["aim"]), "across": across(found),
            "number": sum(declared.own["drawn"]["kinds"].values()), "step": 1000 * declared.own["drawn"]["step"],
        }  # fmt: skip
