"""What a fitness is put together from: times of divergence, cells of the lexicographic order, excess over limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sscq import lexicographic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sscq.fitness.definition import Fitness
    from sscq.quality import Quality

_NO_TRAVEL = 1e-9  # a limit of 0 forbids all travel; the excess is counted in units of this
_NO_SATURATION = 1e-3  # the same for a limit of no time at the limits


def lost_at(fitness: Fitness, quality: Quality, measures: Sequence[str] = ()) -> np.ndarray:
    """Times of divergence [situation, candidate]; 0 where a measure is not finite, NaN where nothing is amiss."""
    finite = np.ones(quality.diverged_at.shape, bool)
    for name in measures or fitness.terms:
        finite &= np.isfinite(quality.values[name])
    return np.where(finite | quality.failed, quality.diverged_at, 0.0)


def cells(fitness: Fitness, quality: Quality, over: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
    """Lexicographic number of error and entropy, both `over` the situations if asked; not finite is 0."""
    parts = []
    for name in fitness.terms:
        relative = quality.values[name] / fitness.reference.get(name, 1.0)
        finite = np.where(np.isfinite(relative), relative, 0.0)
        parts.append(finite if over is None else over(finite))
    return lexicographic.cells(parts[0], parts[1], fitness.tolerance)


def excess(fitness: Fitness, quality: Quality) -> np.ndarray:
    """Excess of travel, of time at the limits and of limited measures [candidate], in shares of what is allowed."""
    found = np.zeros(quality.diverged_at.shape[1])
    if fitness.travel_limit is not None:
        travel = quality.values["total_variation"].mean(axis=0)
        found = np.maximum(0.0, travel / max(fitness.travel_limit, _NO_TRAVEL) - 1.0)
    if fitness.saturation_limit is not None:
        at_limit = (quality.values["saturated_time"] / np.asarray(quality.t_end)[:, None]).mean(axis=0)
        found = found + np.maximum(0.0, at_limit / max(fitness.saturation_limit, _NO_SATURATION) - 1.0)
    return found + own_excess(fitness, quality)


def own_excess(fitness: Fitness, quality: Quality) -> np.ndarray:
    """Excess of the plant's own limited measures [candidate], in shares of what is allowed."""
    found = np.zeros(quality.diverged_at.shape[1])
    for name, limit in fitness.own_limits.items():
        beyond = np.maximum(0.0, quality.values[name].mean(axis=0) / limit - 1.0)
        found = found + np.where(np.isfinite(beyond), beyond, fitness.diverged)  # what is lost keeps no limit
    return found
