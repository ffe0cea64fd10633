"""What a longer search is worth: the same designs with more and more evaluations.

    python -m experiments.studies budgets                      # all designs, and the page
    python -m experiments.studies budgets van_der_pol,cstr     # some plants

Fitness in the taught situations is what a search works on: more evaluations should never make it worse. What that is
worth, the changes against the design's own fixed PID in fresh draws tell. Run folders are gone on with, what was found
is recorded; the page is written once all designs are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.afterwards.fresh import StudyCase, change_of, fresh_situations, named, opened, rollouts
from experiments.studies.engine.changes import percent
from experiments.studies.engine.record import StudyRecord
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from sscq.verdict.comparison import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Kept = dict[str, float | None]

RUNGS = ("fixed", "table", "knowledge_base_direct", "knowledge_base")
_TITLES = ("fixed PID", "table", "without imitation", "chain")
_SHORT = dict(zip(RUNGS, _TITLES, strict=True))
_HEAD = (
    *("design", "evaluations", *(f"taught: {_SHORT[name]}" for name in RUNGS)),
    *(f"fresh: {_SHORT[name]}" for name in RUNGS[1:]),
)


@dataclass(frozen=True)
class Budgeted:
    """What one design came to.

    Attributes
    ----------
    plant : str
    evaluations : int
        Of a candidate's search, as set.
    seed : int
    taught : mapping of rung to float
        Fitness in the taught situations; NaN where the design has no such rung.
    fresh : mapping of rung to mapping
        Change of J against the design's fixed PID in fresh draws: "value", "low", "high".
    """

    plant: str
    evaluations: int
    seed: int
    taught: Mapping[str, float]
    fresh: Mapping[str, Kept]

    def row(self) -> list[str]:
        """Return its row of the table."""
        taught = [f"{self.taught[name]:.4f}" for name in RUNGS]
        fresh = [percent(change_of(self.fresh[name])) if name in self.fresh else "-" for name in RUNGS[1:]]
        return [f"{self.plant}, seed {self.seed}", str(self.evaluations), *taught, *fresh]


def cases(head: Mapping[str, Any], plants: Sequence[str]) -> list[tuple[str, int, StudyCase]]:
    """Return plant, evaluations and design of all cases."""
    return [
        (plant, count, StudyCase(f"{plant}-{count}", seed, (f"plant={plant}", *_words(head, count)), head["draws"]))
        for plant in plants
        for seed in head["seeds"]
        for count in head["evaluations"]
    ]


def _words(head: Mapping[str, Any], count: int) -> tuple[str, ...]:
    return (*head["words"], f"budget.evaluations={count}")


def outcome(run: Path, draws: int) -> dict[str, Any]:
    """Return "taught" and "fresh" of a finished design, see :class:`Budgeted`."""
    controllers = formats.read_json(run / "metrics.json")["controllers"]
    with opened(run) as design:
        blocks, seed = fresh_situations(design.bench.setup, draws), design.bench.setup.seed
        group = {one.name: one for one in design.group}
        fixed = rollouts(design, group["fixed"], blocks).sample
        fresh = {
            name: compare(rollouts(design, group[name], blocks).sample, fixed, seed).mean
            for name in RUNGS[1:]
            if name in group
        }
    taught = {name: controllers[name]["fitness"]["taught"] for name in RUNGS if name in controllers}
    return {"taught": taught, "fresh": fresh}


def steps(found: Sequence[Budgeted]) -> list[tuple[Budgeted, Budgeted]]:
    """Return designs of a plant and seed with the next ones that have more evaluations."""
    return [(a, b) for a, b in pairwise(found) if (a.plant, a.seed) == (b.plant, b.seed)]


def worse(found: Sequence[Budgeted], tolerance: float) -> list[str]:
    """Return where more evaluations made the taught fitness of a rung worse by more than a share of it, in words."""
    return [
        f"{after.plant}, seed {after.seed}, {_SHORT[name]}: {more:+.1%} "
        f"from {before.evaluations} to {after.evaluations}"
        for before, after in steps(found)
        for name in RUNGS
        if (more := after.taught[name] / before.taught[name] - 1.0) > tolerance
    ]


def means(found: Sequence[Budgeted]) -> dict[int, list[float]]:
    """Return the mean change in fresh draws of each rung but the first, by evaluations."""
    return {
        count: [_mean([one.fresh.get(name) for one in found if one.evaluations == count]) for name in RUNGS[1:]]
        for count in dict.fromkeys(one.evaluations for one in found)
    }


def _mean(changes: Sequence[Kept | None]) -> float:
    values = [change_of(one).value for one in changes if one is not None]
    return sum(values) / len(values) if values else math.nan


def main(words: Sequence[str]) -> None:
    """Design what is missing, judge afterwards, print the table; write the page if that is all."""
    template, record = Template.of("budgets"), StudyRecord("budgets")
    head = template.head
    for plant, count, case in cases(head, named(words[0], "plant", head["plants"]) if words else head["plants"]):
        made = partial(case.designed, Path(head["runs"]))
        told = record.found(case.name, case.asked, made, partial(outcome, draws=case.draws))
        print(text_table(_HEAD, [_budgeted(plant, count, case.seed, told).row()]).splitlines()[-1], flush=True)
    every = cases(head, head["plants"])
    if all(record.has(case.name, case.asked) for *_, case in every):
        found = [_budgeted(plant, count, case.seed, record.get(case.name)) for plant, count, case in every]
        told = page(template, found, record.commits(case.name for *_, case in every))
        atomic_files.write(Path(head["page"]), told)
        print(f"page: {head['page']}")


def _budgeted(plant: str, count: int, seed: int, told: Mapping[str, Any]) -> Budgeted:
    return Budgeted(plant, count, seed, dict.fromkeys(RUNGS, math.nan) | told["taught"], told["fresh"])


def page(template: Template, found: Sequence[Budgeted], commits: str) -> str:
    """Return the page of what was found; `commits` says at which ones."""
    told = worse(found, template.head["tolerance"])
    rows = [[str(count), *(f"{value:+.1%}" for value in values)] for count, values in means(found).items()]
    return template.page(
        {
            "draws": template.head["draws"],
            "commits": commits,
            "table": markdown_table(_HEAD, [one.row() for one in found]),
            "means": markdown_table(("evaluations", *(_SHORT[name] for name in RUNGS[1:])), rows),
            "steps": len(steps(found)) * len(RUNGS),
            "worse": len(told),
            "told": "\n".join(f"- {text}" for text in told) or "None.",
        }
    )
