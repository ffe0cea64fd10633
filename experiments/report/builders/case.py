"""What all parts of the report look at: the finished run, its situations by the names that the reader sees."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.judged_rollouts import fitness_of, recommendable
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from controllers import PID
    from experiments.pipeline.bench import Bench
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference
    from experiments.report.records.results import Group
    from experiments.settings import Setup
    from plants import Plant
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.situations.situation import Situation
    from sscq.teaching.teaching_signal import TeachingSignal
    from sscq.verdict.verdict import Verdict

    Array = NDArray[np.float64]

BASELINE = "fixed"
EQUAL_TRAVEL = frozenset(
    {BASELINE, "two_degree", "table", "hand_made_scaled", "knowledge_base_direct", "knowledge_base", "lqi"}
)
"""Contenders that are searched with the fixed gains' travel in the taught situations as their limit."""

COMPARED = ("iae", "entropy_difference_abs", "total_variation")
"""Measures whose changes stand beside those of the cost, which may hide that one is bought with another."""

SHORT = {
    "own": "your present gains",
    "given": "knowledge base given",
    "table": "gain table",
    "margin_table": "margin-design table",
    "margin_table_fine": "finer margin-design table",
    "hand_made": "hand-made fuzzy PID",
    "hand_made_scaled": "scaled hand-made fuzzy PID",
    "lqi": "state feedback",
    "knowledge_base_direct": "knowledge base, no imitation",
    "imitation": "knowledge base, imitation only",
    "knowledge_base": "knowledge base",
    "knowledge_base_free": "knowledge base, free travel",
    "oracle": "oracle",
    "front_choice": "fixed PID from the front",
}
"""Names on second mention, by contender; the others keep their titles."""


@dataclass(frozen=True)
class PlacedSituation:
    """One declared situation.

    Attributes
    ----------
    kind : {"taught", "validation", "unforeseen"}
    number : int
        Within its kind.
    overall : int
        Among all declared situations: taught, validation, unforeseen.
    label : str
        Its name, with the kind behind where two kinds share it.
    situation : Situation
    """

    kind: Group
    number: int
    overall: int
    label: str
    situation: Situation


@dataclass(frozen=True, eq=False)
class FinishedDesign:
    """A finished design run."""

    bench: Bench
    ref: Reference
    group: tuple[Tuned, ...]
    judgement: Judgement
    signal: TeachingSignal
    refined: Mapping[str, Refined]
    fronts: tuple[Front, ...] = ()

    @property
    def setup(self) -> Setup:
        """The objects of the design."""
        return self.bench.setup

    @property
    def plant(self) -> Plant:
        """The plant."""
        return self.setup.plant

    @property
    def fitness(self) -> Fitness:
        """The fitness with its references: the cost J of the report."""
        return self.ref.fitness

    @property
    def verdict(self) -> Verdict:
        """The verdict of the run."""
        return self.judgement.verdict

    @property
    def judged(self) -> Group:
        """Kind of the situations on which the verdict rests."""
        return self.judgement.judged  # type: ignore[return-value]  # one of the groups

    def kind_for(self, name: str) -> Group:
        """Return the kind in which a contender is judged: an oracle has parameters for the named situations alone."""
        return self.judged if (name, self.judged) in self.judgement.fitness else "unforeseen"

    def costs(self, name: str, kind: str) -> Array:
        """Return the fitness of a contender [sample, situation]: seeds are samples, and so is each fresh draw."""
        return self.sampled(self.judgement.fitness[name, kind], kind)

    def sampled(self, table: NDArray[Any], kind: str) -> NDArray[Any]:
        """Return a table [seed, situation] as [sample, situation]."""
        return table.T if kind == "drawn" else table

    @cached_property
    def contenders(self) -> dict[str, Tuned]:
        """Contenders by name."""
        return {c.name: c for c in self.group}

    @cached_property
    def ladder(self) -> tuple[str, ...]:
        """Names of those that may be recommended, simplest first."""
        return recommendable(self.contenders)

    @cached_property
    def places(self) -> tuple[PlacedSituation, ...]:
        """All declared situations, in the order of an oracle's rows."""
        pairs = [(kind, number, s) for kind in KINDS for number, s in enumerate(self.setup.sets[kind])]
        shared = Counter(s.name for _, _, s in pairs)
        return tuple(
            PlacedSituation(kind, number, overall, s.name if shared[s.name] == 1 else f"{s.name} ({kind})", s)  # type: ignore[arg-type]
            for overall, (kind, number, s) in enumerate(pairs)
        )

    def seeds(self, kind: str) -> int:
        """Return with how many seeds the situations of a kind were judged."""
        return len(self.judgement.fitness[BASELINE, kind])

    def measure(self, name: str, kind: str, measure: str) -> Array:
        """Return a measure of a contender [seed, situation]."""
        return self.measure_of(self.judgement.quality[name, kind], measure)

    def failed(self, name: str, kind: str) -> NDArray[np.bool_]:
        """Return which rollouts of a contender diverged [seed, situation]."""
        return np.isfinite(self.measure(name, kind, "diverged_at"))

    def others(self, name: str, kind: str) -> tuple[Array, ...]:
        """Return what other searches found for a contender [measure, seed, situation], where its kind decides."""
        return self.judgement.others.get(name, ()) if kind == self.judged else ()

    def costs_of(self, table: Array, kind: str) -> Array:
        """Return the fitness of a table of measures [seed, situation]."""
        return fitness_of(self.bench, self.fitness, kind, table)

    def measure_of(self, table: Array, measure: str) -> Array:
        """Return one measure of a table of measures [seed, situation]."""
        return table[self.judgement.measures.index(measure)]

    def law(self, channel: int) -> PID:
        """Return the law of a channel."""
        return self.setup.laws[channel]

    def filter_time(self, channel: int) -> float:
        """Return the derivative filter time [s] to type in: without a filter, one sample passes the rate unchanged."""
        law = self.law(channel)
        return law.derivative_filter_time or law.sample_time or self.setup.step

    def limits(self, channel: int) -> tuple[float, float]:
        """Return the command limits of a channel: the law's, else the plant's."""
        own = self.law(channel).limits
        return own or (self.plant.channels[channel].low, self.plant.channels[channel].high)

    def name(self, contender: str) -> str:
        """Return what a contender is called on second mention."""
        return SHORT.get(contender, self.contenders[contender].title)

    def the(self, contender: str) -> str:
        """Return the name as it stands in a sentence."""
        name = self.name(contender)
        return name if name.startswith("your") else f"the {name}"
