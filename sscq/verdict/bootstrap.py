"""Bootstrap intervals of a statistic's relative change against a baseline, all resamplings at once.

Source: B. Efron and R. Tibshirani, An Introduction to the Bootstrap, Chapman and Hall 1993, ch. 13 (percentiles).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Statistic = Callable[[Array], Array]

_LEVELS = (0.025, 0.975)
_AT_ONCE = 1_000_000  # numbers that are resampled together


@dataclass(frozen=True)
class Change:
    """A statistic's relative change against the baseline, with its 95 % bootstrap interval; negative is better."""

    value: float
    low: float
    high: float

    @property
    def improves(self) -> bool:
        """Whether the whole interval is on the better side."""
        return self.high < 0.0

    @property
    def worsens(self) -> bool:
        """Whether the whole interval is on the worse side."""
        return self.low > 0.0

    def __str__(self) -> str:
        """Print as percentages; "not known" where there is no number (NaN)."""
        if np.isnan(self.value):
            return "not known"
        return f"{100 * self.value:+.1f} % [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def change(statistic: Statistic, other: Array, baseline: Array, rows: NDArray[np.int64]) -> Change:
    """Return the change of a statistic of all rollouts.

    Parameters
    ----------
    statistic : callable
        Rows of rollouts [n, n_rollouts] to a number each [n].
    other, baseline : ndarray [seed, situation]
    rows : ndarray of int [n_draws, seed]
        Seeds that each resampling consists of.
    """
    return change_of_choice(statistic, ((other, baseline),), rows, np.zeros(len(rows), dtype=np.int64))


def best_of(n_searches: int, n_draws: int, seed: int) -> NDArray[np.int64]:
    """Return which of several searches each resampling delivers [n_draws], 0: the one that was delivered.

    The searches are drawn anew, as many as there were, and the best of those drawn is taken: as the design did.
    """
    rng = np.random.Generator(np.random.PCG64([seed, n_searches]))
    return rng.integers(0, n_searches, (n_draws, n_searches)).min(axis=1)


def change_of_choice(
    statistic: Statistic,
    pairs: Sequence[tuple[Array, Array]],
    rows: NDArray[np.int64],
    delivered: NDArray[np.int64],
) -> Change:
    """Return the change of what is delivered, with an interval over rollouts and over searches.

    Parameters
    ----------
    statistic : callable
        Rows of rollouts [n, n_rollouts] to a number each [n].
    pairs : sequence of (ndarray, ndarray), each [seed, situation]
        Of each search what it found and the baseline, the delivered one first.
    rows : ndarray of int [n_draws, seed]
        Seeds that each resampling consists of.
    delivered : ndarray of int [n_draws]
        Which search each resampling delivers, see :func:`best_of`.
    """
    other, baseline = pairs[0]
    value = _relative(statistic(other.reshape(1, -1)), statistic(baseline.reshape(1, -1)))[0]
    draws = np.empty(len(rows))
    for number, (one, base) in enumerate(pairs):
        mine = delivered == number
        draws[mine] = _relative(_resampled(statistic, one, rows[mine]), _resampled(statistic, base, rows[mine]))
    # Where there is no number between infinite ones, the ends themselves.
    low, high = np.quantile(draws, _LEVELS) if np.isfinite(draws).all() else (draws.min(), draws.max())
    return Change(float(value), float(low), float(high))


def _resampled(statistic: Statistic, values: Array, rows: NDArray[np.int64]) -> Array:
    """The statistic of each resampling [n_draws]."""
    size = max(1, _AT_ONCE // max(1, rows.shape[1] * values.shape[1]))
    parts = [rows[first : first + size] for first in range(0, len(rows), size)]
    found = [statistic(values[part].reshape(len(part), -1)) for part in parts]
    return np.concatenate(found) if found else np.empty(0)


def _relative(values: Array, bases: Array) -> Array:
    """Changes in shares of the bases' magnitudes: negative is better also where the fitness is negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (values - bases) / np.abs(bases)
    from_zero = np.where(values == 0.0, 0.0, np.copysign(np.inf, values))
    return np.where(bases == 0.0, from_zero, shares)
