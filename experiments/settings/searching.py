"""From a configuration to what is minimised, to the searches, and to the trade-off fronts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from configs.parts import built
from experiments.runtime.errors import UserError
from plants.core.names import did_you_mean
from sscq.fitness import Fitness
from sscq.loop.measures import scales
from sscq.margins.margins import MarginLimits
from sscq.search.cmaes import CmaEs
from sscq.search.descent import GradientDescent
from sscq.search.differential_evolution import DifferentialEvolution
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.nsga2 import NonDominatedSorting

if TYPE_CHECKING:
    from collections.abc import Callable

    from configs.schema import DesignConfig
    from configs.schema.search import FrontConfig
    from plants import Plant
    from sscq.baselines.search_plan import Method


_NEAR, _FAR = 0.1, 0.3  # first steps of CMA-ES, in boxes
ROUND, LONGER = 1500, 3
"""Evaluations of the first round of searches; times that the next one is longer."""

_POLISH_SHARE = 0.9  # of a candidate's evaluations: the genetic algorithm explores, CMA-ES polishes


def fitness_of(config: DesignConfig, plant: Plant) -> Fitness:
    """What the search minimises, not yet relative to a reference."""
    given = config.fitness
    own = {name: weight for name, weight in given.own_measures.items() if weight > 0.0}
    try:
        large = scales(plant, given.own_measures)
    except ValueError as error:
        raise UserError(f"fitness.own_measures: {error}") from None
    try:
        scales(plant, given.own_limits)
    except ValueError as error:
        raise UserError(f"fitness.own_limits: {error}") from None
    return built(Fitness, given, own_measures=own, reference={name: large[name] for name in own})


def limits_of(config: DesignConfig) -> MarginLimits | None:
    """The margins that gains must keep at the operating points, where they are asked for."""
    given = config.fitness
    return None if given.max_sensitivity is None else built(MarginLimits, given)


def methods_of(config: DesignConfig) -> Callable[..., tuple[Method, ...]]:
    """The searches of a candidate, from its number of genes and its evaluations."""
    search = config.search

    def genetic(evaluations: int) -> GeneticAlgorithm:
        return built(GeneticAlgorithm, search, generations=None, evaluations=evaluations)

    def descent(evaluations: int, spread: float) -> tuple[Method, ...]:
        polish = max(1, round(_POLISH_SHARE * evaluations))
        return genetic(evaluations - polish), GradientDescent(evaluations=polish, spread=spread)

    def methods(n_genes: int, evaluations: int, far: bool = False) -> tuple[Method, ...]:
        if search.method == "genetic":
            return (genetic(evaluations),)
        if search.method == "differential_evolution":
            return (DifferentialEvolution(evaluations=evaluations, renew_every=search.renew_every),)
        polish = evaluations if search.method == "cmaes" else max(1, round(_POLISH_SHARE * evaluations))
        if search.method == "gradient":
            spread = _FAR if far else _NEAR
            return descent(evaluations, spread)
        # A population well above CMA-ES's default keeps it out of local optima: schedules have many.
        cma = CmaEs(
            evaluations=polish,
            population=max(12, round((4.0 if far else 10.0) * np.sqrt(n_genes))),
            sigma=_FAR if far else _NEAR,
            renew_every=search.renew_every,
        )
        return (cma,) if search.method == "cmaes" else (genetic(evaluations - polish), cma)

    return methods


def rounds(config: DesignConfig) -> tuple[int, ...]:
    """Return what a candidate has in each round of searches, in evaluations: each round is three times as long.

    A design first does, to the bit, all that one with 1500 evaluations does, then all that one with 6000 does, as far
    as it has as many, and then searches anew with the rest: where a search ends is to a good part luck, and one that is
    longer is as often worse as better.
    """
    left, size, sizes = config.budget.evaluations, ROUND, list[int]()
    while config.search.method == "gradient" and left >= 2 * size:
        sizes.append(size)
        left, size = left - size, LONGER * size
    return (*sizes, left)


@dataclass(frozen=True)
class FrontPlan:
    """How trade-off fronts are searched, and which point of the fixed gains' is judged; see `FrontConfig`."""

    method: NonDominatedSorting
    objectives: tuple[str, ...]
    with_knowledge_base: bool
    choice: str
    error_budget: float
    error_span: float
    with_rivals: bool = False
    limit: float | None = None
    limit_of: str | None = None


_BUILT_IN = ("error", "entropy", "travel", "effort")
_WITH_KNOWLEDGE_BASE, _WITH_RIVALS = ("fixed_and_knowledge_base", "all"), ("fixed_and_rivals", "all")


def front_of(config: DesignConfig, plant: Plant) -> FrontPlan | None:
    """How the trade-off front is searched, where one is asked for, by the user or by the plant."""
    given, search = config.front, config.search
    objectives = tuple(given.objectives or plant.trade_off or _BUILT_IN[:3])
    _check_objectives(objectives, plant)
    _check_contender(given, plant, own=config.controller.own_gains is not None)
    of = given.of
    if of == "from_plant":
        of = "fixed_and_knowledge_base" if plant.trade_off else "none"
    if of == "none":
        return None
    if of == "fixed_and_rivals" and not plant.rivals:
        raise UserError(f"front.of=fixed_and_rivals: plant {plant.name!r} has no laws of its own field")
    method = NonDominatedSorting(
        evaluations=given.evaluations or config.budget.evaluations, population=given.population,
        crossover=search.crossover, p_crossover=search.p_crossover, alpha=search.alpha, p_mutation=search.p_mutation,
        eta_mutation=search.eta_mutation, renew_every=search.renew_every,
    )  # fmt: skip
    return FrontPlan(
        method, objectives, of in _WITH_KNOWLEDGE_BASE, given.choice, given.error_budget, given.error_span,
        of in _WITH_RIVALS, given.limit, given.limit_of,
    )  # fmt: skip


def _check_objectives(objectives: tuple[str, ...], plant: Plant) -> None:
    """Raise where a front is to be of something that is no objective; it may be told before one is asked for."""
    own = [name for name in objectives if name not in _BUILT_IN]
    known = (*_BUILT_IN, *(measure.name for measure in plant.measures))
    unknown = [name for name in own if name not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise UserError(f"front.objectives must be of {', '.join(known)}, got {unknown[0]!r}{near}")
    try:
        scales(plant, own)
    except ValueError as error:
        raise UserError(f"front.objectives: {error}") from None


def _check_contender(given: FrontConfig, plant: Plant, *, own: bool) -> None:
    """Raise where a limit is to be that of a contender that there will not be; hours later would be too late."""
    if given.limit_of is None:
        return
    rivals = [f"rival_{rival.name}" for rival in plant.rivals]
    known = ["fixed", *(["own"] if own else []), "knowledge_base", "knowledge_base_free", *rivals]
    known += ["best_rival"] if rivals else []
    if given.limit_of not in known:
        near = did_you_mean(given.limit_of, known)
        raise UserError(f"front.limit_of must be one of {', '.join(known)}, got {given.limit_of!r}{near}")
