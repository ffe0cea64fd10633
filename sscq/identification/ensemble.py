"""Plants that could have produced a log: members of both structures, with the tests that say whether they can be used.

ensemble = identify([record], sense=1.0, seed=0)
ensemble.refusal                                     # "" or why the log cannot tell
ensemble.spread()                                    # members as a promise needs them
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.likelihood import log_likelihoods
from plants.identification.slow_filter import filtered
from sscq.identification.prior import LoopScales, OscillatingPrior, Prior, TwoLagsPrior
from sscq.identification.reading.log import Log
from sscq.identification.residuals import ResidualTest, residual_test
from sscq.identification.sampler import PosteriorSample, climbed, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure, Spans

    Array = NDArray[np.float64]

MEMBERS = 960
DISCREPANCY, OF_ONE_MOVE = 0.08, 0.16
"""How far members are spread because no plant is in the model class, in logarithms; the latter where the log holds one
informative move only."""

_CLIPPED = 30.0  # difference of log evidence: more than this is certain
_SPREAD_SEED = 7
_REACHED = (0.01, 0.99)


@dataclass(frozen=True, eq=False)
class StructureFit:
    """What the logs say of one structure.

    Attributes
    ----------
    prior : Prior
    sample : PosteriorSample
    evidence : float
        Logarithm of the structure's probability up to a constant, by Laplace's approximation.
    """

    prior: Prior
    sample: PosteriorSample
    evidence: float

    @cached_property
    def parameters(self) -> Array:
        """Of all members [n, n_parameters]."""
        return self.prior.parameters(self.sample.members)

    @property
    def best(self) -> Array:
        """Parameters [n_parameters] of the member with the largest density."""
        return self.parameters[int(self.sample.log_density.argmax())]


@dataclass(frozen=True, eq=False)
class PlantMembers:
    """Plants of one structure.

    Attributes
    ----------
    structure : PlantStructure
    parameters : array [n, n_parameters]
    """

    structure: PlantStructure
    parameters: Array

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.parameters)

    def column(self, name: str) -> Array:
        """Return one parameter [n]."""
        return self.parameters[:, self.structure.parameters.index(name)]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Plants that could have produced the logs.

    Attributes
    ----------
    records : tuple of LoopRecord
    sense : float
        1 or -1.
    fits : tuple of StructureFit
        Of every structure.
    weights : array [n_fits]
        Probability of each structure.
    residuals : ResidualTest
        Of the best member.
    input_evidence : float
        Gain in log density over a plant whose input does nothing.
    seed : int
    sense_evidence : float
        Log evidence over plants of the other sense; infinite where the sense was given.
    """

    records: tuple[LoopRecord, ...]
    sense: float
    fits: tuple[StructureFit, ...]
    weights: Array
    residuals: ResidualTest
    input_evidence: float
    seed: int = 0
    sense_evidence: float = math.inf

    @cached_property
    def members(self) -> tuple[PlantMembers, ...]:
        """Plants by structure, as many of each as its weight says."""
        counts = np.floor(self.weights * MEMBERS + 0.5).astype(int)
        return tuple(
            PlantMembers(fit.prior.structure, fit.parameters[_evenly(len(fit.parameters), n)])
            for fit, n in zip(self.fits, counts, strict=True)
            if n
        )

    def spread(self, discrepancy: float = DISCREPANCY) -> tuple[PlantMembers, ...]:
        """Return the members, each moved by what no plant of the class has: gain, lags and dead time.

        Logarithms of slope, decay and lag (of gain, damping and period) move by discrepancy times a normal number, dead
        times by discrepancy times one, of dead time, lag and half a row together.
        """
        return spread(self.members, self.records[0].step, discrepancy, self.seed)

    @property
    def reach(self) -> tuple[float, float]:
        """Where the plant's input went in the logs, as deviations from its middle: 1 and 99 % of the rows."""
        moved = np.concatenate([record.input - record.origin[1] for record in self.records])
        low, high = np.quantile(moved, _REACHED)
        return float(low), float(high)

    @property
    def knowledge(self) -> float:
        """Standard deviation of the logarithm of the gain over a row's step: how little the logs say."""
        # Within each structure: a slope and a gain have no common scale.
        variances = [(len(group), float(np.log(group.parameters[:, 0]).var())) for group in self.members]
        return float(np.sqrt(sum(n * v for n, v in variances) / sum(n for n, _ in variances)))

    @property
    def telling_step(self) -> float:
        """A step of the set point that stands out from what else moves the output."""
        noise = np.concatenate([group.column("noise") for group in self.members])
        moves = [float(np.nanstd(record.output)) for record in self.records]
        return max(_ABOVE_NOISE * float(np.median(noise)), _ABOVE_MOVES * max(moves))

    @property
    def refusal(self) -> str:
        """Why no controller should be designed from these logs; empty: none of the tests speaks against it."""
        ratio = max(fit.sample.spread_ratio for fit, w in zip(self.fits, self.weights, strict=True) if w > 0.01)
        if self.input_evidence < INPUT_EVIDENCE:
            return (
                f"the output hardly follows the plant's input (evidence {self.input_evidence:.1f}, at least "
                f"{INPUT_EVIDENCE:g}): step the set point by {self.telling_step:.2g} or more, once up and once down, "
                "each until the output has settled, and log that"
            )
        if self.sense_evidence < INPUT_EVIDENCE:
            return (
                f"the log does not tell whether more output raises or lowers the measured value (evidence "
                f"{self.sense_evidence:.1f}, at least {INPUT_EVIDENCE:g}): give the present gains with their signs, or "
                "log a move of the output in manual"
            )
        if self.residuals.portmanteau > PORTMANTEAU:
            return (
                f"no plant explains the log: what is left over is correlated (Ljung-Box of {self.residuals.lags} lags "
                f"{self.residuals.portmanteau:.0f}, at most {PORTMANTEAU:g})"
            )
        if self.residuals.far > FAR_SHARE:
            return (
                f"no plant explains the log: {100.0 * self.residuals.far:.1f} % of the rows are beyond four deviations "
                f"(at most {100.0 * FAR_SHARE:g} %)"
            )
        if self.knowledge > KNOWLEDGE:
            return (
                f"the log hardly tells the plant's gain (deviation of its logarithm {self.knowledge:.2f}, at most "
                f"{KNOWLEDGE:g})"
            )
        if ratio >= UNSETTLED:
            return f"the members differ from search to search (R-hat {ratio:.2f}): the log has several explanations"
        return ""


INPUT_EVIDENCE, PORTMANTEAU, FAR_SHARE, KNOWLEDGE = 6.0, 60.0, 0.02, 1.0
"""Limits of the tests, see `Ensemble.refusal`."""

_ABOVE_NOISE, _ABOVE_MOVES = 5.0, 3.0  # of the sensor's noise, and of all that the output did by itself
UNSETTLED = 1.1  # of R-hat after all rounds: both populations do not tell the same


def identify(
    records: Log | Sequence[LoopRecord],
    *,
    sense: float | None = 1.0,
    seed: int = 0,
    output_span: float = 100.0,
    input_span: float = 100.0,
    longest_dead_time: float | None = None,
    threads: int | None = None,
    on_round: Callable[[str, int, int], None] | None = None,
) -> Ensemble:
    """Return plants that could have produced the logs of one loop.

    Parameters
    ----------
    records : Log or sequence of LoopRecord
        A log, or the records of several. The plant is the same in all, the disturbances are each record's own.
    sense : float or None
        1 or -1: that of the loop's own integral gain, where it ran in automatic and did not run away. None: nobody
        knows it, as of a log in manual; both are tried, and the one with the greater evidence counts.
    seed : int
    output_span, input_span : float
        Of the signals.
    longest_dead_time : float, optional
        That a plant may have [s]; left out, an eighth of the longest log, at most 150 s.
    threads : int, optional
        None: all processors. The result does not depend on it.
    on_round : function of (structure, round, of how many), optional
    """
    several = tuple(records.records() if isinstance(records, Log) else records)
    if sense is None:
        either = [
            identify(
                several,
                sense=one,
                seed=seed,
                output_span=output_span,
                input_span=input_span,
                longest_dead_time=longest_dead_time,
                threads=threads,
                on_round=None if on_round is None else _told_with(on_round, one),
            )
            for one in (1.0, -1.0)
        ]
        evidence = np.array([max(fit.evidence for fit in one.fits) for one in either])
        return replace(either[int(evidence.argmax())], sense_evidence=float(abs(evidence[0] - evidence[1])))
    scales = LoopScales.of(several, input_span, longest_dead_time)
    if not scales.input_range > 0.0:
        raise ValueError("the plant's input does not move in any record, so nothing can be told of the plant")
    if not scales.output_range > 0.0:
        raise ValueError("the measured output does not move in any record, so nothing can be told of the plant")
    spans, fits = (output_span, input_span), []
    for prior in (TwoLagsPrior(scales), OscillatingPrior(scales)):
        tell = None if on_round is None else partial(on_round, prior.structure.name)
        fits.append(_fitted(several, prior, sense, seed, spans, threads, tell))
    evidence = np.array([fit.evidence for fit in fits])
    weights = np.exp(np.clip(evidence - evidence.max(), -_CLIPPED, 0.0))
    best = fits[int(evidence.argmax())]
    seen = [filtered(best.prior.structure, record, best.best, sense, spans) for record in several]
    return Ensemble(
        several,
        sense,
        tuple(fits),
        weights / weights.sum(),
        residual_test(seen),
        _input_evidence(several, best, sense, spans, threads),
        seed,
    )


def _told_with(on_round: Callable[[str, int, int], None], sense: float) -> Callable[[str, int, int], None]:
    which = "direct" if sense > 0.0 else "reverse"

    def tell(what: str, done: int, total: int) -> None:
        on_round(f"{what}, {which}", done, total)

    return tell


def log_posterior(
    records: Sequence[LoopRecord], prior: Prior, sense: float, spans: Spans, threads: int | None, coordinates: Array
) -> Array:
    """Log density [n] of coordinates after the logs; nothing is filtered where there is none before."""
    found = prior.log_density(coordinates)
    inside = np.isfinite(found)
    if inside.any():
        # All rows are filtered together, whatever is inside: a row's likelihood does not depend on the others.
        some = np.where(inside[:, None], coordinates, coordinates[inside][0])
        after = log_likelihoods(prior.structure, records, prior.parameters(some), sense, spans, threads)
        found = np.where(inside, found + after, -np.inf)
    return found


def _fitted(
    records: Sequence[LoopRecord],
    prior: Prior,
    sense: float,
    seed: int,
    spans: Spans,
    threads: int | None,
    tell: Callable[[int, int], None] | None,
) -> StructureFit:
    density = partial(log_posterior, records, prior, sense, spans, threads)
    sample = sampled(density, prior.draws, prior.asked, seed, tell)
    covariance = np.cov(sample.members.T)
    _, volume = np.linalg.slogdet(2.0 * np.pi * covariance)
    return StructureFit(prior, sample, float(sample.log_density.max() + 0.5 * volume) - prior.log_volume)


def _input_evidence(
    records: Sequence[LoopRecord], fit: StructureFit, sense: float, spans: Spans, threads: int | None
) -> float:
    """Gain of the best log density over that of a plant whose input does nothing, its disturbances fitted as well."""
    still = [replace(r, input=np.full(len(r), r.origin[1])) for r in records]
    density = partial(log_posterior, still, fit.prior, sense, spans, threads)
    best = climbed(density, fit.sample.members, EVIDENCE_ROUNDS, 0)
    return float(fit.sample.log_density.max() - best)


EVIDENCE_ROUNDS = 200
"""Of walkers that begin where the plant was found: its loads have to explain all of the output."""


def _evenly(n: int, count: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, count)).astype(np.intp)


def spread(members: Sequence[PlantMembers], step: float, discrepancy: float, seed: int = 0) -> tuple[PlantMembers, ...]:
    """Return members of logs with rows `step` seconds apart, moved as by :meth:`Ensemble.spread`."""
    rng = np.random.default_rng([seed, _SPREAD_SEED])
    return tuple(_moved(group, step, discrepancy, rng) for group in members)


def _moved(group: PlantMembers, step: float, discrepancy: float, rng: np.random.Generator) -> PlantMembers:
    parameters, names = group.parameters.copy(), group.structure.parameters
    lag = group.column("lag") if "lag" in names else group.column("period")
    late = group.column("dead_time")
    parameters[:, :3] *= np.exp(discrepancy * rng.standard_normal((len(group), 3)))
    if "damping" in names:
        place = names.index("damping")
        parameters[:, place] = np.minimum(parameters[:, place], 1.0)
    moved = late + discrepancy * rng.standard_normal(len(group)) * (late + lag + 0.5 * step)
    parameters[:, names.index("dead_time")] = np.maximum(moved, 0.0)
    return PlantMembers(group.structure, parameters)


def interval_of(values: Array, level: float = 0.9) -> tuple[float, float, float]:
    """Return low end, median and high end of values [n]."""
    tail = 0.5 * (1.0 - level)
    low, middle, high = np.quantile(values[np.isfinite(values)], [tail, 0.5, 1.0 - tail])
    return float(low), float(middle), float(high)
