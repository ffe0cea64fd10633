"""Dataset aggregation: the teacher is asked where its own pupil goes.

A knowledge base that imitates a teacher visits states that the teacher never showed, and there it can be lost. So in
each further round the loop runs under the knowledge base of the round before, the teacher is asked for the best gains
along that run, and a new knowledge base learns from all rows so far. The validation situations choose among the rounds.
Source: Ross, Gordon and Bagnell, A reduction of imitation learning and structured prediction to no-regret online
learning, AISTATS 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline import knowledge, ladder, refining
from experiments.runtime import formats
from sscq.teaching.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.ladder import Reference
    from flcs import KnowledgeBase
    from sscq.baselines.tuned import Tuned


@dataclass(frozen=True)
class Lessons:
    """What imitation came to.

    Attributes
    ----------
    signal : TeachingSignal
        The rows that the knowledge base learned from, round after round.
    kb : KnowledgeBase
    fitness : tuple of float
        In the validation situations, of each round's knowledge base; of a single round it is not asked for.
    """

    signal: TeachingSignal
    kb: KnowledgeBase
    fitness: tuple[float, ...] = ()


def taught(bench: Bench, ref: Reference, fixed: Tuned) -> Lessons:
    """Return the knowledge base by imitation of as many rounds as are asked for, the best one on validation."""
    rows = [knowledge.teaching_signal(bench, ref, fixed)]
    kbs = [knowledge.imitation(bench, ref, fixed, rows[0])]
    if bench.setup.config.teacher.rounds == 1:
        return Lessons(rows[0], kbs[0])
    for number in range(2, bench.setup.config.teacher.rounds + 1):
        rows.append(knowledge.teaching_signal(bench, ref, fixed, number, kbs[-1]))
        kbs.append(knowledge.imitation(bench, ref, fixed, TeachingSignal.pooled(rows), number))
    values = _judged(bench, ref, fixed, kbs)
    best = int(np.argmin(values))
    record = {**kbs[best].training, "teaching_rounds": values, "teaching_round": best + 1}
    return Lessons(TeachingSignal.of_rounds(rows[: best + 1]), replace(kbs[best], training=record), tuple(values))


def _judged(bench: Bench, ref: Reference, fixed: Tuned, kbs: list[KnowledgeBase]) -> list[float]:
    """Fitness of every round's knowledge base in the validation situations."""

    def compute(_: Path) -> dict[str, list[float]]:
        judged = refining.on_task(bench, ladder.validation_task(bench, ref.fitness, fixed))
        return {"fitness": [judged(kb) for kb in kbs]}

    return bench.stage("teaching_rounds", compute, *formats.as_json("rounds.json"))["fitness"]
