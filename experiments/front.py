"""The trade-off front as a stage of a run: what tracking error buys, and the one point that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats
from experiments.progress import Progress
from experiments.text_table import in_words
from sscq import baselines, front_choice, nondominated
from sscq.front_objective import FrontObjective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.found_files import Entry
    from experiments.knowledge import Refined
    from experiments.ladder import Bench, Reference
    from experiments.setup import FrontPlan
    from sscq.baselines import Candidate

NAME = "front_choice"
"""Of the contender that is taken from the front."""

_SCHEMA, _VERSION = "sscq-fronts", 1


@dataclass(frozen=True)
class Front:
    """Trade-offs of one kind of controller in the taught situations.

    Attributes
    ----------
    name, title : str
    names : tuple of str
        Of the schedule parameters.
    objectives : tuple of str
        "error", "entropy", "travel", "effort"; the tracking error first.
    theta : ndarray [n, n_theta]
        In order of the tracking error.
    values : ndarray [n, n_objectives]
    evaluations : int
    """

    name: str
    title: str
    names: tuple[str, ...]
    objectives: tuple[str, ...]
    theta: np.ndarray
    values: np.ndarray
    evaluations: int

    def column(self, objective: str) -> np.ndarray:
        """Return one objective of all points [n]."""
        return self.values[:, self.objectives.index(objective)]

    def points(self, plan: FrontPlan) -> dict[str, int]:
        """Return positions by name: least error, the budget's, the knee, and the least of every other objective."""
        found = {"least error": int(np.argmin(self.column("error")))}
        for k, name in enumerate(self.objectives[1:], 1):
            budget = front_choice.within_budget(self.values, plan.error_budget, 0, k)
            found[f"least {in_words(name)} within {1.0 + plan.error_budget:g} x the least error"] = budget
        found["knee"] = front_choice.knee(self.values)
        return found | {f"least {in_words(name)}": int(np.argmin(self.column(name))) for name in self.objectives[1:]}

    def chosen(self, plan: FrontPlan) -> int:
        """Return the position of the point that the plan chooses."""
        if plan.choice == "knee":
            return front_choice.knee(self.values)
        return front_choice.within_budget(self.values, plan.error_budget, 0, self.objectives.index("entropy"))

    def saved(self, objective: str, budget: float) -> float:
        """Return by which share an objective falls within the error budget, counted from the least error's point."""
        column = self.column(objective)
        best = front_choice.within_budget(self.values, budget, 0, self.objectives.index(objective))
        at_least = column[int(np.argmin(self.column("error")))]
        return float(1.0 - column[best] / at_least) if at_least > 0.0 else 0.0


def search(bench: Bench, ref: Reference, fixed: Entry, refined: Mapping[str, Refined]) -> list[Front]:
    """Search the fronts that were asked for, each as a stage of the run; none: an empty list."""
    plan = bench.setup.front
    if plan is None:
        return []
    start = np.vstack([fixed.theta, ref.start])
    candidate = baselines.fixed(bench.setup.laws, bench.setup.low, bench.setup.high, start)
    fronts = [_stage(bench, ref, plan, candidate, _span(bench, ref, plan, candidate, fixed))]
    if plan.with_knowledge_base:
        limits = _span(bench, ref, plan, candidate, fixed)
        fronts.append(_stage(bench, ref, plan, _knowledge_base(bench, refined), limits))
    return [front for front in fronts if len(front.theta)]


def _knowledge_base(bench: Bench, refined: Mapping[str, Refined]) -> Candidate:
    """Rules and terms of the knowledge base with free travel; starts: both knowledge bases and the fixed gains."""
    from flcs.refinement import candidate, with_reference

    kb = refined["free"].kb
    starts = (kb, refined["equal"].kb, with_reference(kb))
    return candidate(kb, starts, bench.setup.laws, "knowledge_base", "knowledge base")


def _span(bench: Bench, ref: Reference, plan: FrontPlan, candidate: Candidate, fixed: Entry) -> dict[str, float]:
    """Largest error that is still of use: a front goes on to loops that hardly move, which nobody wants."""
    objective = FrontObjective(bench.setup.task(fitness=ref.fitness), candidate, plan.objectives)
    severity, error = objective(fixed.theta[None])[0, :2]
    return {"error": plan.error_span * float(error)} if severity < 1.0 else {}


def _stage(bench: Bench, ref: Reference, plan: FrontPlan, candidate: Candidate, limits: dict[str, float]) -> Front:
    def compute(checkpoints: Path) -> Front:
        objective = FrontObjective(
            bench.setup.task(fitness=ref.fitness), candidate, plan.objectives, bench.margins, limits
        )
        return _searched(bench, plan, candidate, objective, checkpoints)

    return bench.folder.stage(f"front_{candidate.name}", compute, _save, _load)


def _searched(
    bench: Bench, plan: FrontPlan, candidate: Candidate, objective: FrontObjective, checkpoints: Path
) -> Front:
    from sscq.checkpoint import Checkpoint
    from sscq.front_search import search_front

    method = plan.method
    label = f"front: {candidate.title}"
    with Progress(method.evaluations or 0, label, "loops", quiet=bench.quiet) as progress:
        found = search_front(
            objective, candidate.low, candidate.high, plan.objectives, method, bench.setup.seed,
            start=candidate.start, scale=candidate.scale,
            checkpoint=Checkpoint(checkpoints / "front.npz", problem=objective.problem(candidate.name)),
            report=lambda state: progress.at(state.evaluations, f"least error {state.best:.4g}"),
        )  # fmt: skip
    genomes = found.genomes
    if method.renew_every:
        objective.renew(0)  # all fronts are told with the declared noise
    values = objective(genomes)
    kept = np.flatnonzero((values[:, 0] <= 0.0) & (nondominated.ranks(values[:, 1:], values[:, 0]) == 0))
    kept = kept[np.argsort(values[kept, 1], kind="stable")]
    theta = genomes[kept] if candidate.decode is None else candidate.decode(genomes[kept])
    names = tuple(candidate.controller.theta_names)
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


def contenders(bench: Bench, fronts: Sequence[Front]) -> list[Any]:
    """Return the point chosen from the fixed gains' front, to be judged beside the ladder; not to be recommended."""
    from controllers import ConstantGains, Controller
    from experiments.judging import Contender

    plan = bench.setup.front
    fixed = next((front for front in fronts if front.name == "fixed"), None)
    if plan is None or fixed is None:
        return []
    theta = fixed.theta[fixed.chosen(plan)]
    title = (
        "fixed PID at the front's knee"
        if plan.choice == "knee"
        else f"fixed PID, least entropy within {1.0 + plan.error_budget:g} x the least error"
    )
    constant = Controller(bench.setup.laws, ConstantGains(fixed.names))
    text = "from the trade-off front, whatever J says"
    return [Contender(NAME, title, text, constant, theta, fixed.evaluations, len(theta), theta[None])]
