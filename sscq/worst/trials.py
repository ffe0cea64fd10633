"""One controller in situations of an envelope: what each costs, whether it fails, and how bad that is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.evaluate import as_theta
from sscq.worst.genome import begins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.fitness import Fitness
    from sscq.loop.quality import Quality
    from sscq.worst.genome import EnvelopeGenes

_TIER = 2.0  # costs are squeezed into (-1, 1), so that tiers of failures never meet them


@dataclass(frozen=True)
class TrialRecord:
    """How a search or a draw went on: one entry for each call of the kernel.

    Attributes
    ----------
    evaluations : array of int
        Situations simulated so far.
    cost : array
        Of the worst situation so far.
    failures : array of int
        So far.
    """

    evaluations: NDArray[np.int64]
    cost: NDArray[np.float64]
    failures: NDArray[np.int64]


@dataclass(frozen=True)
class TrialCosts:
    """Of several situations; arrays [situation]. `reference` is empty where nothing is compared with."""

    cost: NDArray[np.float64]
    diverged_at: NDArray[np.float64]
    failed: NDArray[np.bool_]
    reference: NDArray[np.float64]
    reference_failed: NDArray[np.bool_]


@dataclass(frozen=True)
class TrialLoops:
    """How situations are simulated and judged, the same for all controllers.

    Attributes
    ----------
    genes : EnvelopeGenes
        Plant and envelope.
    fitness : Fitness
    step : float
        Integration step [s].
    fail_above : float, optional
        A cost above this is a failure, as is a rollout that diverges; None: only that.
    options : mapping
        Integrator, loop mode and device.
    threads : int, optional
    """

    genes: EnvelopeGenes
    fitness: Fitness
    step: float
    fail_above: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    threads: int | None = None

    def loop(self, controller: Any, genomes: NDArray[np.float64]) -> ClosedLoop:
        """Return the closed loop in the situations of genomes, then in the envelope's anchors: always one kernel."""
        several = (*(self.genes.situation(genome) for genome in genomes), *self.genes.anchors())
        return ClosedLoop(
            self.genes.plant, controller, several, self.step, measures=self.fitness.measures,
            entropy_scale=self.fitness.entropy_scale, **self.options,
        )  # fmt: skip

    def quality(self, controller: Any, gains: Any, genomes: NDArray[np.float64]) -> Quality:
        """Return the measures of one controller in the situations of genomes, and in the anchors behind them."""
        loop = self.loop(controller, genomes)
        theta = as_theta(controller, loop, gains)
        if len(theta) != 1:
            raise ValueError(f"the worst situation is looked for with one set of gains, got {len(theta)}")
        return loop.evaluate(theta, self.threads)

    def costs(self, quality: Quality, n: int) -> TrialCosts:
        """Return what the first `n` situations cost, compared with nothing."""
        cost, diverged = self.fitness.per_situation(quality)[:n, 0], quality.diverged_at[:n, 0]
        failed = np.isfinite(diverged)
        if self.fail_above is not None:
            failed = failed | (cost > self.fail_above)
        return TrialCosts(cost, diverged, failed, np.empty(0), np.empty(0, bool))

    def kernel_digest(self, controller: Any) -> str:
        """Return a digest of the compiled closed loop: another one is another plant, controller or program."""
        loop = self.loop(controller, np.empty((0, self.genes.box.n_genes)))
        return hashlib.sha256(loop.kernel.text.encode()).hexdigest()[:16]


class Trials:
    """Values situations for a search, and remembers the worst.

    Parameters
    ----------
    bench : TrialLoops
    controller, gains
        Who is judged.
    against : (controller, gains), optional
        Whose cost in the same situation is subtracted.

    Attributes
    ----------
    n_evaluations, n_failures : int
        Situations simulated, and failures among them.
    n_skipped : int
        Situations that were not simulated, because the plant refuses them, see :func:`sscq.worst.genome.begins`.
    """

    def __init__(self, bench: TrialLoops, controller: Any, gains: Any, against: tuple[Any, Any] | None = None) -> None:
        self.bench, self.judged, self.against = bench, (controller, gains), against
        self.genome = np.array(bench.genes.box.low)
        self.worst = -np.inf
        self.cost = self.diverged_at = self.reference = np.nan
        self.failed = False
        self.n_evaluations = self.n_failures = self.n_skipped = 0
        self.first_failure: int | None = None
        self._course: list[tuple[int, float, int]] = []
        self._seen: list[NDArray[np.float64]] = []
        self._failing: list[NDArray[np.float64]] = []

    def __call__(self, genomes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the badness [n] of genomes [n, n_genes]: searches minimise.

        What the plant refuses is skipped, and infinite: worse for a search than all else.
        """
        genes = self.bench.genes
        there = np.array([begins(genes.plant, genes.situation(genome), self.bench.step) for genome in genomes])
        self.n_skipped += int((~there).sum())
        values = np.full(len(genomes), np.inf)
        if there.any():
            values[there] = self._valued(genomes[there])
        return values

    def _valued(self, genomes: NDArray[np.float64]) -> NDArray[np.float64]:
        found = self.costs(genomes)
        bad = badness(found, self.bench.fitness.diverged)
        row = int(np.argmax(bad))
        if bad[row] > self.worst:
            self.worst, self.genome = float(bad[row]), genomes[row].copy()
            self.cost, self.diverged_at = float(found.cost[row]), float(found.diverged_at[row])
            self.failed = bool(found.failed[row])
            self.reference = float(found.reference[row]) if found.reference.size else np.nan
        if self.first_failure is None and found.failed.any():
            self.first_failure = self.n_evaluations + int(np.argmax(found.failed)) + 1
        self._seen.append(found.cost)
        self._failing.append(genomes[found.failed])
        self.n_evaluations += len(genomes)
        self.n_failures += int(found.failed.sum())
        self._course.append((self.n_evaluations, self.cost, self.n_failures))
        return -bad

    def costs(self, genomes: NDArray[np.float64]) -> TrialCosts:
        """Return what situations cost, with the reference's beside where there is one."""
        mine = self._costs(*self.judged, genomes)
        if self.against is None:
            return mine
        other = self._costs(*self.against, genomes)
        return TrialCosts(mine.cost, mine.diverged_at, mine.failed, other.cost, other.failed)

    def _costs(self, controller: Any, gains: Any, genomes: NDArray[np.float64]) -> TrialCosts:
        return self.bench.costs(self.bench.quality(controller, gains, genomes), len(genomes))

    @property
    def median_cost(self) -> float:
        """Of all situations so far."""
        return float(np.median(np.concatenate(self._seen)))

    @property
    def failing(self) -> NDArray[np.float64]:
        """Genomes of the failures so far [n_failures, n_genes]."""
        return np.concatenate(self._failing)

    def course(self) -> TrialRecord:
        """Return how it went on."""
        evaluations, cost, failures = zip(*self._course, strict=True)
        return TrialRecord(np.array(evaluations, np.int64), np.array(cost, float), np.array(failures, np.int64))


def badness(found: TrialCosts, scale: float) -> NDArray[np.float64]:
    """Return what is maximised [n]: divergence before any other failure before cost.

    Compared with a reference, cost is the loss against it, and a situation in which both fail counts as no loss: the
    controller is not to blame. Costs are squeezed by ``c / (|c| + scale)``, which keeps their order.
    """
    diverged, failed, loss = np.isfinite(found.diverged_at), found.failed, found.cost
    if found.reference.size:
        both = failed & found.reference_failed
        diverged, failed = diverged & ~both, failed & ~both
        loss = np.where(both, 0.0, found.cost - found.reference)
    tier = np.where(diverged, 2.0, np.where(failed, 1.0, 0.0))
    return _TIER * tier + loss / (np.abs(loss) + scale)
