"""State feedback by the linear-quadratic criterion from sample to sample: for one plant, and for many weights at once.

Two solvers of the Riccati equation: SciPy's takes one problem after the other, however slow what is left of it decays;
doubling takes hundreds at once, as the searches of studies ask for, and gives none where that decay takes too long.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

Array = np.ndarray

_STABLE = 1.0 - 1e-9
_DOUBLINGS, _LEFT = 40, 1e-10  # rounds at most; what a closed loop may leave of any state after 2^rounds samples


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising solutions of many discrete Riccati equations at once [..., n, n]; NaN where there is none.

    Structure-preserving doubling: after k rounds the cost over 2^k samples. E. K.-W. Chu, H.-Y. Fan, W.-W. Lin,
    C.-S. Wang, Int. J. Control 77 (2004) 767.

    Parameters
    ----------
    A, B, Q, R : ndarray [..., n, n], [..., n, m], [..., n, n], [..., m, m]
    """
    unit = np.eye(A.shape[-1])
    G, H = B @ np.linalg.solve(R, B.swapaxes(-1, -2)), Q + 0.0 * A
    with np.errstate(all="ignore"):
        for _ in range(_DOUBLINGS):
            to = np.linalg.solve(unit + G @ H, np.concatenate(np.broadcast_arrays(A, G), axis=-1))
            step, spread = to[..., : len(unit)], to[..., len(unit) :]
            H, G = H + A.swapaxes(-1, -2) @ H @ step, G + A @ spread @ A.swapaxes(-1, -2)
            A = A @ step
            if not (np.abs(A) > _LEFT).any():
                break
    return np.asarray(np.where((np.abs(A) <= _LEFT).all(axis=(-1, -2), keepdims=True), H, np.nan))


def feedback(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return K [..., m, n] of u = -K x for x' = A x + B u from sample to sample; NaN where there is none."""
    S = riccati(A, B, Q, R)
    back = B.swapaxes(-1, -2) @ S
    good = np.isfinite(S).all(axis=(-1, -2), keepdims=True)
    weights = np.where(good, R + back @ B, np.eye(R.shape[-1]))
    return np.asarray(np.where(good, np.linalg.solve(weights, np.where(good, back @ A, 0.0)), np.nan))


def stabilising_feedback(A: Array, B: Array, Q: Array, R: Array) -> Array | None:
    """Return K [m, n] of u = -K x for one plant x' = A x + B u from sample to sample; None where there is none."""
    try:
        S = solve_discrete_are(A, B, Q, R)
        K = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
    except (LinAlgError, ValueError):
        return None
    radius = np.abs(np.linalg.eigvals(A - B @ K)).max() if np.isfinite(K).all() else np.inf
    return np.asarray(K) if radius < _STABLE else None
