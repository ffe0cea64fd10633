"""What a further rung of the ladder gives: contenders, knowledge bases to export, and what there is to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from experiments.pipeline import search_results
from flcs import KnowledgeBase

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sscq.baselines.tuned import Tuned


@dataclass(frozen=True)
class Rungs:
    """Further rungs.

    Attributes
    ----------
    contenders : tuple of Tuned
    notes : tuple of str
        Where their numbers come from, or why there is none.
    kbs : mapping of contender to KnowledgeBase
    """

    contenders: tuple[Tuned, ...] = ()
    notes: tuple[str, ...] = ()
    kbs: Mapping[str, KnowledgeBase] = field(default_factory=dict)

    def __add__(self, other: Rungs) -> Rungs:
        """Return both."""
        return Rungs(
            self.contenders + other.contenders, self.notes + other.notes, {**self.kbs, **other.kbs}
        )  # fmt: skip


def save_refined(folder: Path, result: tuple[KnowledgeBase, Tuned]) -> None:
    """Write a knowledge base and how it was found as a stage of the run."""
    result[0].save(folder / "knowledge_base.json")
    search_results.save(folder, [result[1]])


def load_refined(folder: Path) -> tuple[KnowledgeBase, Tuned]:
    """Read what :func:`save_refined` wrote."""
    return KnowledgeBase.load(folder / "knowledge_base.json"), search_results.load(folder)[0]
