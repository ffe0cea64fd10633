"""How every kind of controller is searched: with the same methods, fitness, margins and budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sscq.baselines.objective import Objective, Task
from sscq.baselines.tuned import Tuned
from sscq.search.checkpoint import Checkpoint
from sscq.search.cmaes import CmaEs
from sscq.search.descent import GradientDescent, descend, descend_apart
from sscq.search.search import evolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sscq.baselines.apart import ApartObjective
    from sscq.baselines.candidates import Candidate
    from sscq.margins.scheduled_gains import ScheduleConstraint
    from sscq.search.history import SearchResult
    from sscq.search.method import SearchMethod

    Method = SearchMethod | GradientDescent

Values = TypeVar("Values", float, np.ndarray)


@dataclass(frozen=True)
class SearchPlan:
    """How every candidate is searched: methods one after the other, each from the best before.

    Attributes
    ----------
    methods : tuple of SearchMethod or GradientDescent
        Their budgets add up to that of a candidate.
    seed : int
    checkpoints : Path, optional
        Folder of checkpoint files; left out, none are written.
    report : callable, optional
        Called with (candidate name, method name, progress) after each generation.
    """

    methods: tuple[Method, ...]
    seed: int = 0
    checkpoints: Path | None = None
    report: Callable[[str, str, Any], None] | None = None

    def search(self, objective: Objective, candidate: Candidate) -> Tuned:
        """Search one candidate."""
        start, histories, evaluations = candidate.start, [], 0
        results: list[SearchResult] = []
        unspent = 0
        for number, planned in enumerate(self.methods):
            method = _with_more(planned, unspent)
            if isinstance(method, GradientDescent) and not objective.smooth:
                method = method.without_slopes(len(candidate.low))
            name = type(method).__name__
            result = self._one(objective, candidate, method, number, start)
            evaluations += result.evaluations
            unspent = max(0, (method.evaluations or 0) - result.evaluations)  # a search that stalls leaves the rest
            histories.append((name, result.history))
            results.append(result)
            start = np.vstack([min(results, key=_fitness).genome, candidate.start])
        genome, fitness = self._best(objective, results)
        if (inside := self._inside(objective, candidate, genome)) is not None:
            genome, fitness = inside.genome, float(objective(inside.genome[None])[0])
            evaluations += inside.evaluations
            histories.append((CmaEs.__name__, inside.history))
            results.append(inside)
        theta = genome if candidate.decode is None else candidate.decode(genome[None])[0]
        incumbents = np.vstack([result.incumbents for result in results])
        return Tuned(
            candidate.name,
            candidate.title,
            controller=candidate.controller,
            theta=theta,
            evaluations=evaluations,
            parameters=len(candidate.low),
            fitness=fitness,
            histories=tuple(histories),
            genome=genome,
            incumbents=incumbents,
        )

    def search_apart(
        self, objective: ApartObjective, candidate: Candidate, alone: Callable[[int], Objective]
    ) -> np.ndarray:
        """Search a candidate for each situation by itself, all side by side, by descent.

        Parameters
        ----------
        objective : ApartObjective
            One with slopes; the plan's only method is a descent.
        candidate : Candidate
        alone : callable
            Objective of one situation, by its place: what violates the margins is led inside alone.

        Returns
        -------
        ndarray [n_situations, n_theta]
            What :meth:`search` finds for each situation.
        """
        (method,) = self.methods
        assert isinstance(method, GradientDescent)  # noqa: S101  (for the type checker)
        genomes, _ = descend_apart(
            objective,
            candidate.low,
            candidate.high,
            method,
            self.seed,
            candidate.start,
            len(objective.task.situations),
            scale=candidate.scale,
            report=self._reporter(candidate.name, type(method).__name__),
        )
        if self._inside_budget >= _FEWEST:
            for place in np.flatnonzero(objective.violation(genomes) > 0.0):
                inside = self._inside(alone(int(place)), candidate, genomes[place])
                genomes[place] = genomes[place] if inside is None else inside.genome
        return objective.decode(genomes)

    def _one(
        self, objective: Objective, candidate: Candidate, method: Method, number: int, start: np.ndarray
    ) -> SearchResult:
        """Search with one method; a descent is short enough to be begun anew after an interruption."""
        report = self._reporter(candidate.name, type(method).__name__)
        box = (candidate.low, candidate.high)
        if isinstance(method, GradientDescent):
            return descend(objective, *box, method, self.seed + number, start, scale=candidate.scale, report=report)
        path = None if self.checkpoints is None else self.checkpoints / f"{candidate.name}_{number}.npz"
        stored = None if path is None else Checkpoint(path, problem=objective.problem(candidate.name))
        return evolve(
            objective,
            *box,
            method,
            self.seed + number,
            start=start,
            checkpoint=stored,
            scale=candidate.scale,
            report=report,
        )

    def _inside(self, objective: Objective, candidate: Candidate, genome: np.ndarray) -> SearchResult | None:
        """A short search that leads what violates the margins inside; None where nothing is violated, or it fails.

        A search may pay for a small violation, which costs little so that it can be passed through on the way.
        """
        evaluations = self._inside_budget
        if evaluations < _FEWEST or objective.violation(genome[None])[0] <= 0.0:
            return None
        method: Method = CmaEs(evaluations=evaluations, sigma=_INSIDE_STEP)
        if objective.smooth and any(isinstance(planned, GradientDescent) for planned in self.methods):
            method = GradientDescent(evaluations=evaluations, step=_INSIDE_STEP)
        found = self._one(objective.stricter(_STRICTER), candidate, method, len(self.methods), genome[None])
        return found if objective.violation(found.genome[None])[0] <= 0.0 else None

    @property
    def _inside_budget(self) -> int:
        return round(_INSIDE_SHARE * sum(method.evaluations or 0 for method in self.methods))

    def _best(self, objective: Objective, results: list[SearchResult]) -> tuple[np.ndarray, float]:
        """Genome and fitness of the best result; after renewals all are valued with the declared noise once more."""
        if not any(getattr(method, "renew_every", None) for method in self.methods):
            best = min(results, key=_fitness)
            return best.genome, best.fitness
        objective.renew(0)
        values = objective(np.vstack([result.genome for result in results]))
        place = int(np.argmin(values))
        return results[place].genome, float(values[place])

    def _reporter(self, candidate: str, method: str) -> Callable[[Any], None] | None:
        if self.report is None:
            return None
        report = self.report
        return lambda progress: report(candidate, method, progress)


_INSIDE_SHARE = 0.1  # of the planned evaluations: what a search that leads inside the margins may have
_FEWEST = 20  # of its evaluations: with fewer it is left out
_INSIDE_STEP, _STRICTER = 0.03, 100.0  # its first steps, in boxes; times that a violation costs then


def _fitness(result: SearchResult) -> float:
    return result.fitness


def _with_more(method: Method, evaluations: int) -> Method:
    """Return the method with what the one before it did not need."""
    return replace(method, evaluations=method.evaluations + evaluations) if method.evaluations else method


def search(
    task: Task,
    candidate: Candidate,
    plan: SearchPlan,
    margins: ScheduleConstraint | None,
    validation: Task | None = None,
) -> Tuned:
    """Search one candidate for a task, with margins as a constraint where they are given.

    With `validation`, of the best genomes on the way the one is taken that does best in all situations, the taught ones
    and these: what the search gains by fitting the taught ones alone is left out (early stopping), and what is found in
    more situations is less a matter of luck.
    """
    objective = Objective(task, candidate.controller, candidate.decode, margins)
    found = plan.search(objective, candidate)
    if validation is None:
        return found
    judge = Objective(validation, candidate.controller, candidate.decode, margins)
    violation = objective.violation(found.incumbents)
    least = violation <= violation.min()  # 0 where any of them keeps the margins
    taught, others = objective(found.incumbents), judge(found.incumbents)
    place = int(np.argmin(np.where(least, pooled(taught, others, task, validation), np.inf)))
    genome, spent = found.incumbents[[place]], found.spent + 2 * len(found.incumbents)
    theta = objective.decode(genome)[0]
    return replace(found, genome=genome[0], theta=theta, fitness=float(taught[place]), evaluations=spent)


def pooled(taught: Values, others: Values, task: Task, validation: Task) -> Values:
    """Return the fitness in the situations of two tasks together, each of them counted once."""
    n, m = len(task.situations), len(validation.situations)
    found: Values = (n * taught + m * others) / (n + m)
    return found
