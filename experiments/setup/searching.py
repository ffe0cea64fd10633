"""From a configuration to what is minimised, and to the searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.errors import UserError
from sscq.fitness import Fitness
from sscq.own_measures import scales

if TYPE_CHECKING:
    from collections.abc import Callable

    from configs.schema import DesignConfig
    from plants import Plant
    from sscq.genetic import GeneticAlgorithm
    from sscq.margins import MarginLimits
    from sscq.search_method import SearchMethod

_NEAR, _FAR = 0.1, 0.3  # first steps of CMA-ES, in boxes
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
    return Fitness(
        kind=given.kind, error=given.error, error_weight=given.error_weight, entropy_weight=given.entropy_weight,
        travel_weight=given.travel_weight, effort_weight=given.effort_weight, aggregate=given.aggregate,
        kappa=given.kappa, share=given.share, travel_limit=given.travel_limit,
        saturation_limit=given.saturation_limit, tolerance=given.tolerance,
        own_measures=own, own_limits=dict(given.own_limits), limits_first=given.limits_first,
        reference={name: large[name] for name in own},
    )  # fmt: skip


def limits_of(config: DesignConfig) -> MarginLimits | None:
    """The margins that gains must keep at the operating points, where they are asked for."""
    from sscq.margins import MarginLimits

    given = config.fitness
    return None if given.max_sensitivity is None else MarginLimits(given.max_sensitivity, given.min_delay_margin)


def methods_of(config: DesignConfig) -> Callable[..., tuple[SearchMethod, ...]]:
    """The searches of a candidate, from its number of genes and its evaluations."""
    from sscq.cmaes import CmaEs
    from sscq.differential_evolution import DifferentialEvolution
    from sscq.genetic import GeneticAlgorithm

    search = config.search

    def genetic(evaluations: int) -> GeneticAlgorithm:
        return GeneticAlgorithm(
            generations=None, evaluations=evaluations, population=search.population, tournament=search.tournament,
            crossover=search.crossover, p_crossover=search.p_crossover, eta_crossover=search.eta_crossover,
            alpha=search.alpha, p_mutation=search.p_mutation, eta_mutation=search.eta_mutation, elite=search.elite,
            stall_generations=search.stall_generations, stall_tolerance=search.stall_tolerance,
            renew_every=search.renew_every,
        )  # fmt: skip

    def methods(n_genes: int, evaluations: int, far: bool = False) -> tuple[SearchMethod, ...]:
        if search.method == "genetic":
            return (genetic(evaluations),)
        if search.method == "differential_evolution":
            return (DifferentialEvolution(evaluations=evaluations, renew_every=search.renew_every),)
        polish = evaluations if search.method == "cmaes" else max(1, round(_POLISH_SHARE * evaluations))
        # A population well above CMA-ES's default keeps it out of local optima: schedules have many.
        cma = CmaEs(
            evaluations=polish,
            population=max(12, round((4.0 if far else 10.0) * np.sqrt(n_genes))),
            sigma=_FAR if far else _NEAR,
            renew_every=search.renew_every,
        )
        return (cma,) if search.method == "cmaes" else (genetic(evaluations - polish), cma)

    return methods
