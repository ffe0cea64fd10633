"""Fitnesses that are known to choose badly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sscq.fitness.definition import Fitness

_WIDE = 10.0  # widest ratio of bounds for which the signed entropy difference may still be meaningful


class FitnessWarning(UserWarning):
    """A fitness that is likely to choose a useless controller."""


def caution(fitness: Fitness, low: np.ndarray, high: np.ndarray) -> str | None:
    """Return what is to be warned of where this fitness is known to choose badly within [low, high]."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    if fitness.kind == "entropy_signed" and (high > _WIDE * np.maximum(low, 1e-12)).any():
        return (
            "the signed entropy difference is ill-posed within wide gain bounds: it rewards an unstable loop kept "
            "in a saturated oscillation. Use the default fitness, or narrow bounds around known gains"
        )
    if fitness.kind in {"entropy_magnitude", "entropy_square"}:
        return (
            "entropy production alone prefers not to move: the error is left where it is. "
            "Use the default fitness, which weighs it against the tracking error"
        )
    return None
