"""What a fitness refers to: values of its terms, and penalties in the size of what survives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sscq.fitness import parts

if TYPE_CHECKING:
    from sscq.fitness.definition import Fitness
    from sscq.quality import Quality

_CLEAR = 8.0  # the lexicographic number is bent from a quarter of the penalty on: survivors keep well below


def normalised(fitness: Fitness, quality: Quality, preferred: np.ndarray | None = None) -> Fitness:
    """Return the fitness with references from the medians over candidates that survive all situations."""
    alive = ~quality.failed.any(axis=0)
    if preferred is not None and (alive & preferred).any():
        alive &= preferred
    if not alive.any():
        message = (
            "no gains of the reference survive all situations, so the fitness has nothing to refer to; "
            "give reference gains that stabilise the plant, or tighten the gain bounds"
        )
        raise ValueError(message)
    values = {name: float(np.median(quality.values[name][:, alive].mean(axis=0))) for name in fitness.terms}
    # A plant's own measure may be 0 for half of the sample (time beyond a limit): then what counts as large stands in.
    own = {name: value for name, value in fitness.reference.items() if name in fitness.own_measures}
    return replace(fitness, reference=own | {name: value for name, value in values.items() if value > 0.0})


def with_penalties(fitness: Fitness, quality: Quality) -> Fitness:
    """Return the fitness with penalties in the size of what survives, so that failing never pays."""
    alive = ~quality.failed.any(axis=0)
    if not alive.any():
        return fitness
    if fitness.lexicographic:
        worst = float(parts.cells(fitness, quality)[:, alive].max())
        return replace(fitness, diverged=max(fitness.diverged, _CLEAR * worst))
    values = np.abs(fitness.per_situation(quality)[:, alive])
    usual = float(np.median(values.mean(axis=0)))
    return replace(
        fitness,
        diverged=max(fitness.diverged, 2.0 * float(values.max())),
        margin_weight=fitness.margin_weight * max(1.0, usual),
    )
