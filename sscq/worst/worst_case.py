"""The worst control situation of an envelope, looked for by the genetic search and polished by CMA-ES.

The genome is the situation, and a generation is one call of the kernel whose lanes are situations. As many situations
drawn at random are the baseline that any such search must beat; being drawn independently, they are a statistical
certificate as well (:func:`sscq.failure_bound`): an exact one-sided bound. Source: C. J. Clopper and E. S. Pearson, The
use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26 (1934), 404-413.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.fitness import Fitness
from sscq.search.cmaes import CmaEs
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.method import share, whole
from sscq.search.search import evolve
from sscq.worst.envelope import usual_envelope
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.trials import TrialLoops, TrialRecord, Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.search.history import SearchProgress
    from sscq.situations.situation import Situation
    from sscq.worst.envelope import Envelope

_SIGMA = 0.1  # of the polish, as part of each range
_DRAWN = 500  # situations drawn at random that one call simulates
_FEWEST = 20  # evaluations


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst situation that was found.

    Attributes
    ----------
    situation : Situation
    genome : array [n_genes]
        The same as the genes of the envelope.
    J, reference_cost : float
        Its cost, and the reference's there; NaN where nothing was compared with.
    diverged_at : float
        Time at which the rollout left the plant's region [s]; NaN where it did not.
    failed : bool
    badness : float
        What the search maximised; see :func:`sscq.worst.trials.badness`.
    median_cost : float
        Of all situations simulated: what is usual in the baseline.
    history : TrialRecord
    n_evaluations : int
        Situations simulated.
    n_failures : int
        Failures among them.
    first_failure : int, optional
        Number of the evaluation that was the first failure; None: there was none.
    n_skipped : int
        Situations that were not simulated, because the plant refuses to begin there.
    failing : array [n_failures, n_genes]
        The failures as genes.
    random_baseline : WorstCase, optional
        The worst of as many situations drawn at random; None in the baseline itself.
    """

    situation: Situation
    genome: NDArray[np.float64]
    J: float
    reference_cost: float
    diverged_at: float
    failed: bool
    badness: float
    median_cost: float
    history: TrialRecord
    n_evaluations: int
    n_failures: int
    first_failure: int | None
    n_skipped: int
    failing: NDArray[np.float64]
    random_baseline: WorstCase | None = None

    @property
    def worst_of_all(self) -> WorstCase:
        """Itself, or the random baseline where that found worse: too few evaluations for the search to tell."""
        drawn = self.random_baseline
        return drawn if drawn is not None and drawn.badness > self.badness else self

    def failure_bound(self, confidence: float = 0.95) -> float:
        """Return the upper confidence bound on the failure probability in the envelope, from the random baseline.

        It holds for situations uniform in the envelope, and for a controller that was not tuned on this draw.
        """
        drawn = self.random_baseline or self
        return failure_bound(drawn.n_evaluations, drawn.n_failures, confidence)


def worst_case(
    plant: Plant,
    controller: Any,
    gains: Any = None,
    envelope: Envelope | None = None,
    *,
    against: tuple[Any, Any] | None = None,
    fitness: Fitness | None = None,
    fail_above: float | None = None,
    step: float | None = None,
    evaluations: int = 2000,
    seed: int = 0,
    population: int | None = None,
    polish: float = 0.25,
    integrator: str = "rk4",
    algebraic_loop: str = "solved",
    threads: int | None = None,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
    report: Callable[[int], object] | None = None,
) -> WorstCase:
    """Look for the situation in which a controller is worst.

    Parameters
    ----------
    plant : Plant
    controller, gains
        As for :func:`sscq.evaluate`; one set of gains.
    envelope : Envelope, optional
        Left out: :func:`sscq.usual_envelope`.
    against : (controller, gains), optional
        Maximise the loss against this one in the same situation; left out: the cost itself.
    fitness : Fitness, optional
        What a situation costs, situation by situation; left out: raw IAE and entropy production difference.
    fail_above : float, optional
        A cost above this is a failure as well; left out: only a rollout that diverges is.
    step : float, optional
        Integration step [s]; left out: the plant's.
    evaluations : int
        Situations to be simulated by the search, and as many again by the random baseline; with `against`, each of
        them twice.
    seed : int
        All randomness. The result does not depend on the number of threads.
    population : int, optional
        Of the genetic search.
    polish : float
        Share of the evaluations that CMA-ES spends around what the genetic search has found; it may converge before.
    device : str
        "cuda": on an NVIDIA GPU, as for :func:`sscq.evaluate`; pays from populations of some thousand on.
    settings : mapping, optional
        Of every situation, in place of what is drawn, such as {"dropout": 0.1}.
    report : callable, optional
        Called with the number of situations tried so far: those of the search, then as many that are drawn.

    Returns
    -------
    WorstCase
        Divergence is worse than any other failure, and failure worse than any cost.

    Raises
    ------
    ValueError
        Where the envelope does not fit the plant, a number is out of its range, or the plant refuses all
        situations that were tried.
    """
    whole("evaluations", evaluations, _FEWEST)
    whole("seed", seed, 0)
    given = usual_envelope(plant) if envelope is None else envelope
    options = {"integrator": integrator, "algebraic_loop": algebraic_loop, "device": device}
    bench = TrialLoops(
        EnvelopeGenes(plant, given, settings), fitness or Fitness(), step or plant.step, fail_above, options, threads
    )
    trials = Trials(bench, controller, gains, against)
    tell = report or (lambda _: None)

    def after_generation(_: SearchProgress) -> None:
        tell(trials.n_evaluations + trials.n_skipped)

    _explore(trials, evaluations - round(share("polish", polish) * evaluations), seed, population, after_generation)
    _polish(trials, evaluations - trials.n_evaluations - trials.n_skipped, seed, after_generation)
    drawn = Trials(bench, controller, gains, against)
    genomes = bench.genes.draw(trials.n_evaluations + trials.n_skipped, seed)
    for first in range(0, len(genomes), _DRAWN):
        drawn(genomes[first : first + _DRAWN])
        tell(len(genomes) + min(first + _DRAWN, len(genomes)))
    for tried in (trials, drawn):
        if not tried.n_evaluations:
            raise ValueError(
                f"plant {plant.name!r} refuses all of {tried.n_skipped} situations of the envelope that were tried: it "
                "cannot start or rest there; narrow its ranges of initial states, parameters and references"
            )
    return _result(trials, _result(drawn))


def _explore(
    trials: Trials,
    evaluations: int,
    seed: int,
    population: int | None,
    report: Callable[[SearchProgress], None],
) -> None:
    """Search the whole envelope."""
    box = trials.bench.genes.box
    method = GeneticAlgorithm(evaluations=evaluations, population=population, stall_generations=None)
    evolve(trials, box.low, box.high, method, seed, report=report, scale=box.scale, names=box.names)


def _polish(trials: Trials, evaluations: int, seed: int, report: Callable[[SearchProgress], None]) -> None:
    """Search around the worst so far; delays, kind and noise path stay as they are."""
    box = trials.bench.genes.box
    steps = np.array(box.scale) == "step"
    low, high = (np.where(steps, trials.genome, ends) for ends in (box.low, box.high))
    if evaluations < 1 or not (low < high).any():
        return
    method = CmaEs(evaluations=evaluations, sigma=_SIGMA, restarts=0)
    evolve(trials, low, high, method, seed, trials.genome[None], report=report, scale=box.scale, names=box.names)


def _result(trials: Trials, baseline: WorstCase | None = None) -> WorstCase:
    return WorstCase(
        situation=trials.bench.genes.situation(trials.genome),
        genome=trials.genome,
        J=trials.cost,
        reference_cost=trials.reference,
        diverged_at=trials.diverged_at,
        failed=trials.failed,
        badness=trials.worst,
        median_cost=trials.median_cost,
        history=trials.course(),
        n_evaluations=trials.n_evaluations,
        n_failures=trials.n_failures,
        first_failure=trials.first_failure,
        n_skipped=trials.n_skipped,
        failing=trials.failing,
        random_baseline=baseline,
    )


def failure_bound(n: int, k: int, confidence: float = 0.95) -> float:
    """Return the upper confidence bound on the failure probability after `k` failures in `n` independent draws.

    Parameters
    ----------
    n : int
        Situations drawn independently from one distribution, after the controller was fixed.
    k : int
        Failures among them.
    confidence : float
        Probability that the bound is at least the true failure probability; between 0 and 1.

    Returns
    -------
    float
        The largest p for which ``k`` or fewer failures in `n` have a probability of at least 1 - confidence. Without a
        failure it is 1 - (1 - confidence)**(1 / n): 299 draws give 1 % at 95 %.

    Raises
    ------
    ValueError
        If these are no such numbers.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"n must be an integer >= 1 (situations drawn), got {n!r}")
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= n:
        raise ValueError(f"k must be an integer from 0 to n = {n} (failures), got {k!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(math.log1p(-confidence) / n)
    from scipy.special import betaincinv

    return float(betaincinv(k + 1, n - k, confidence))
