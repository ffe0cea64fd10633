"""What a further rung of the ladder gives: contenders, knowledge bases to export, and what there is to say.

A rung of another school is searched with the budget, the fitness and the validation that all have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from experiments.pipeline import search_results
from experiments.pipeline.ladder import validation_task
from sscq.baselines.search_plan import search

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.baselines.candidates import Candidate
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness


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
        return Rungs(self.contenders + other.contenders, self.notes + other.notes, {**self.kbs, **other.kbs})


def searched(bench: Bench, name: str, candidate: Candidate, plant: Plant, fixed: Tuned, equal: Fitness) -> Tuned:
    """Return a candidate of another school, searched on a plant that measures what it needs; a stage of the run."""

    def compute(checkpoints: Path) -> Tuned:
        task = replace(bench.setup.task(fitness=equal), plant=plant)
        validation = replace(validation_task(bench, equal, fixed), plant=plant)
        label = candidate.title.partition(" (")[0]
        plan, progress = bench.plan(len(candidate.low), checkpoints, label)
        with progress:
            return search(task, candidate, plan, None, validation)

    return bench.stage(name, compute, *search_results.ONE)
