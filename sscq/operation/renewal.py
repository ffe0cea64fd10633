"""Proposals for a plant that has changed: the task on plants that it may be, and short searches for it.

Whoever proposes searches with the same budget, within the same travel and from the numbers in force.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sscq.baselines.candidates import fixed
from sscq.baselines.objective import Task
from sscq.baselines.search_plan import SearchPlan, search
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.search.descent import GradientDescent
from sscq.search.genetic import GeneticAlgorithm
from sscq.situations.situation_sets import SEED_STRIDE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.loop.quality import Quality
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]

_GENETIC_SHARE, _SPREAD = 0.4, 0.1


@dataclass(frozen=True, eq=False)
class OperatingTask:
    """What controllers are searched and judged for while a plant changes.

    Attributes
    ----------
    plant : Plant
    taught : tuple of Situation
    fitness : Fitness
    step : float
    laws : tuple of laws
    low, high : array [n_gains]
    limits : MarginLimits or None
        None: no margins are asked.
    travel : float
        Largest mean actuator travel in the taught situations that a search may use.
    evaluations : int
        Of one search.
    options : mapping
        Integrator and loop mode.
    threads : int, optional
    """

    plant: Plant
    taught: tuple[Situation, ...]
    fitness: Fitness
    step: float
    laws: tuple[Any, ...]
    low: Array
    high: Array
    limits: MarginLimits | None
    travel: float
    evaluations: int
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None

    def situations(self, plants: Sequence[Mapping[str, float]], first: int = 0) -> tuple[Situation, ...]:
        """Return the taught situations on each of some plants, plant by plant, each with noise of its own."""
        return tuple(
            replace(
                one,
                name=f"{one.name}, plant {first + k + 1}",
                parameters={**self._given(one), **plant},
                seed=one.seed + SEED_STRIDE * (first + k + 1),
            )
            for k, plant in enumerate(plants)
            for one in self.taught
        )

    def on(self, plants: Sequence[Mapping[str, float]], first: int = 0, travel: float | None = None) -> Task:
        """Return the task on some plants; `first` numbers them, `travel` limits what a search may use."""
        limit = None if travel is None else min(travel, self.travel)
        return Task(
            self.plant,
            self.situations(plants, first),
            replace(self.fitness, travel_limit=limit),
            self.step,
            dict(self.options),
            self.threads,
        )

    def margins(
        self, plants: Sequence[Mapping[str, float]], controller: Any = None, theta: Array | None = None
    ) -> OperatingMargins | None:
        """Return the margins on some plants; None where none are asked.

        Where a controller in force is given that is stable on them but keeps less than is asked, what it keeps is
        asked: the plant has taken margins that no gains may have any more.
        """
        if self.limits is None:
            return None
        one = self.taught[0]
        several = tuple(replace(one, parameters={**self._given(one), **plant}) for plant in plants)
        asked = OperatingMargins(
            self.plant, self.laws, several, self.step, self.low.tolist(), self.high.tolist(), self.limits
        )
        return asked if theta is None else asked.with_limits(_kept_by(asked, controller, theta))

    def plan(self, seed: int) -> SearchPlan:
        """Return the short search: a genetic algorithm, then a descent from its best."""
        first = max(8, round(_GENETIC_SHARE * self.evaluations))
        genetic = GeneticAlgorithm(evaluations=first, population=max(8, first // 6), stall_generations=None)
        descent = GradientDescent(evaluations=max(8, self.evaluations - first), spread=_SPREAD)
        return SearchPlan((genetic, descent), seed)

    def _given(self, situation: Situation) -> dict[str, float]:
        values = self.plant.values("parameters", situation.parameters)
        return dict(zip((q.name for q in self.plant.parameters), values, strict=True))


class Renewal(Protocol):
    """A kind of controller that can be renewed."""

    @property
    def controller(self) -> Any:
        """What runs in the loop; its numbers are what changes."""

    @property
    def start(self) -> Array:
        """Numbers [n_theta] that the run begins with."""

    def proposed(
        self, task: OperatingTask, plants: Sequence[Mapping[str, float]], theta: Array, travel: float, seed: int
    ) -> Array:
        """Return numbers [n_theta] for plants that it may be, searched from those in force within a travel."""


@dataclass(frozen=True, eq=False)
class FixedRenewal:
    """Constant gains, renewed by the same search as a knowledge base."""

    laws: tuple[Any, ...]
    start: Array

    @property
    def controller(self) -> Any:
        """Constant gains."""
        return fixed(self.laws, self.start, self.start, self.start).controller

    def proposed(
        self, task: OperatingTask, plants: Sequence[Mapping[str, float]], theta: Array, travel: float, seed: int
    ) -> Array:
        """Return gains for plants that it may be."""
        begin = np.vstack([theta, self.start])
        candidate = fixed(self.laws, task.low, task.high, np.clip(begin, task.low, task.high))
        margins = task.margins(plants, self.controller, theta)
        return search(task.on(plants, travel=travel), candidate, task.plan(seed), margins).theta


def _kept_by(asked: OperatingMargins, controller: Any, theta: Array) -> MarginLimits:
    """The limits that a controller keeps where it is stable; those that are asked where it keeps them, or is not."""
    limits = asked.limits
    rest = [each.worst() for each in asked.at_rest(controller, theta)]
    passing = list(asked.passing(controller, theta))
    if not all(each.stable for each in (*rest, *passing)):
        return limits
    return MarginLimits(
        max(limits.sensitivity, *(each.sensitivity.value for each in rest)),
        min(limits.delay_margin, *(each.delay_margin.value for each in rest)),
        max(limits.transient, *(each.sensitivity.value for each in (*rest, *passing))),
    )


def quality_of(task: Task, controller: Any, theta: Array) -> Quality:
    """Return what a task's fitness needs of candidates [n, n_theta], and their travel.

    A changed plant may not rest where it is asked to be: measures that count against rest are left out where the
    fitness weighs none.
    """
    names = dict.fromkeys((*task.fitness.measures, "total_variation"))
    return task.loop(controller, tuple(names)).evaluate(theta, task.threads)


def travel_on(task: OperatingTask, controller: Any, theta: Array, plants: Sequence[Mapping[str, float]]) -> float:
    """Return the mean travel of a controller in a task on some plants, where it keeps the loop; nowhere: 0."""
    quality = quality_of(task.on(plants), controller, theta[None])
    kept = ~quality.failed[:, 0]
    return float(quality.total_variation[kept, 0].mean()) if kept.any() else 0.0
