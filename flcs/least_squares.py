"""Weighted least squares with a pull to zero, smoothness and a box, the same to the bit for any number of threads.

Minimises   sum_t w_t (a_t . d - y_t)^2 + d' P d   over   low <= d <= high,   P positive definite.

Sums are NumPy's own loops and the factorisation is written out: a threaded BLAS adds in an order that depends on the
number of threads. Sizes here are at most a few hundred unknowns.
Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed., sec. 4.2 (outer-product Cholesky); coordinate
descent solves a strictly convex quadratic over a box (D. P. Bertsekas, Nonlinear Programming, 2nd ed., sec. 2.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SWEEPS = 2_000
_CONVERGED = 1e-13  # largest change in a sweep; the unknowns are shares of a box, of size 1


def solve(a: Array, y: Array, weight: Array, penalty: Array, low: Array, high: Array) -> Array:
    """Return the minimiser.

    Parameters
    ----------
    a : array [n_rows, n]
    y : array [n_rows, n_outputs]
    weight : array [n_rows]
        Not negative.
    penalty : array [n, n]
        P, symmetric positive definite.
    low, high : array [n, n_outputs]
        With low <= 0 <= high; infinite ends are allowed.

    Returns
    -------
    array [n, n_outputs]
    """
    columns = np.ascontiguousarray(a.T)
    weighted = columns * weight
    gram = np.einsum("in,jn->ij", weighted, columns) + penalty
    right = np.einsum("in,on->io", weighted, np.ascontiguousarray(y.T))
    free = cholesky_solve(gram, right)
    if np.all(free >= low) and np.all(free <= high):
        return free
    return _boxed(gram, right, np.clip(free, low, high), low, high)


def smoothness(terms: Sequence[Sequence[int]], n_basis: int = 1) -> Array:
    """Return the quadratic form sum (d_l - d_m)^2 over rules l, m that are neighbours on the grid.

    Parameters
    ----------
    terms : sequence of index tuples [n_rules]
    n_basis : int
        Unknowns per rule; they follow each other.

    Returns
    -------
    array [n_rules * n_basis, n_rules * n_basis]
    """
    places = {tuple(index): number for number, index in enumerate(terms)}
    form = np.zeros((len(terms), len(terms)))
    for index, i in places.items():
        for axis in range(len(index)):
            j = places.get((*index[:axis], index[axis] + 1, *index[axis + 1 :]))
            if j is not None:
                form[[i, j], [i, j]] += 1.0
                form[[i, j], [j, i]] -= 1.0
    return np.asarray(np.kron(form, np.eye(n_basis)), dtype=np.float64)


def cholesky_solve(matrix: Array, right: Array) -> Array:
    """Return the solution [n, n_outputs] of a symmetric positive definite system [n, n]."""
    n, work = len(matrix), matrix.copy()
    for k in range(n):
        work[k:, k] /= np.sqrt(work[k, k])
        work[k + 1 :, k + 1 :] -= work[k + 1 :, k, None] * work[None, k + 1 :, k]
    x = right.copy()
    for k in range(n):
        x[k] /= work[k, k]
        x[k + 1 :] -= work[k + 1 :, k, None] * x[None, k]
    for k in range(n - 1, -1, -1):
        x[k] /= work[k, k]
        x[:k] -= work[k, :k, None] * x[None, k]
    return x


def _boxed(gram: Array, right: Array, start: Array, low: Array, high: Array) -> Array:
    x = start
    for _ in range(_SWEEPS):
        change = 0.0
        for k in range(len(gram)):
            slope = (gram[k][:, None] * x).sum(axis=0) - right[k]
            new = np.clip(x[k] - slope / gram[k, k], low[k], high[k])
            change = max(change, float(np.abs(new - x[k]).max()))
            x[k] = new
        if change < _CONVERGED:
            break
    return x
