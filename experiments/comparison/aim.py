"""An aim declared beforehand: one measure better by a share than the best of some laws, others no worse."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sscq.bootstrap import Change

MET, ON_THE_MEAN = "met", "met on the mean, not reliably"


@dataclass(frozen=True)
class Aim:
    """What is to be reached.

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
        more = f"{' and '.join(worse)} reliably higher"
        if better.value > -self.share:
            return "not met" + (f", and {more}" if worse else "")
        if worse:
            return f"not met: {more}"
        return MET if better.high <= -self.share else ON_THE_MEAN
