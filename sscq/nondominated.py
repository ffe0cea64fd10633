"""Non-dominated sorting and crowding distance on arrays: whole populations at once, never pair by pair in Python.

Source: Deb, Pratap, Agarwal and Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE Trans.
Evol. Comput. 6 (2002), 182-197; constraint domination: its section VI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def dominates(objectives: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return [n, n] whether the row's point dominates the column's: nowhere worse and somewhere better (minimised).

    Parameters
    ----------
    objectives : ndarray [n, n_objectives]
        Finite or infinite, not NaN. Memory grows with n^2: some 2 MB for a thousand points.
    """
    n = len(objectives)
    not_worse = np.ones((n, n), bool)
    for column in objectives.T:
        not_worse &= column[:, None] <= column[None, :]
    return not_worse & ~not_worse.T


def ranks(objectives: ArrayLike, severity: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return the front that each point belongs to [n]; 0: nothing dominates it.

    Parameters
    ----------
    objectives : array [n, n_objectives]
        Minimised.
    severity : array [n], optional
        How badly constraints are violated, 0: not at all. Points without violation come before all others; those are
        ordered by severity alone (constraint domination).
    """
    rows = np.asarray(objectives, float)
    bad = np.zeros(len(rows)) if severity is None else np.asarray(severity, float)
    found = np.zeros(len(rows), np.intp)
    feasible = np.flatnonzero(bad <= 0.0)
    n_fronts = 0
    if feasible.size:
        found[feasible] = _peeled(dominates(rows[feasible]))
        n_fronts = int(found[feasible].max()) + 1
    others = np.flatnonzero(bad > 0.0)
    found[others] = n_fronts + np.unique(bad[others], return_inverse=True)[1].reshape(-1)
    return found


def _peeled(above: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Fronts of a domination table: take what nothing dominates, forget it, and again."""
    found, left = np.full(len(above), -1, np.intp), above.sum(axis=0)
    front = 0
    while (current := np.flatnonzero((left == 0) & (found < 0))).size:
        found[current] = front
        left = left - above[current].sum(axis=0)
        front += 1
    return found


def crowding(objectives: ArrayLike, rank: ArrayLike) -> NDArray[np.float64]:
    """Return the crowding distance of each point in its front [n]: how far apart its neighbours are.

    The sum over the objectives of the distance between both neighbours as a share of the front's range, infinite at
    the front's ends. An objective in which a front does not differ counts nothing, unless it is one or two points.
    """
    rows, rank = np.asarray(objectives, float), np.asarray(rank)
    total = np.zeros(len(rows))
    if not len(rows):
        return total
    for column in rows.T:
        order = np.lexsort((column, rank))
        value, front = column[order], rank[order]
        first = np.flatnonzero(np.r_[True, front[1:] != front[:-1]])
        last = np.r_[first[1:], len(front)] - 1
        with np.errstate(invalid="ignore", divide="ignore"):  # infinite objectives, fronts without range
            spread = np.repeat(value[last] - value[first], last - first + 1)
            apart = np.zeros(len(rows))
            apart[1:-1] = (value[2:] - value[:-2]) / spread[1:-1]
        apart = np.where((spread > 0.0) & np.isfinite(apart), apart, 0.0)
        # Without a range the order is that of chance, and so are its ends; a front of one or two is all ends.
        ended = (spread[first] > 0.0) | (last - first < 2)
        apart[first[ended]] = apart[last[ended]] = np.inf
        total[order] += apart
    return total


def best_first(objectives: ArrayLike, severity: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return the positions of all points [n], best first: by front, then by crowding distance, the loneliest first."""
    rank = ranks(objectives, severity)
    return np.lexsort((-crowding(objectives, rank), rank))
