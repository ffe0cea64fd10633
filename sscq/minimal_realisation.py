"""The part of a linear plant that a loop can move and see.

The position behind a speed loop, or the heading of a vehicle whose tilt is balanced, is at rest for that loop: an
eigenvalue at 1 that no gain moves and that is no failure. Such modes are left out, by Krylov subspaces of (A, b) and
then of the transpose; what grows among them is reported.
Source: T. Kailath, Linear Systems (Prentice Hall, 1980), sec. 2.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import matrix_balance, null_space

from sscq.linear_loop import LinearPlant, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_HIDDEN = 1e-10  # relative: directions that a Krylov step adds with less than this are rounding
_MARGINAL = 1e-7  # relative growth that rounding of a multiple pole at rest explains


def visible_part(plant: LinearPlant, *, with_rate: bool) -> tuple[Array, Array, list[Array], float]:
    """Reduce a plant to what is reachable from the command and seen in the outputs (its minimal realisation).

    Parameters
    ----------
    plant : LinearPlant
    with_rate : bool
        Whether the rate output is looked at beside the output.

    Returns
    -------
    A, b : arrays [n, n], [n]
    rows : list of array [n]
        Output, and rate if asked for.
    growth : float
        Largest growth rate of what is left out [1/s]; 0 where that is at rest or decays.

    Raises
    ------
    ValueError
        If no path leads from the command to the outputs.
    """
    A, scaling = matrix_balance(plant.A, permute=False)
    b = np.asarray(plant.b) @ np.linalg.inv(scaling).T
    rows = [np.asarray(row) @ scaling for row in ((plant.c, plant.c_rate) if with_rate else (plant.c,))]
    hidden = []
    reached = _invariant(A, [b])
    hidden.append(_outside(A, reached))
    A, b, rows = reached @ A @ reached.T, reached @ b, [row @ reached.T for row in rows]
    require(any(row.any() for row in rows), f"the command of {plant.name or 'the plant'} does not reach its output")
    seen = _invariant(A.T, rows)
    hidden.append(_outside(A.T, seen))
    A, b, rows = seen @ A @ seen.T, seen @ b, [row @ seen.T for row in rows]
    growth = max(float(np.max(part.real, initial=0.0)) for part in hidden)
    return A, b, rows, growth if growth > _MARGINAL * np.linalg.norm(np.asarray(plant.A)) else 0.0


def visible_to_all(A: Array, B: Array, rows: list[Array]) -> tuple[Array, Array, list[Array], float]:
    """Reduce a plant to what any of several commands can move and any of several laws sees.

    Parameters
    ----------
    A, B : arrays [n_x, n_x], [n_x, n_channels]
    rows : list of array [n_x]
        Everything that laws read.

    Returns
    -------
    A, B : arrays [n, n], [n, n_channels]
    rows : list of array [n]
    growth : float
        As in :func:`visible_part`.
    """
    whole = np.linalg.norm(A)
    A, scaling = matrix_balance(A, permute=False)
    B, rows = np.linalg.inv(scaling) @ B, [row @ scaling for row in rows]
    reached = _invariant(A, list(B.T))
    hidden = [_outside(A, reached)]
    A, B, rows = reached @ A @ reached.T, reached @ B, [row @ reached.T for row in rows]
    seen = _invariant(A.T, rows)
    hidden.append(_outside(A.T, seen))
    A, B, rows = seen @ A @ seen.T, seen @ B, [row @ seen.T for row in rows]
    growth = max(float(np.max(part.real, initial=0.0)) for part in hidden)
    return A, B, rows, growth if growth > _MARGINAL * whole else 0.0


def _invariant(A: Array, starts: list[Array]) -> Array:
    """Orthonormal rows that span the smallest subspace which holds `starts` and is invariant under A (Krylov)."""
    scale = np.linalg.norm(A, 2) or 1.0
    basis = np.zeros((0, len(A)))
    queue = [start / (np.linalg.norm(start) or 1.0) for start in starts]
    while queue and len(basis) < len(A):
        direction = queue.pop(0)
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            direction = direction - basis.T @ (basis @ direction)
        size = np.linalg.norm(direction)
        if size > _HIDDEN:
            basis = np.vstack([basis, direction / size])
            queue.append(A @ direction / size / scale)
    return np.eye(len(A)) if len(basis) == len(A) else basis


def _outside(A: Array, basis: Array) -> NDArray[np.complex128]:
    """Eigenvalues of A that belong to no direction of the invariant subspace."""
    if len(basis) == len(A):
        return np.zeros(0, dtype=complex)
    rest = null_space(basis) if len(basis) else np.eye(len(A))
    return np.linalg.eigvals(rest.T @ A @ rest).astype(complex)
