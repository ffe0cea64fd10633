"""Trade-off fronts as stages of a run: what tracking error buys, or what else comes first, for each kind of control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments import formats
from experiments.front_kinds import Kind, knowledge_base, rivals
from experiments.progress import Progress
from experiments.text_table import in_words
from sscq import baselines, front_choice, nondominated
from sscq.front_objective import FrontObjective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.found_files import Entry
    from experiments.front_point import Choice
    from experiments.judging import Contender
    from experiments.knowledge import Refined
    from experiments.ladder import Bench, Reference
    from experiments.setup import FrontPlan
    from sscq.baselines import Candidate

_SCHEMA, _VERSION = "sscq-fronts", 1


@dataclass(frozen=True)
class Front:
    """Trade-offs of one kind of controller in the taught situations.

    Attributes
    ----------
    name, title : str
    names : tuple of str
        Of the schedule parameters; of the constants of a law of the plant's own field.
    objectives : tuple of str
        "error", "entropy", "travel", "effort", names of the plant's own measures; the one that is limited first.
    theta : ndarray [n, n_theta]
        In order of the first objective.
    values : ndarray [n, n_objectives]
    evaluations : int
    chosen : Choice or None
        The point that is judged beside the ladder, of the front that it is taken from.
    """

    name: str
    title: str
    names: tuple[str, ...]
    objectives: tuple[str, ...]
    theta: np.ndarray
    values: np.ndarray
    evaluations: int
    chosen: Choice | None = None

    def column(self, objective: str) -> np.ndarray:
        """Return one objective of all points [n]."""
        return self.values[:, self.objectives.index(objective)]

    def points(self, plan: FrontPlan) -> dict[str, int]:
        """Return positions by name: least first objective, the budget's, the knee, and the least of every other."""
        first, *others = self.objectives
        found = {f"least {in_words(first)}": 0}
        for k, name in enumerate(others, 1):
            budget = front_choice.within_budget(self.values, plan.error_budget, 0, k)
            words = f"least {in_words(name)} within {1.0 + plan.error_budget:g} x the least {in_words(first)}"
            found[words] = budget
        found["knee"] = front_choice.knee(self.values)
        return found | {f"least {in_words(name)}": int(np.argmin(self.column(name))) for name in others}

    def saved(self, objective: str, budget: float) -> float:
        """Return by which share an objective falls within the budget, from its value where the first is least."""
        column = self.column(objective)
        best = front_choice.within_budget(self.values, budget, 0, self.objectives.index(objective))
        return float(1.0 - column[best] / column[0]) if column[0] > 0.0 else 0.0


def search(
    bench: Bench, ref: Reference, fixed: Entry, refined: Mapping[str, Refined], others: Sequence[Contender] = ()
) -> list[Front]:
    """Search the fronts that were asked for, each as a stage of the run; none: an empty list.

    All have the same budget, situations and limits; each starts from what the run has found of its kind. `others`:
    tuned laws of the plant's own field.
    """
    plan = bench.setup.front
    if plan is None:
        return []
    start = np.vstack([fixed.theta, ref.start])
    gains = baselines.fixed(bench.setup.laws, bench.setup.low, bench.setup.high, start)
    limits = _span(bench, ref, plan, gains, fixed)
    fronts = [_stage(bench, ref, plan, Kind(gains), limits)]
    if plan.with_knowledge_base:
        fronts.append(_stage(bench, ref, plan, Kind(knowledge_base(bench, refined)), limits))
    if plan.with_rivals:
        fronts += [_stage(bench, ref, plan, kind, limits) for kind in rivals(bench, others)]
    return [front for front in fronts if len(front.theta)]


def _span(bench: Bench, ref: Reference, plan: FrontPlan, candidate: Candidate, fixed: Entry) -> dict[str, float]:
    """Largest first objective of use: a front of errors goes on to loops that hardly move, which nobody wants."""
    objective = FrontObjective(bench.setup.task(fitness=ref.fitness), candidate, plan.objectives)
    severity, first = objective(fixed.theta[None])[0, :2]
    return {plan.objectives[0]: plan.error_span * float(first)} if severity < 1.0 and first > 0.0 else {}


def _stage(bench: Bench, ref: Reference, plan: FrontPlan, kind: Kind, limits: dict[str, float]) -> Front:
    def compute(checkpoints: Path) -> Front:
        task = bench.setup.task(fitness=ref.fitness)
        task = task if kind.plant is None else replace(task, plant=kind.plant)
        margins = bench.margins if kind.plant is None else None  # which are those of PIDs
        objective = FrontObjective(task, kind.candidate, plan.objectives, margins, limits)
        return _searched(bench, plan, kind, objective, checkpoints)

    return bench.folder.stage(f"front_{kind.candidate.name}", compute, _save, _load)


def _searched(bench: Bench, plan: FrontPlan, kind: Kind, objective: FrontObjective, checkpoints: Path) -> Front:
    from sscq.checkpoint import Checkpoint
    from sscq.front_search import search_front

    method, candidate = plan.method, kind.candidate
    label, first = f"front: {candidate.title}", in_words(plan.objectives[0])
    with Progress(method.evaluations or 0, label, "loops", quiet=bench.quiet) as progress:
        found = search_front(
            objective, candidate.low, candidate.high, plan.objectives, method, bench.setup.seed,
            start=candidate.start, scale=candidate.scale,
            checkpoint=Checkpoint(checkpoints / "front.npz", problem=objective.problem(candidate.name)),
            report=lambda state: progress.at(state.evaluations, f"least {first} {state.best:.4g}"),
        )  # fmt: skip
    if method.renew_every:
        objective.renew(0)  # all fronts are told with the declared noise
    values = objective(found.genomes)
    kept = np.flatnonzero((values[:, 0] <= 0.0) & (nondominated.ranks(values[:, 1:], values[:, 0]) == 0))
    kept = kept[np.argsort(values[kept, 1], kind="stable")]
    names, theta = kind.constants, found.genomes[kept]
    if not names:
        names = tuple(candidate.controller.theta_names)
        theta = theta if candidate.decode is None else candidate.decode(theta)
    return Front(candidate.name, candidate.title, names, plan.objectives, theta, values[kept, 1:], found.evaluations)


def _save(folder: Path, front: Front) -> None:
    head = {"name": front.name, "title": front.title, "names": front.names, "objectives": front.objectives,
            "evaluations": front.evaluations}  # fmt: skip
    formats.write_json(folder / "front.json", {"schema": _SCHEMA, "version": _VERSION, **head})
    formats.write_npz(folder / "front.npz", {"theta": front.theta, "values": front.values})


def _load(folder: Path) -> Front:
    head = formats.read_json(folder / "front.json", _SCHEMA, _VERSION)
    arrays = formats.read_npz(folder / "front.npz")
    return Front(
        head["name"], head["title"], tuple(head["names"]), tuple(head["objectives"]), arrays["theta"], arrays["values"],
        head["evaluations"],
    )  # fmt: skip
