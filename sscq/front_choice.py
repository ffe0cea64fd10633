"""One point of a trade-off front: the knee, or the least of one objective within a budget or a limit of another.

Knee: with each objective scaled to 0 at its least value and 1 at its largest on the front, the point farthest below the
plane sum_k f_k = 1 through the scaled ends, so the one with the largest distance

    d = (1 - sum_k f_k) / sqrt(n_objectives).

With two objectives the plane is the chord between both ends: Das, On characterizing the "knee" of the Pareto curve
based on normal-boundary intersection, Structural Optimization 18 (1999), 107-115. With more, the plane of unit
intercepts: Zhang, Tian and Jin, A knee point driven evolutionary algorithm, IEEE Trans. Evol. Comput. 19 (2015),
761-776. The plane through the points that are best in one objective each, which the first source would take, does not
exist where two objectives are best at the same point, as entropy production and actuator travel nearly are.

Where a knee lies depends on where the front ends: an end that nobody wants pulls it. So fronts are cut off first, at a
largest error that is still of use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def scaled(objectives: ArrayLike) -> NDArray[np.float64]:
    """Return the objectives [n, n_objectives] scaled to 0 at the least and 1 at the largest; 0 where all are equal."""
    rows = _checked(objectives)
    span = np.ptp(rows, axis=0)
    return (rows - rows.min(axis=0)) / np.where(span > 0.0, span, 1.0)


def below_plane(objectives: ArrayLike) -> NDArray[np.float64]:
    """Return the distance of each point of a front below the plane through its scaled ends [n]."""
    rows = scaled(objectives)
    return (1.0 - rows.sum(axis=1)) / np.sqrt(rows.shape[1])


def knee(objectives: ArrayLike) -> int:
    """Return the position of the knee of a front [n, n_objectives]; of equals the one with the least first objective.

    Raises
    ------
    ValueError
        If the front is empty or not finite.
    """
    rows = _checked(objectives)
    return int(np.lexsort((rows[:, 0], -below_plane(rows)))[0])


def within_budget(objectives: ArrayLike, budget: float, of: int = 0, least: int = 1) -> int:
    """Return the position of the least of one objective at no more than (1 + budget) times the least of another.

    Parameters
    ----------
    objectives : array [n, n_objectives]
        Not negative in the objective that the budget is of.
    budget : float
        Share by which the objective `of` may exceed its least value on the front.
    of, least : int
        Which objective the budget limits, and which is then minimised.

    Raises
    ------
    ValueError
        If the front is empty or not finite, or the budget is negative.
    """
    rows = _checked(objectives)
    if not budget >= 0.0:
        raise ValueError(f"the budget must be a share >= 0, got {budget}")
    affordable = np.flatnonzero(rows[:, of] <= (1.0 + budget) * rows[:, of].min())
    return int(affordable[np.lexsort((rows[affordable, of], rows[affordable, least]))[0]])


def within_limit(objectives: ArrayLike, limit: float, of: int = 1, least: int = 0) -> int | None:
    """Return the position of the least of one objective where another is at most `limit`; None where it never is.

    Raises
    ------
    ValueError
        If the front is empty or not finite, or the limit is not a number.
    """
    rows = _checked(objectives)
    if np.isnan(limit):
        raise ValueError("the limit must be a number, got nan")
    allowed = np.flatnonzero(rows[:, of] <= limit)
    return int(allowed[np.lexsort((rows[allowed, of], rows[allowed, least]))[0]]) if allowed.size else None


def _checked(objectives: ArrayLike) -> NDArray[np.float64]:
    rows = np.asarray(objectives, float)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise ValueError(
            f"a front must be finite numbers [n, n_objectives] of one point or more, got shape {rows.shape}"
        )
    return rows
