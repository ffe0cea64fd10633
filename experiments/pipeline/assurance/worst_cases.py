"""The worst situation of the declared ranges as part of a design: of who is to be recommended, and of the fixed gains.

The same search as `sscq worst`, with equal budget and seeds for both. A controller whose loop is lost in what was
found, where the fixed gains keep theirs, must not replace them. `metrics.json` has it under ``assurance.worst_cases``,
by contender, see :class:`WorstFinding`; a report has it in `Judgement.worst_cases`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.runtime import formats
from experiments.runtime.tables import in_words
from experiments.settings.situations import common
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.trials import TrialLoops
from sscq.worst.worst_case import worst_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from experiments.pipeline.bench import Bench
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.worst.worst_case import WorstCase

    Array = NDArray[np.float64]

BASELINE = "fixed"
_MOST_FAILING = 100  # failures that the fixed gains are asked about, too


@dataclass(frozen=True)
class WorstFinding:
    """The worst situation that was found for one controller.

    Attributes
    ----------
    values : mapping
        The situation, by the names of the ranges; see :meth:`sscq.worst.genome.EnvelopeGenes.values`.
    costs : mapping of contender to float
        Cost J there, of the controller and of the fixed gains.
    diverged_at : mapping of contender to float or None
        When the loop was lost there [s].
    broken : mapping of contender to list of str
        Limits of the fitness that it breaks there.
    median_cost : float
        In the situations drawn.
    searched, drawn : int
        Situations that the search simulated, and as many drawn at random.
    failures, drawn_failures : int
        Situations among both, and among those drawn, in which the loop was lost.
    skipped : int
        Situations that were not simulated, because the plant cannot start or rest there.
    lost_alone : int
        Situations of both searches in which its loop is lost and that of the fixed gains is not.
    reason : str
        Why there was no search; empty: there was.
    """

    values: dict[str, float] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    diverged_at: dict[str, float | None] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=dict)
    median_cost: float = 0.0
    searched: int = 0
    drawn: int = 0
    failures: int = 0
    drawn_failures: int = 0
    skipped: int = 0
    lost_alone: int = 0
    reason: str = ""

    def against(self, name: str) -> tuple[str, ...]:
        """Return why the controller of this name must not replace the fixed gains."""
        if self.reason or name == BASELINE:
            return ()
        if self.lost_alone:
            where = "a situation" if self.lost_alone == 1 else f"{self.lost_alone} situations"
            return (
                f"the search for its worst case found {where} in which it loses the loop and the fixed gains do not",
            )
        alone = [limit for limit in self.broken[name] if limit not in self.broken[BASELINE]]
        told = f"in its worst case it breaks limits that the fixed gains keep there: {', '.join(alone)}"
        return (told,) if alone else ()


@dataclass(frozen=True)
class TrialOutcome:
    """Of a controller in situations [n]: cost, time of divergence; limits that it breaks in the first."""

    cost: Array
    diverged_at: Array
    broken: list[str]


class WorstSearches:
    """Searches for the worst case, made when they are asked for and then kept; one stage of the run for each.

    Parameters
    ----------
    bench : Bench
    fitness : Fitness
        With its references: the cost J of the report.
    group : sequence of Tuned
        All contenders, the fixed PID among them.

    Attributes
    ----------
    found : dict of contender to WorstFinding
        So far; empty where none are asked for.
    """

    def __init__(self, bench: Bench, fitness: Fitness, group: Sequence[Tuned]) -> None:
        self.bench, self.fitness = bench, fitness
        self.contenders = {one.name: one for one in group}
        self.found: dict[str, WorstFinding] = {}

    def ask(self, name: str) -> tuple[str, ...]:
        """Return what the search for its worst case says against a contender."""
        return self.finding(name).against(name) if self.bench.setup.config.assurance.worst_evaluations else ()

    def finding(self, name: str) -> WorstFinding:
        """Return the worst case of a contender; the fixed gains' own search is made before all others."""
        if name != BASELINE and BASELINE not in self.found:
            self.finding(BASELINE)
        if name not in self.found:
            stored = self.bench.stage(
                f"worst_of_{name}", lambda _: asdict(self._searched(name)), *formats.as_json("worst.json")
            )
            self.found[name] = WorstFinding(**stored)
        return self.found[name]

    def _searched(self, name: str) -> WorstFinding:
        setup, one = self.bench.setup, self.contenders[name]
        budget = setup.config.assurance.worst_evaluations
        with self.bench.progress(2 * budget, f"worst case: {one.title}", "situations") as progress:
            try:
                found = worst_case(
                    one.plant or setup.plant,
                    one.controller,
                    one.theta,
                    setup.ranges,
                    fitness=self.fitness,
                    step=setup.step,
                    evaluations=budget,
                    seed=setup.seed,
                    threads=setup.threads,
                    settings=common(setup.config),
                    report=progress.at,
                    **setup.options,
                )
            except ValueError as error:
                return WorstFinding(reason=str(error))
        return self._compared(name, found)

    def _compared(self, name: str, found: WorstCase) -> WorstFinding:
        """Both controllers in the worst case, and where one alone loses its loop."""
        worst, drawn = found.worst_of_all, found.random_baseline
        assert drawn is not None  # noqa: S101  (the search has one)
        pair = dict.fromkeys((name, BASELINE))
        genes = self.loops(name).genes
        genome = self._worse_of(name, worst.genome, genes)
        there = {key: self.outcome(key, genome[None]) for key in pair}
        return WorstFinding(
            values=genes.values(genome),
            costs={key: float(one.cost[0]) for key, one in there.items()},
            diverged_at={key: _or_none(float(one.diverged_at[0])) for key, one in there.items()},
            broken={key: one.broken for key, one in there.items()},
            median_cost=drawn.median_cost,
            searched=found.n_evaluations,
            drawn=drawn.n_evaluations,
            failures=found.n_failures + drawn.n_failures,
            drawn_failures=drawn.n_failures,
            skipped=found.n_skipped + drawn.n_skipped,
            lost_alone=0 if name == BASELINE else self._lost_alone(name, np.vstack([found.failing, drawn.failing])),
        )

    def _worse_of(self, name: str, genome: Array, genes: EnvelopeGenes) -> Array:
        """Which is worse for the controller: the worst that its own search found, or the fixed gains' worst case."""
        own = self.found.get(BASELINE)
        if name == BASELINE or own is None or own.reason:
            return genome
        other = genes.genome(own.values)
        cost = self.outcome(name, np.vstack([genome, other])).cost  # a lost loop costs more than any that is kept
        return other if cost[1] > cost[0] else genome

    def _lost_alone(self, name: str, failing: Array) -> int:
        """In how many of its own failures, and of the fixed gains' worst case, the fixed gains keep their loop."""
        own = self.found[BASELINE]
        genomes = failing[:_MOST_FAILING]
        if not own.reason:
            genomes = np.vstack([genomes, self.loops(name).genes.genome(own.values)])
        if not len(genomes):
            return 0
        lost, fixed = (np.isfinite(self.outcome(key, genomes).diverged_at) for key in (name, BASELINE))
        return int((lost & ~fixed).sum())

    def loops(self, name: str) -> TrialLoops:
        """Return how situations of the declared ranges are simulated for a contender."""
        setup = self.bench.setup
        genes = EnvelopeGenes(self.contenders[name].plant or setup.plant, setup.ranges, common(setup.config))
        return TrialLoops(genes, self.fitness, setup.step, None, dict(setup.options), setup.threads)

    def outcome(self, name: str, genomes: Array) -> TrialOutcome:
        """Return what becomes of a contender in situations as genes [n, n_genes]."""
        loops, one = self.loops(name), self.contenders[name]
        quality = loops.quality(one.controller, one.theta, genomes)
        costs = loops.costs(quality, len(genomes))
        limits: dict[str, float] = dict(self.fitness.own_limits)
        if self.fitness.saturation_limit is not None:
            limits["saturated_time"] = self.fitness.saturation_limit
        broken = [in_words(limit) for limit, most in limits.items() if quality.until_lost[limit][0, 0] > most]
        return TrialOutcome(costs.cost, costs.diverged_at, broken)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
