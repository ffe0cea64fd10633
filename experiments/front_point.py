"""The one point of the fixed gains' trade-off front that is judged beside the ladder, and how it is chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.judging import RIVAL, Contender
from experiments.text_table import in_words
from sscq import front_choice
from sscq.front_objective import measure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.front import Front
    from experiments.ladder import Bench, Reference
    from experiments.setup import FrontPlan

NAME = "front_choice"
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


def decided(bench: Bench, ref: Reference, fronts: Sequence[Front], group: Sequence[Contender]) -> list[Front]:
    """Return the fronts, that of the fixed gains with its chosen point; `group` may be asked for the limit."""
    plan = bench.setup.front
    return [
        replace(front, chosen=_choice(bench, ref, plan, front, group)) if plan and front.name == "fixed" else front
        for front in fronts
    ]


def _choice(bench: Bench, ref: Reference, plan: FrontPlan, front: Front, group: Sequence[Contender]) -> Choice:
    if plan.choice == "knee":
        return Choice(front_choice.knee(front.values))
    if plan.choice == "budget":
        return Choice(front_choice.within_budget(front.values, plan.error_budget))
    limit, of = plan.limit, ""
    if limit is None:
        limit, of = _limit_of(bench, ref, plan, group)
    position = front_choice.within_limit(front.values, limit * _ROUNDED)
    if position is None:
        return Choice(int(np.argmin(front.values[:, 1])), limit, of, kept=False)
    return Choice(position, limit, of)


def _limit_of(bench: Bench, ref: Reference, plan: FrontPlan, group: Sequence[Contender]) -> tuple[float, str]:
    """Second objective of the contender named, in the taught situations, and its title."""
    best = plan.limit_of == "best_rival"
    asked = [c for c in group if (c.name.startswith(RIVAL) if best else c.name == plan.limit_of)]
    places = [_place(bench, ref, plan, contender) for contender in asked]
    least = min(range(len(asked)), key=lambda k: places[k][0])
    return places[least][1], asked[least].title


def _place(bench: Bench, ref: Reference, plan: FrontPlan, contender: Contender) -> tuple[float, float]:
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


def contenders(bench: Bench, fronts: Sequence[Front]) -> list[Contender]:
    """Return the point chosen from the fixed gains' front, to be judged beside the ladder; not to be recommended."""
    from controllers import ConstantGains, Controller

    plan = bench.setup.front
    fixed = next((front for front in fronts if front.chosen is not None), None)
    if plan is None or fixed is None or fixed.chosen is None:
        return []
    theta = fixed.theta[fixed.chosen.position]
    first, second = (in_words(word) for word in plan.objectives[:2])
    constant = Controller(bench.setup.laws, ConstantGains(fixed.names))
    text = "from the trade-off front, whatever J says"
    title = _title(plan, fixed.chosen, first, second)
    return [Contender(NAME, title, text, constant, theta, fixed.evaluations, len(theta), theta[None])]


def _title(plan: FrontPlan, chosen: Choice, first: str, second: str) -> str:
    if plan.choice == "knee":
        return "fixed PID at the front's knee"
    return f"fixed PID, {chosen.words(plan, first, second).removeprefix('the ')}"
