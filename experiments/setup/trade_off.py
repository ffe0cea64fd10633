"""From a configuration to the trade-off fronts that are searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from configs.rules import did_you_mean
from experiments.errors import UserError
from experiments.setup.objects import FrontPlan
from sscq.own_measures import scales

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from configs.schema.front import FrontConfig
    from plants import Plant

_BUILT_IN = ("error", "entropy", "travel", "effort")
_WITH_KNOWLEDGE_BASE, _WITH_RIVALS = ("fixed_and_knowledge_base", "all"), ("fixed_and_rivals", "all")


def front_of(config: DesignConfig, plant: Plant) -> FrontPlan | None:
    """How the trade-off front is searched, where one is asked for, by the user or by the plant."""
    given, search = config.front, config.search
    objectives = tuple(given.objectives or plant.trade_off or _BUILT_IN[:3])
    _check_objectives(objectives, plant)
    _check_contender(given, plant, own=config.controller.own_gains is not None)
    from sscq.nsga2 import NonDominatedSorting

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
