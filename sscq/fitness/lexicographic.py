"""Lexicographic order as one number: stability first, then constraints, then tracking error, then entropy production.

"Within x % of the best error, less entropy wins" is no order when it is taken pair by pair: of three candidates, each
4 % apart, the first may beat the second, the second the third and the third the first (Tversky, Intransitivity of
preferences, Psychological Review 76 (1969), 31-48). A search needs an order. So the error's axis is cut into cells,
each (1 + x) times as wide as the one before; errors of one cell are equal, and entropy decides among them. Two
candidates whose errors are more than x % apart are never equal, the winner's error is within x % of the least one
found, and one number carries the order, which searches by rank, by selection and by stalls all understand:

    J = (1 + x)^n (1 + x a / (1 + a)),   n = floor(log(error) / log(1 + x)),   a = entropy,

with both relative to their reference values. The second factor stays below 1 + x, so a lower cell always wins. J is the
error itself up to x % either way: relative changes of J mean what they say. Above a quarter of the ceiling D the axis
is bent so that no surviving candidate reaches D / 2; violated constraints have [D / 2, D), divergence [D, 2 D].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

SMALLEST = 1e-12
"""Relative errors below this are equal."""

_APART = 1.0 - 1e-9  # keeps the dearest of a cell below the cheapest of the next, whatever the last digits do
_BENT_FROM, _FEASIBLE, _VIOLATED, _VIOLATED_SPAN = 0.25, 0.49, 0.5, 0.49  # shares of the ceiling


def of_violation(excess: ArrayLike) -> Values:
    """Return the severity in [0, 1) of violated constraints: 0 where none is; excess >= 0 in shares of the limits."""
    excess = np.asarray(excess, float)
    return _APART * np.where(np.isfinite(excess), excess / (1.0 + excess), 1.0)


def of_divergence(lost_at: Values, horizon: ArrayLike) -> Values:
    """Return the severity [candidate] of rollouts lost at a time [situation, candidate]: 0 where none is, else 1 to 2.

    Parameters
    ----------
    lost_at : ndarray [situation, candidate]
        Time of divergence [s]; NaN where the rollout survives.
    horizon : array [situation]
        Length of the situations [s].

    Returns
    -------
    ndarray [candidate]
        Grows with each rollout that is lost, and the sooner it is; 2 where all are lost at once.
    """
    horizon = np.asarray(horizon, float)[:, None]
    each = np.where(np.isnan(lost_at), 0.0, 1.0 + (horizon - lost_at) / horizon)
    least = 1.0 / len(each)
    graded = 1.0 + (each.mean(axis=0) - least) / (2.0 - least)
    return np.where(np.isnan(lost_at).all(axis=0), 0.0, np.maximum(graded, 1.0))


def cells(error: ArrayLike, entropy: ArrayLike, tolerance: float) -> Values:
    """Return the number of candidates that survive and keep all constraints, not yet bent.

    Parameters
    ----------
    error, entropy : array
        Relative to their references, not negative.
    tolerance : float
        Width x of a cell, as a share of the error.
    """
    a = np.asarray(entropy, float)
    step = np.log1p(tolerance)
    n = np.floor(np.log(np.maximum(error, SMALLEST)) / step)
    return np.exp(n * step) * (1.0 + _APART * tolerance * (a / (1.0 + a)))


def combined(severity: ArrayLike, feasible: ArrayLike, ceiling: float) -> Values:
    """Return one number: `feasible` where the severity is 0, else above all that is feasible, by severity."""
    severity, value = np.asarray(severity, float), np.asarray(feasible, float)
    start, top = _BENT_FROM * ceiling, _FEASIBLE * ceiling
    bent = np.where(value <= start, value, top - (top - start) * start / np.maximum(value, start))
    violated = ceiling * (_VIOLATED + _VIOLATED_SPAN * severity)
    return np.where(severity >= 1.0, ceiling * severity, np.where(severity > 0.0, violated, bent))
