"""State feedback by the linear-quadratic criterion from sample to sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

if TYPE_CHECKING:
    Array = np.ndarray


def feedback(held: Array, pushed: Array, Q: Array, R: Array) -> Array | None:
    """Return K [n_commands, n] of u = -K x for x' = held x + pushed u from sample to sample; None: there is none."""
    try:
        S = solve_discrete_are(held, pushed, Q, R)
        K = np.linalg.solve(R + pushed.T @ S @ pushed, pushed.T @ S @ held)
    except (LinAlgError, ValueError):
        return None
    stable = np.isfinite(K).all() and np.abs(np.linalg.eigvals(held - pushed @ K)).max() < 1.0
    return np.asarray(K) if stable else None
