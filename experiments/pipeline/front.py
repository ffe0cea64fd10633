"""Trade-off fronts as stages of a run: tracking error against other objectives, for each kind of control.

Varied are the fixed gains, a knowledge base's rules, and the constants of the laws of the plant's own field. One point
of the fixed gains' front is judged beside the ladder: the knee, the least within a budget of error, or the best within
a limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import ConstantGains, Controller
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.pipeline.rungs.rival import candidate_of
from experiments.runtime import formats
from experiments.runtime.tables import in_words
from flcs.refinement.genome import candidate, with_reference
from sscq.baselines import candidates
from sscq.baselines.objective import FrontObjective, measure_of
from sscq.baselines.tuned import Tuned
from sscq.search import front_search, nsga2
from sscq.search.checkpoint import Checkpoint
from sscq.search.front_search import search_front

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference
    from experiments.settings import FrontPlan
    from plants import Plant
    from sscq.baselines.candidates import Candidate


@dataclass(frozen=True)
class Kind:
    """What is varied, on which plant; names of the constants, where these stand for the schedule's parameters."""

    candidate: Candidate
    plant: Plant | None = None
    constants: tuple[str, ...] = ()


def rivals(bench: Bench, others: Sequence[Tuned]) -> Iterator[Kind]:
    """Constants of the laws of the plant's own field; starts: nominal, random and tuned ones."""
    tuned = {contender.name: contender for contender in others}
    for rival in bench.setup.plant.rivals:
        name = f"{RIVAL}{rival.name}"
        if rival.constants and (plant := tuned[name].plant) is not None:
            law = candidate_of(bench, plant, rival)
            own = tuned[name].theta[: 2 * len(law.low) : 2]  # demands; nothing else is used
            start = np.vstack([own, law.start])
            yield Kind(replace(law, name=name, start=start), plant, tuple(c.name for c in rival.constants))


def knowledge_base(bench: Bench, refined: Mapping[str, Refined]) -> Candidate:
    """Rules and terms of the knowledge base with free travel; starts: both knowledge bases and the fixed gains."""
    kb = refined["free"].kb
    starts = (kb, refined["equal"].kb, with_reference(kb))
    return candidate(kb, starts, bench.setup.laws, "knowledge_base", "knowledge base")


CHOICE_NAME = "front_choice"
"""Of the contender that is taken from the front."""


_ROUNDED = 1.0 + 1e-9  # kernels that carry other measures may round otherwise: a point keeps a limit of its own


@dataclass(frozen=True)
class Choice:
    """A point of a front.

    Attributes
    ----------
    position : int
    limit : float
        What the second objective may be at most; infinite where it is not limited.
    of : str
        Title of the contender that the limit is taken from, if any.
    kept : bool
        Whether the front has a point that keeps the limit; without one, that of the least second objective is taken.
    """

    position: int
    limit: float = math.inf
    of: str = ""
    kept: bool = True

    def words(self, plan: FrontPlan, first: str, second: str) -> str:
        """Return how it was chosen, the first two objectives being called as given."""
        if plan.choice == "knee":
            return "its knee"
        if plan.choice == "budget":
            return f"the least {second} within {1.0 + plan.error_budget:g} x the least {first}"
        at_most = f"at most {self.limit:.4g}" + (f", that of {self.of}" if self.of else "")
        if math.isinf(self.limit):
            return f"the least {first}, as {self.of} is lost in the taught situations and limits nothing"
        return (
            f"the least {first} with {second} {at_most}" if self.kept else f"the least {second}, none being {at_most}"
        )


def decided(bench: Bench, ref: Reference, fronts: Sequence[Front], group: Sequence[Tuned]) -> list[Front]:
    """Return the fronts, that of the fixed gains with its chosen point; `group` may be asked for the limit."""
    plan = bench.setup.front
    return [
        replace(front, chosen=_choice(bench, ref, plan, front, group)) if plan and front.name == "fixed" else front
        for front in fronts
    ]


def _choice(bench: Bench, ref: Reference, plan: FrontPlan, front: Front, group: Sequence[Tuned]) -> Choice:
    if plan.choice == "knee":
        return Choice(front_search.knee(front.values))
    if plan.choice == "budget":
        return Choice(front_search.within_budget(front.values, plan.error_budget))
    limit, of = plan.limit, ""
    if limit is None:
        limit, of = _limit_of(bench, ref, plan, group)
    position = front_search.within_limit(front.values, limit * _ROUNDED)
    if position is None:
        return Choice(int(np.argmin(front.values[:, 1])), limit, of, kept=False)
    return Choice(position, limit, of)


def _limit_of(bench: Bench, ref: Reference, plan: FrontPlan, group: Sequence[Tuned]) -> tuple[float, str]:
    """Second objective of the contender named, in the taught situations, and its title."""
    best = plan.limit_of == "best_rival"
    asked = [c for c in group if (c.name.startswith(RIVAL) if best else c.name == plan.limit_of)]
    places = [_place(bench, ref, plan, contender) for contender in asked]
    least = min(range(len(asked)), key=lambda k: places[k][0])
    return places[least][1], asked[least].title


def _place(bench: Bench, ref: Reference, plan: FrontPlan, contender: Tuned) -> tuple[float, float]:
    """First two objectives of a contender, as its front would have them; infinite where a rollout is lost."""
    task = bench.setup.task(fitness=ref.fitness)
    task = replace(task, plant=contender.plant or task.plant)
    quality = task.quality(contender.controller, contender.theta)
    if np.isfinite(quality.diverged_at).any():
        return math.inf, math.inf
    first, second = (
        float(ref.fitness.combine(quality.values[measure_of(word, ref.fitness)])[0]) for word in plan.objectives[:2]
    )
    return first, second


def contenders(bench: Bench, fronts: Sequence[Front]) -> list[Tuned]:
    """Return the point chosen from the fixed gains' front, to be judged beside the ladder; not to be recommended."""
    plan = bench.setup.front
    fixed = next((front for front in fronts if front.chosen is not None), None)
    if plan is None or fixed is None or fixed.chosen is None:
        return []
    theta = fixed.theta[fixed.chosen.position]
    first, second = (in_words(word) for word in plan.objectives[:2])
    constant = Controller(bench.setup.laws, ConstantGains(fixed.names))
    text = "from the trade-off front, whatever J says"
    title = _title(plan, fixed.chosen, first, second)
    return [Tuned(CHOICE_NAME, title, text, constant, theta, fixed.evaluations, len(theta), margins_asked=True)]


def _title(plan: FrontPlan, chosen: Choice, first: str, second: str) -> str:
    if plan.choice == "knee":
        return "fixed PID at the front's knee"
    return f"fixed PID, {chosen.words(plan, first, second).removeprefix('the ')}"


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
            budget = front_search.within_budget(self.values, plan.error_budget, 0, k)
            words = f"least {in_words(name)} within {1.0 + plan.error_budget:g} x the least {in_words(first)}"
            found[words] = budget
        found["knee"] = front_search.knee(self.values)
        return found | {f"least {in_words(name)}": int(np.argmin(self.column(name))) for name in others}

    def saved(self, objective: str, budget: float) -> float:
        """Return by which share an objective falls within the budget, from its value where the first is least."""
        column = self.column(objective)
        best = front_search.within_budget(self.values, budget, 0, self.objectives.index(objective))
        return float(1.0 - column[best] / column[0]) if column[0] > 0.0 else 0.0


def search(
    bench: Bench, ref: Reference, fixed: Tuned, refined: Mapping[str, Refined], others: Sequence[Tuned] = ()
) -> list[Front]:
    """Search the fronts that were asked for, each as a stage of the run; none: an empty list.

    All have the same budget, situations and limits; each starts from what the run has found of its kind. `others`:
    tuned laws of the plant's own field.
    """
    plan = bench.setup.front
    if plan is None:
        return []
    start = np.vstack([fixed.theta, ref.start])
    gains = candidates.fixed(bench.setup.laws, bench.setup.low, bench.setup.high, start)
    limits = _span(bench, ref, plan, gains, fixed)
    fronts = [_stage(bench, ref, plan, Kind(gains), limits)]
    if plan.with_knowledge_base:
        fronts.append(_stage(bench, ref, plan, Kind(knowledge_base(bench, refined)), limits))
    if plan.with_rivals:
        fronts += [_stage(bench, ref, plan, kind, limits) for kind in rivals(bench, others)]
    return [front for front in fronts if len(front.theta)]


def _span(bench: Bench, ref: Reference, plan: FrontPlan, candidate: Candidate, fixed: Tuned) -> dict[str, float]:
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

    return bench.stage(f"front_{kind.candidate.name}", compute, _save, _load)


def _searched(bench: Bench, plan: FrontPlan, kind: Kind, objective: FrontObjective, checkpoints: Path) -> Front:
    method, candidate = plan.method, kind.candidate
    label, first = f"front: {candidate.title}", in_words(plan.objectives[0])
    with bench.progress(method.evaluations or 0, label, "loops") as progress:
        found = search_front(
            objective, candidate.low, candidate.high, plan.objectives, method, bench.setup.seed,
            start=candidate.start, scale=candidate.scale,
            checkpoint=Checkpoint(checkpoints / "front.npz", problem=objective.problem(candidate.name)),
            report=lambda state: progress.at(state.evaluations, f"least {first} {state.best:.4g}"),
        )  # fmt: skip
    if method.renew_every:
        objective.renew(0)  # all fronts are told with the declared noise
    values = objective(found.genomes)
    kept = np.flatnonzero((values[:, 0] <= 0.0) & (nsga2.ranks(values[:, 1:], values[:, 0]) == 0))
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
