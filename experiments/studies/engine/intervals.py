"""95 % bootstrap intervals of paired outcomes; each study has its own draws and seed, as its page was printed with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sscq.verdict.bootstrap import Change

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

DRAWS = 4000
_NORMAL = 1.959963984540054  # 97.5 % quantile


def resampled(n: int, draws: int = DRAWS, seed: int = 0) -> NDArray[np.int64]:
    """Return places of n seeds, rides or situations drawn anew [draw, n]; those of one place stay together."""
    return np.random.default_rng(seed).integers(0, n, (draws, n))


def ends(values: Array) -> tuple[float, float]:
    """Return the ends of the interval that holds 95 % of values; what there is not (NaN) does not count."""
    low, high = np.nanquantile(values, (0.025, 0.975))
    return float(low), float(high)


def change_of_sum(ours: ArrayLike, base: ArrayLike, draws: int = DRAWS, seed: int = 0) -> Change:
    """Return the change of a sum against the base's, pairs resampled together; NaN where the base has nothing.

    Parameters
    ----------
    ours, base : array_like [n]
        Areas of rides, or whether each of them falls.
    draws, seed : int
    """
    one, other = np.asarray(ours, float), np.asarray(base, float)
    if not other.any():
        return Change(math.nan, math.nan, math.nan)
    rows = resampled(len(one), draws, seed)
    below = other[rows].sum(axis=1)
    low, high = ends(one[rows].sum(axis=1) / np.where(below > 0.0, below, np.nan))
    return Change(float(one.sum() / other.sum()) - 1.0, low - 1.0, high - 1.0)


def percent(change: Change, digits: int = 1) -> str:
    """Return a change with its interval in per cent."""
    value, low, high = (f"{100 * v:+.{digits}f}" for v in (change.value, change.low, change.high))
    return f"{value} % [{low}, {high}]"


def wilson(hits: int, number_of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209)."""
    share, z2 = hits / number_of, _NORMAL**2
    middle = (share + z2 / (2 * number_of)) / (1 + z2 / number_of)
    half = _NORMAL / (1 + z2 / number_of) * math.sqrt(share * (1 - share) / number_of + z2 / (4 * number_of**2))
    return middle - half, middle + half
