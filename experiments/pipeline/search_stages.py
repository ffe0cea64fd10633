"""All searches of a design, in their order: what is judged comes out of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.pipeline import aggregation, front, judging, knowledge, ladder, rungs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Bench, Reference
    from experiments.pipeline.rungs import Rungs
    from sscq.baselines.tuned import Tuned
    from sscq.teaching.teaching_signal import TeachingSignal


@dataclass(frozen=True)
class SearchedDesign:
    """What the searches of a design found, before it is judged.

    Attributes
    ----------
    bench : Bench
        With the box of gains in which was searched.
    group : list of Tuned
        All that is judged, simplest first.
    signal : TeachingSignal
    refined : mapping of "equal", "free" to Refined
        At the fixed PID's travel, and at free travel.
    """

    bench: Bench
    reference: Reference
    fixed: Tuned
    group: list[Tuned]
    signal: TeachingSignal
    refined: dict[str, Refined]
    fronts: Sequence[Front]
    further: Rungs

    def judged(self) -> Judgement:
        """Return how all do in the same rollouts, and what is recommended."""
        on_wall = ladder.on_wall(self.bench.setup, self.fixed)
        return judging.judge(self.bench, self.reference.fitness, self.group, on_wall)


def searched(bench: Bench) -> SearchedDesign:
    """Search, or read what has been: ladder of baselines, teacher, knowledge base, refinement."""
    bench = ladder.widened_box(bench)
    reference = ladder.reference(bench)
    fixed = ladder.fixed_gains(bench, reference)
    equal = replace(reference.fitness, travel_limit=ladder.travel(bench, reference, fixed))
    others = judging.choose_table(bench, reference, ladder.richer(bench, reference, fixed, equal))
    oracle = ladder.oracle(bench, reference, fixed)
    lessons = aggregation.taught(bench, reference, fixed)
    refined = {
        "equal": knowledge.refined(bench, equal, lessons.kb, fixed, "equal"),
        "free": knowledge.refined(bench, reference.fitness, lessons.kb, fixed, "free"),
    }
    further = rungs.further(bench, fixed, equal, lessons.kb)
    group = judging.contenders(bench, reference, fixed, others, oracle, lessons.kb, refined, further.contenders)
    fronts = front.search(bench, reference, fixed, refined, further.contenders)
    fronts = front.decided(bench, reference, fronts, group)
    group += front.contenders(bench, fronts)
    return SearchedDesign(bench, reference, fixed, group, lessons.signal, refined, fronts, further)
