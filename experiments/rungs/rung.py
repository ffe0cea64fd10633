"""What a further rung of the ladder gives: contenders, knowledge bases to export, and what there is to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.judging import Contender
    from flcs import KnowledgeBase


@dataclass(frozen=True)
class Rungs:
    """Further rungs.

    Attributes
    ----------
    contenders : tuple of Contender
    notes : tuple of str
        Where their numbers come from, or why there is none.
    kbs : mapping of contender to KnowledgeBase
    """

    contenders: tuple[Contender, ...] = ()
    notes: tuple[str, ...] = ()
    kbs: Mapping[str, KnowledgeBase] = field(default_factory=dict)

    def __add__(self, other: Rungs) -> Rungs:
        """Return both."""
        return Rungs(
            self.contenders + other.contenders, self.notes + other.notes, {**self.kbs, **other.kbs}
        )  # fmt: skip
