"""Udwadia-Kalaba by pseudo-inverse: the accelerations that every formulation must give.

    a = a0 + L^-T (A L^-T)^+ (-gam - A a0),   M = L L'

With redundant or conflicting constraints it still gives the least-squares answer. One state at a time, in NumPy.

Source: Udwadia and Kalaba (1992), Proc. R. Soc. A 439, eq. 3; any factor of M may stand for its square root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Matrices

    Array = NDArray[np.float64]


def accelerations(at: Matrices) -> Array:
    """Return the accelerations [n] under the two-sided constraints."""
    factor = np.linalg.cholesky(at.mass)
    free = np.linalg.solve(at.mass, at.load)
    if not len(at.jacobian):
        return np.asarray(free)
    spread = np.linalg.solve(factor, at.jacobian.T).T
    wanted = -at.curvature - at.jacobian @ free
    return np.asarray(free + np.linalg.solve(factor.T, np.linalg.pinv(spread) @ wanted))


def along(at: Matrices, basis: Array, acceleration: Array) -> Array:
    """Return the accelerations [n] of least constraint among those that differ from one by the basis [n, m]."""
    misfit = basis.T @ (at.load - at.mass @ acceleration)
    return np.asarray(acceleration + basis @ np.linalg.solve(basis.T @ at.mass @ basis, misfit))


def by_routh(at: Matrices) -> tuple[Array, Array]:
    """Return accelerations [n] and multipliers [g] by a dense solve of Routh's equations."""
    n, g = len(at.load), len(at.curvature)
    matrix = np.block([[at.mass, -at.jacobian.T], [at.jacobian, np.zeros((g, g))]])
    solved = np.linalg.solve(matrix, np.concatenate([at.load, -at.curvature]))
    return solved[:n], solved[n:]
