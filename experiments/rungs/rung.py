"""What a further rung of the ladder gives: contenders, knowledge bases to export, and what there is to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controllers import ConstantGains, Controller, gain_names
from sscq.visited import visited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.found_files import Entry
    from experiments.judging import Contender
    from experiments.ladder import Bench
    from flcs import KnowledgeBase
    from sscq.visited import Visited


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


def seen_by_fixed(bench: Bench, fixed: Entry) -> Visited:
    """Return where the fixed PID takes the plant in the taught situations."""
    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    # All kinds of situations, so that it is the kernel that the verdict uses; only the taught ones are run.
    every = [s for kind in ("taught", "validation", "unforeseen") for s in setup.sets[kind]]
    return visited(
        setup.plant, constant, fixed.theta, every, setup.step, setup.tick, count=len(setup.sets["taught"]),
        options=setup.options,
    )  # fmt: skip
