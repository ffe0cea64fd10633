"""From a configuration to the objects of a design: plant, situations, laws, fitness, searches.

First what concerns the PID: its laws, the box of its gains, the user's own gains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from configs.parts import built
from controllers import PID, gain_names
from experiments.runtime.errors import UserError
from experiments.settings import situations
from experiments.settings.learning import check_learning, check_steps, network_of, teacher_of
from experiments.settings.ranges import CHOOSING, drawn_sets, envelope, skipped, with_draws
from experiments.settings.searching import fitness_of, front_of, limits_of, methods_of, rounds
from sscq.baselines.objective import Task
from sscq.baselines.survey import can_be_kept
from sscq.margins.operating import OperatingMargins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from configs.schema import DesignConfig
    from experiments.settings.searching import FrontPlan
    from flcs import KnowledgeBase
    from flcs.learning.config import NetworkConfig
    from plants import Plant
    from sscq.baselines.search_plan import Method
    from sscq.fitness import Fitness
    from sscq.margins.margins import MarginLimits
    from sscq.situations.situation import Situation
    from sscq.teaching.teacher import Teacher
    from sscq.worst.envelope import Envelope


@dataclass(frozen=True)
class Setup:
    """Everything a design works with.

    Attributes
    ----------
    config : DesignConfig
        As checked: budgets, shares and whatever else is read where it is used.
    sets : mapping of "taught", "validation", "unforeseen", "drawn" to tuples of Situation
        The named ones, with those behind them that are drawn from the ranges; "drawn": fresh ones that the verdict
        judges in, missing where it judges the unforeseen ones.
    named : mapping of "taught", "validation", "unforeseen" to tuples of Situation
        The named ones alone.
    ranges : Envelope
        What is drawn from.
    low, high : ndarray [n_gains]
        Box in which gains are searched.
    own : ndarray [n_gains] or None
        The user's present gains.
    tick : float
        Time between two updates of scheduled gains [s].
    step : float
        Integration step [s].
    fitness : Fitness
        Not yet relative to a reference.
    limits : MarginLimits or None
        Margins that gains must keep, where they are asked for.
    evaluations : int
        Budget of every candidate of the ladder, in all rounds of searches together; of a search's own setup, in that.
    method : callable
        Number of genes and evaluations to the searches of a candidate: they share its budget.
    repetition : callable
        Kind and number to situations with the seeds (and the plant) of a repetition; 0: the declared ones. It knows
        one kind more than `sets`: "choosing", fresh ones in which the recommended controller is chosen, so that those
        that judge have no part in it; none where the verdict judges the unforeseen ones.
    front : FrontPlan or None
        How the trade-off front is searched, where one is wished for.
    start : KnowledgeBase or None
        A stored one that the design begins with; see :mod:`experiments.settings.start`.
    """

    config: DesignConfig
    plant: Plant
    sets: Mapping[str, tuple[Situation, ...]]
    named: Mapping[str, tuple[Situation, ...]]
    ranges: Envelope
    laws: tuple[PID, ...]
    low: np.ndarray
    high: np.ndarray
    own: np.ndarray | None
    tick: float
    step: float
    options: dict[str, Any]
    threads: int | None
    fitness: Fitness
    limits: MarginLimits | None
    evaluations: int
    method: Callable[..., tuple[Method, ...]]
    repetition: Callable[[str, int], tuple[Situation, ...]]
    teacher: Teacher
    network: NetworkConfig
    seed: int
    warnings: tuple[str, ...]
    front: FrontPlan | None
    start: KnowledgeBase | None = None

    def all_warnings(self) -> list[str]:
        """Return what the user must know before anything is searched, the fitness's own warning among it."""
        return [text for text in (*self.warnings, self.fitness.warning(self.low, self.high)) if text]

    @property
    def searches(self) -> tuple[int, ...]:
        """The searches of the design, the shorter ones first: what a candidate has in each, in evaluations."""
        return tuple(size for size in rounds(self.config) for _ in range(self.config.seeds))

    def round_of(self, search: int) -> int:
        """Return the round that a search of the design is in, each round having one of every seed."""
        return search // self.config.seeds

    @property
    def may_widen(self) -> bool:
        """Whether the box of gains may grow: as asked for, else where it is the plant's and not the user's."""
        given = self.config.controller
        return given.low is None and given.high is None if given.widen is None else given.widen

    def task(self, kind: str = "taught", fitness: Fitness | None = None) -> Task:
        """Return the task in the declared situations of one kind."""
        return Task(self.plant, self.sets[kind], fitness or self.fitness, self.step, self.options, self.threads)

    @property
    def judged(self) -> str:
        """The kind of situations that decide: fresh draws where there are any."""
        return "drawn" if "drawn" in self.sets else "unforeseen"

    def repetitions(self, kind: str) -> int:
        """Return how often the situations of one kind are judged."""
        budget = self.config.budget
        if kind in {"drawn", CHOOSING}:
            return 1
        return 1 if kind == "taught" and not budget.repeat_taught else budget.verdict_seeds

    def looking_again(self) -> Setup | None:
        """Return the setup with more fresh situations to judge and to choose in, the present ones the first of them.

        None where no further ones are asked for, or where the named situations judge.
        """
        draws = self.config.draws
        if self.judged != "drawn" or draws.again == 1:
            return None
        config = replace(self.config, draws=replace(draws, verdict=draws.again * draws.verdict))
        first, drawn = (drawn_sets(given, self.plant, self.ranges) for given in (self.config, config))
        told = [text for text in self.warnings if text not in skipped(self.config, first)]
        return replace(
            self,
            sets={**self.sets, "drawn": drawn["drawn"]},
            repetition=situations.redrawing(config, self.plant, self.named, drawn),
            warnings=(*told, *skipped(config, drawn)),
        )

    def margins(self) -> OperatingMargins | None:
        """Return the margin constraint, or None where it is off or the plant has no operating points.

        Drawn plants count at the operating points where they can be held, as long as there are gains that keep the
        margins of them all; else the named ones alone. The verdict asks margins over the ranges in any case.
        """
        if self.limits is None or not self.plant.operating_points:
            return None
        taught = self.sets["taught"]
        of = taught if self.config.fitness.margins_of == "taught" else taught[:1]
        named = of[: len(self.named["taught"])]
        asked = self._margins_of(of, self.limits)
        if len(named) < len(of) and not can_be_kept(asked, self.laws, self.low, self.high):
            return self._margins_of(named, self.limits)
        return asked

    def _margins_of(self, situations: tuple[Situation, ...], limits: MarginLimits) -> OperatingMargins:
        return OperatingMargins(
            self.plant, self.laws, situations, self.step, self.low.tolist(), self.high.tolist(), limits
        )


def box_of(config: DesignConfig, plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    """The box [low, high] in which gains are searched, each [n_gains]."""
    low = config.controller.low
    high = config.controller.high
    lows = [g for c in plant.channels for g in c.gains_low] if low is None else _gains("low", low, plant)
    highs = [g for c in plant.channels for g in c.gains_high] if high is None else _gains("high", high, plant)
    lows, highs = np.array(lows, float), np.array(highs, float)
    if not (lows <= highs).all() or not (lows < highs).any():
        given = f"low = {lows.tolist()}, high = {highs.tolist()}"
        raise UserError(
            f"gain bounds must satisfy low <= high, and low < high for one gain at least, got {given}; mend "
            "controller.low or controller.high (what is not given is the plant's)"
        )
    return lows, highs


def _gains(name: str, values: list[float], plant: Plant) -> np.ndarray:
    n = 3 * len(plant.channels)
    array = np.array(values if len(values) == n else list(values) * len(plant.channels), float)
    if len(values) not in {3, n} or not np.isfinite(array).all():
        raise UserError(
            f"controller.{name} must be kp, ki, kd for each of the {len(plant.channels)} channels of {plant.name!r} "
            f"({n} finite numbers, or 3 for all), got {values}"
        )
    return array


def setup(config: DesignConfig) -> Setup:
    """Return the objects of a design; user errors are told in the user's words."""
    plant = _plant_of(config)
    config.step = config.step or plant.step
    step, own = config.integration_step, config.controller.own_gains
    # A knowledge base carries the sample time to where the step is another.
    law = built(PID, config.controller, sample_time=config.controller.sample_time or step)
    laws = (law,) * len(plant.channels)
    low, high = box_of(config, plant)
    named, warnings = situations.declared_sets(config, plant)
    situations.check(config, plant, laws, [s for several in named.values() for s in several])  # before they are ranges
    ranges = envelope(config.envelope, plant, law.sample_time or step, named, situations.of_user(config, named))
    drawn = drawn_sets(config, plant, ranges)
    warnings += skipped(config, drawn)
    sets = with_draws(named, {kind: several for kind, several in drawn.items() if kind != CHOOSING})
    limits = limits_of(config)
    if limits is not None and not plant.operating_points:
        warnings.append(f"plant {plant.name!r} declares no operating points: no margins are computed or kept")
    teacher = teacher_of(config, sets["taught"])
    check_steps(teacher, low, high, gain_names(laws))
    check_learning(config, plant)
    return Setup(
        config=config,
        plant=plant,
        sets=sets,
        named=named,
        laws=laws,
        low=low,
        high=high,
        own=None if own is None else _gains("own_gains", own, plant),
        tick=config.controller.schedule_time or 4.0 * (law.sample_time or step),
        step=step,
        options={"integrator": config.integrator, "algebraic_loop": config.algebraic_loop},
        threads=config.threads,
        fitness=fitness_of(config, plant),
        limits=limits,
        evaluations=config.budget.evaluations,
        method=methods_of(config),
        ranges=ranges,
        repetition=situations.redrawing(config, plant, named, drawn),
        teacher=teacher,
        network=network_of(config, plant),
        seed=config.seed,
        warnings=tuple(warnings),
        front=front_of(config, plant),
    )


def _plant_of(config: DesignConfig) -> Plant:
    plant = plants.find(config.plant_name)
    if not plant.channels:
        raise UserError(
            f"plant {plant.name!r} declares no control channel (channels=(plants.Channel(output=...),)), so there is "
            "nothing to design; it can only be simulated"
        )
    return plant
