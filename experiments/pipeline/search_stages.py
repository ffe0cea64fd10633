"""All searches of a design, in their order: what is judged comes out of them.

Every controller is searched in rounds, each longer than the one before, and in each round `seeds` times, by seeds of
their own. The taught and the validation situations together choose which search is delivered: its luck is part of the
design, and the verdict's interval knows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from experiments.pipeline import aggregation, choice, front, judging, knowledge, ladder, rungs, scheduling_inputs
from experiments.pipeline.assurance import margins_over_ranges, moved_inside
from experiments.pipeline.refining import completed
from experiments.settings import start
from flcs import FuzzyController

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.choice import SearchChoice
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference
    from experiments.pipeline.rungs import Rungs
    from flcs import KnowledgeBase
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.margins.operating import OperatingMargins
    from sscq.teaching.teaching_signal import TeachingSignal


@dataclass(frozen=True)
class Found:
    """What the searches of one seed found.

    Attributes
    ----------
    group : list of Tuned
        All that is judged, simplest first.
    signal : TeachingSignal
    refined : mapping of "equal", "free" to Refined
        At the fixed PID's travel, and at free travel.
    further : Rungs
    """

    group: list[Tuned]
    signal: TeachingSignal
    refined: dict[str, Refined]
    further: Rungs


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
    others : mapping of contender to tuple of Tuned
        What the other searches found for it, the best first.
    """

    bench: Bench
    reference: Reference
    fixed: Tuned
    group: list[Tuned]
    signal: TeachingSignal
    refined: dict[str, Refined]
    fronts: Sequence[Front]
    further: Rungs
    others: Mapping[str, tuple[Tuned, ...]] = field(default_factory=dict)

    def judged(self) -> tuple[Bench, Judgement]:
        """Return how all do in the same rollouts, what is recommended, and the bench with the situations of these."""
        on_wall = ladder.on_wall(self.bench.setup, self.fixed)
        return judging.judge(self.bench, self.reference.fitness, self.group, on_wall, self.others)


def searched(bench: Bench) -> SearchedDesign:
    """Search, or read what has been: ladder of baselines, teacher, knowledge base, refinement, trade-off fronts."""
    bench = ladder.widened_box(bench)
    reference = ladder.reference(bench)
    several = choice.fixed(bench, reference, bench.of_searches(lambda one: ladder.fixed_gains(one, reference)))
    rounds = [_Round.of(bench, reference, best) for best in several]
    fixed, equal, bench.asked = rounds[-1].fixed, rounds[-1].equal, rounds[-1].asked
    oracle, found = bench.side_by_side(
        [
            lambda one: ladder.oracle(one, reference, fixed),
            lambda one: one.of_searches(
                lambda each: _found(each, reference, fixed, rounds[bench.setup.round_of(each.search)])
            ),
        ]
    )
    groups = [judging.with_oracle(bench, one.group, fixed, oracle) for one in found]
    ahead = margins_over_ranges.Foresights(bench, fixed)
    chosen = choice.chosen(bench, equal, fixed, groups, ahead)
    group, others = chosen.delivered(groups)
    group = moved_inside.kept_inside(bench, equal, fixed, group, ahead)
    kbs = {one.name: one.controller.kb for one in group if isinstance(one.controller, FuzzyController)}
    refined = {kind: replace(found[chosen.of(name)].refined[kind], kb=kbs[name]) for kind, name in _REFINED.items()}
    further = _further([one.further for one in found], chosen, group, kbs)
    fronts = front.search(bench, reference, fixed, refined, further.contenders)
    fronts = front.decided(bench, reference, fronts, group)
    group += front.contenders(bench, fronts)
    signal = found[chosen.of("knowledge_base")].signal
    return SearchedDesign(bench, reference, fixed, group, signal, refined, fronts, further, others)


_REFINED = {"equal": "knowledge_base", "free": "knowledge_base_free"}


@dataclass(frozen=True)
class _Round:
    """What the searches of a round begin with, and what they have to keep: the best fixed PID so far, and what it has.

    A later round's fixed gains may be better in the last digits; an earlier round does what it does in a design that
    has no later one.
    """

    fixed: Tuned
    equal: Fitness
    asked: OperatingMargins | None

    @classmethod
    def of(cls, bench: Bench, reference: Reference, fixed: Tuned) -> Self:
        equal = ladder.equal_limits(bench, reference, fixed)
        return cls(fixed, equal, margins_over_ranges.asked(bench, fixed))


def _found(bench: Bench, reference: Reference, delivered: Tuned, own: _Round) -> Found:
    fixed, equal, bench.asked = own.fixed, own.equal, own.asked
    richer = ladder.richer(bench, reference, fixed, equal)
    others = judging.choose_table(bench, reference, richer)
    bench, designed = scheduling_inputs.chosen(bench, fixed, equal)
    lessons = aggregation.taught(bench, reference, fixed)

    def starts(kb: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
        known = scheduling_inputs.designed_starts(bench, designed, kb, fixed)
        return (*start.starts(bench.setup, kb), *known)

    known = starts(completed(lessons.kb))
    same, free, further = bench.side_by_side(
        [
            lambda one: knowledge.refined(one, equal, lessons.kb, fixed, "equal", known),
            lambda one: knowledge.refined(one, reference.fitness, lessons.kb, fixed, "free", known),
            lambda one: rungs.further(one, fixed, equal, lessons.kb, starts),
        ]
    )
    refined = {"equal": same, "free": free}
    group = judging.contenders(bench, reference, delivered, others, lessons.kb, refined, further.contenders)
    return Found(group, lessons.signal, refined, further)


def _further(
    several: Sequence[Rungs], chosen: SearchChoice, group: Sequence[Tuned], kbs: Mapping[str, KnowledgeBase]
) -> Rungs:
    """Return the further rungs as they are delivered, each of the search that was chosen for it."""
    names = {one.name for one in several[0].contenders}
    return replace(
        several[0],
        contenders=tuple(one for one in group if one.name in names),
        kbs={name: kbs.get(name, several[chosen.of(name)].kbs[name]) for name in several[0].kbs},
    )
