"""What is to be reached, what became of it, and which of several is as good as the best."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sscq.verdict.bootstrap import Change

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
