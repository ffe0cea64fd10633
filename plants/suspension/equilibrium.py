"""Where the car rests on its springs: computed, for any load and any set of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.naming import pick_values
from plants.suspension.motion import force
from plants.suspension.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDS, _SMALL, _DIFFERENCE = 30, 1e-13, 1e-6
_START = (0.55, 0.0, 0.0, 0.15, -0.15, 0.12, -0.12)


def equilibrium(
    parameters: Mapping[str, float] | Sequence[float] | None = None, heights: Sequence[float] = (0.0,) * 4
) -> tuple[float, ...]:
    """Return the state [14] of rest on roads of given heights [m], without active forces.

    Raises
    ------
    ValueError
        For unknown parameters, or where the car does not come to rest with all struts away from their dead points.
    """
    p = pick_values("parameters of plant 'suspension'", PARAMETERS, parameters)
    return _rest(tuple(p), tuple(heights))


@lru_cache(maxsize=256)
def _rest(p: tuple[float, ...], heights: tuple[float, ...]) -> tuple[float, ...]:
    """Newton's method with central differences; rounding of the forces leaves some 1e-14 of each coordinate."""
    q = np.array(_START)
    for _ in range(_ROUNDS):
        moved = np.hstack([q[:, None] + _DIFFERENCE * step for step in (np.eye(7), -np.eye(7), np.zeros((7, 1)))])
        forces = _forces(moved, p, heights)
        slopes = (forces[:, :7] - forces[:, 7:14]) / (2.0 * _DIFFERENCE)
        change = np.linalg.solve(slopes, forces[:, 14])
        q -= change
        if not np.isfinite(q).all() or np.abs(q[1:]).max() > 1.5:
            break
        if np.abs(change).max() < _SMALL:
            q[np.abs(q) < _SMALL] = 0.0  # a symmetric car rests exactly level
            return (*q.tolist(), *(0.0,) * 7)
    message = "the suspension has no rest near its nominal one; check loads, springs and free lengths"
    raise ValueError(message)


def _forces(q: np.ndarray, p: tuple[float, ...], heights: tuple[float, ...]) -> Any:
    """Forces at rest [7, n]."""
    rest = np.zeros(q.shape[1])
    values = force(0.0, (*q, *(rest,) * 7), (0.0,) * 8, (*heights, *(0.0,) * 4), p)
    return np.array([np.broadcast_to(value, rest.shape) for value in values])
