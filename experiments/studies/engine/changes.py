"""Changes of paired outcomes with their 95 % bootstrap intervals, what became of an aim, who is as good as the best.

Each study has its own draws and seed, as its page was printed with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.verdict.bootstrap import Change

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    from collections.abc import Mapping, Sequence


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
    """Return a change with its interval in per cent; a dash where there is none (NaN)."""
    if math.isnan(change.value):
        return "-"
    value, low, high = (f"{100 * v:+.{digits}f}" for v in (change.value, change.low, change.high))
    return f"{value} % [{low}, {high}]"


def wilson(hits: int, number_of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209)."""
    share, z2 = hits / number_of, _NORMAL**2
    middle = (share + z2 / (2 * number_of)) / (1 + z2 / number_of)
    half = _NORMAL / (1 + z2 / number_of) * math.sqrt(share * (1 - share) / number_of + z2 / (4 * number_of**2))
    return middle - half, middle + half


MET, ON_THE_MEAN, NOT_MET = "met", "met on the mean, not reliably", "not met"


def reached(value: float, surely: float, wanted: float) -> str:
    """Say whether at least what is wanted was gained, by the mean and by the nearer end of its interval."""
    if value < wanted:
        return NOT_MET
    return MET if surely >= wanted else ON_THE_MEAN


def near_the_least(values: Mapping[str, float], *, times: float = 1.0, by: float = 0.0) -> list[str]:
    """Return whose value is at most the least one, times a factor and `by` more; in the order given."""
    most = times * min(values.values()) + by
    return [name for name, value in values.items() if value <= most]


@dataclass(frozen=True)
class Aim:
    """One measure is better by a share than that of the best of some laws, others are no worse.

    Attributes
    ----------
    better : str
        Measure that is to be lower.
    share : float
        By how much of that of the best of the named controllers.
    no_worse : tuple of str
        Measures that must not be reliably higher.
    best_of : tuple of str
        Controllers; the best is the one with the lowest mean fitness.
    """

    better: str
    share: float
    no_worse: tuple[str, ...]
    best_of: tuple[str, ...]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the entries."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Aim:
        """Return the aim of a declaring file's entries."""
        lists = {name: tuple(given[name]) for name in ("no_worse", "best_of")}
        return cls(**{**given, **lists})

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures it is about, the one to be better first."""
        return (self.better, *self.no_worse)

    def outcome(self, changes: Sequence[Change], words: Mapping[str, str]) -> str:
        """Say what became of it.

        Parameters
        ----------
        changes : sequence of Change
            Of its measures.
        words : mapping of measure to str
        """
        better, *others = changes
        worse = [words[name] for name, one in zip(self.no_worse, others, strict=True) if one.low > 0.0]
        result = reached(-better.value, -better.high, self.share)
        if not worse:
            return result
        more = f"{' and '.join(worse)} reliably higher"
        return f"{result}, and {more}" if result == NOT_MET else f"{NOT_MET}: {more}"
