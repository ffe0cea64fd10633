"""What tables and sentences of a comparison are about: rollouts, the aim, groups of situations, words for measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.comparison.aim import Aim
    from experiments.comparison.judged import Judged
    from sscq.bootstrap import Change


@dataclass(frozen=True)
class Told:
    """A comparison to be told.

    Attributes
    ----------
    judged : Judged
    aim : Aim
    groups : mapping of group to str
        Groups of situations, each with its headline, in their order.
    words : mapping of measure to str
        What the aim's measures are called in a sentence.
    """

    judged: Judged
    aim: Aim
    groups: Mapping[str, str]
    words: Mapping[str, str]

    def base(self, group: str) -> str:
        """Return the best of the laws that the aim names."""
        return self.judged.best(self.aim.best_of, group)

    def changes(self, name: str, group: str, situation: int | None = None) -> list[Change]:
        """Return the changes of the aim's measures against the best law, in a group or in one of its situations."""
        base = self.base(group)
        return [self.judged.change(name, base, group, measure, situation) for measure in self.aim.measures]

    def outcome(self, name: str, group: str) -> str:
        """Say what became of the aim."""
        return self.aim.outcome(self.changes(name, group), self.words)

    def title(self, name: str) -> str:
        """Return what a controller is called."""
        return self.judged.titles[name]
