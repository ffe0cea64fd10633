"""Consequents by least squares: the linear half of the training, with NumPy alone.

With the terms fixed the gains are linear in the consequents f_l, and the minimum of

    sum_t w_t |K_t - K(x_t)|^2 + prior_weight sum_l |f_l - K_ref|^2 + smoothness sum_neighbours |f_l - f_m|^2

(gains as shares of their box) within the box is found exactly. Where no data fire, the reference gains stay.

The solver minimises   sum_t w_t (a_t . d - y_t)^2 + d' P d   over   low <= d <= high,   P positive definite,   and
gives the same bits for any number of threads: sums are NumPy's own loops and the factorisation is written out, since a
threaded BLAS adds in an order that depends on the number of threads. Sizes here are at most a few hundred unknowns.
Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed., sec. 4.2 (outer-product Cholesky); coordinate
descent solves a strictly convex quadratic over a box (D. P. Bertsekas, Nonlinear Programming, 2nd ed., sec. 2.7).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference.inference import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.inference.rule_base import RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from flcs.learning.config import NetworkConfig
    from flcs.learning.rows import TeachingRows

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


def fit_consequents(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig) -> KnowledgeBase:
    """Return the knowledge base with the consequents of its active rules fitted to the rows; terms stay.

    Parameters
    ----------
    kb : KnowledgeBase
    rows : TeachingRows
        Columns as of the knowledge base.
    config : NetworkConfig
        Its prior_weight, smoothness and ridge.
    """
    column = 0
    for number, base in enumerate(kb.channels):
        n_gains = len(base.gain_names)
        kb = kb.with_channel(number, _fitted(kb, rows, config, number, slice(column, column + n_gains)))
        column += n_gains
    return kb


def _fitted(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, place: int, gains: slice) -> RuleBase:
    base, order = kb.channels[place], kb.inference.order
    active = list(base.active)
    if not active:
        return base
    low, high, reference = (np.array(part) for part in (base.low, base.high, base.reference))
    span = np.where(high > low, high - low, 1.0)
    basis = kb.shares(rows.inputs, place)[:, active, None]
    if order:
        own = tuple(rows.inputs[:, k] for k in kb.columns(place))
        basis = basis * np.stack([np.ones(len(rows.inputs)), *scaled(base, own)], axis=1)[:, None, :]
    n_basis = basis.shape[2]
    penalty = (config.prior_weight + config.ridge) * np.eye(len(active) * n_basis)
    penalty += config.smoothness * smoothness([base.rules[k].terms for k in active], n_basis)
    floor, ceiling = (np.full((len(active) * n_basis, len(low)), end) for end in (-np.inf, np.inf))
    floor[::n_basis], ceiling[::n_basis] = (low - reference) / span, (high - reference) / span
    wanted = (np.clip(rows.gains[:, gains], low, high) - reference) / span
    found = solve(basis.reshape(len(basis), -1), wanted, rows.weight, penalty, floor, ceiling)
    found = found.reshape(len(active), n_basis, -1) * span
    rules = list(base.rules)
    for row, k in zip(found, active, strict=True):
        slopes = tuple(map(tuple, row[1:].T.tolist())) if order else ()
        rules[k] = replace(rules[k], gains=tuple(np.clip(row[0] + reference, low, high).tolist()), slopes=slopes)
    return replace(base, rules=tuple(rules))
