"""Statistical self-test of random generators: samples against the law that their part claims.

>>> from plants.excitation import GaussianFilter
>>> from tests.reference.self_test.check import check_generator
>>> report = check_generator(GaussianFilter(variance=2.0, bandwidth=1.0), step=0.1, seed=3)
>>> print(report)

A correct generator fails with at most the stated probability `false_alarm`. That is shared equally among the statistics
(Bonferroni), and each has an interval that it leaves with its share:

- mean, variance, skewness, kurtosis: quantiles of the same statistics of independent samples of the claimed law;
- Kolmogorov distance: its distribution for independent samples;
- correlation, spectrum, independence of streams, means that must be 0: standard errors.

Samples are taken 5 / gap apart, where no correlation exceeds e^-5; what is left of it is allowed for by an effective
sample size n (1 - r) / (1 + r) with that r. Different streams are independent. The discretisation's bias, which the
claim states, widens each interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.self_test import statistics
from tests.reference.self_test.statistics import SampleTimes, Statistic
from tests.reference.self_test.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.signals.signal import Part
    from plants.core.signals.stationary_law import StationaryLaw


@dataclass(frozen=True)
class Report:
    """What a self-test found.

    Attributes
    ----------
    statistics : tuple of Statistic
    false_alarm : float
        Probability with which a correct generator fails at most.
    """

    statistics: tuple[Statistic, ...]
    false_alarm: float

    @property
    def failures(self) -> tuple[str, ...]:
        """Names of the statistics that left their intervals."""
        return tuple(s.name for s in self.statistics if not s.passed)

    @property
    def passed(self) -> bool:
        """Whether all statistics lie in their intervals."""
        return not self.failures

    def __str__(self) -> str:
        lines = [f"{'passed' if self.passed else 'FAILED'} (a correct generator fails with {self.false_alarm:g})"]
        return "\n".join([*lines, *map(str, self.statistics)])


@dataclass(frozen=True)
class Tally:
    """Reports of many seeds.

    Attributes
    ----------
    reports : tuple of Report
    tail : float
        Probability of so many failures or more, if each seed fails with the stated rate.
    """

    reports: tuple[Report, ...]
    tail: float

    @property
    def failures(self) -> int:
        """Number of seeds that failed."""
        return sum(not report.passed for report in self.reports)


def check_generator(
    part: Part,
    step: float,
    seed: int = 0,
    claim: StationaryLaw | None = None,
    false_alarm: float = 0.01,
    name: str = "check",
    streams: int = 250,
) -> Report:
    """Hold the samples of a random part against the law that it claims.

    Parameters
    ----------
    part : Part
        Any random kind, of this package or a user's own.
    step : float
        Integration step [s].
    seed : int
    claim : StationaryLaw, optional
        The law; else the part's own.
    false_alarm : float
        Probability with which a correct generator may fail.
    name : str
        Of the situation whose streams are drawn.
    streams : int
        Independent streams that the seed is tested with; each gives four samples.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        For a part that is not random, a false-alarm rate outside (0, 1), or no claim.
    """
    return check_seeds(part, step, (seed,), claim, false_alarm, name, streams).reports[0]


def check_seeds(
    part: Part,
    step: float,
    seeds: Sequence[int],
    claim: StationaryLaw | None = None,
    false_alarm: float = 0.05,
    name: str = "check",
    streams: int = 250,
) -> Tally:
    """Run `check_generator` for many seeds at once and count the failures against the stated rate."""
    from scipy import stats

    if not 0.0 < false_alarm < 1.0:
        raise ValueError(f"false_alarm must lie between 0 and 1, got {false_alarm}")
    claim = part.claim(step) if claim is None else claim
    kind = type(part).__name__.lower()
    names = [(name, seed, f"w_channel{k}_{kind}0") for seed in seeds for k in range(streams)]
    source = Streams(part, step, names)
    sampling = SampleTimes.of(claim, step * source.every)
    values, zeros = _collect(source, sampling, claim)
    reports = []
    for k in range(len(seeds)):
        own = slice(k * streams, (k + 1) * streams)
        mine = {label: z[:, own] for label, z in zeros.items()}
        reports.append(check_series(values[:, own], claim, sampling, false_alarm, mine))
    failures = sum(not report.passed for report in reports)
    return Tally(tuple(reports), float(stats.binom.sf(failures - 1, len(seeds), false_alarm)))


def check_series(
    values: np.ndarray,
    claim: StationaryLaw,
    sampling: SampleTimes,
    false_alarm: float = 0.01,
    zero_means: dict[str, np.ndarray] | None = None,
) -> Report:
    """Hold series from anywhere against a claim.

    Parameters
    ----------
    values : ndarray [sampling.length, n_streams]
        At equal distances of `sampling.interval`, after the start-up.
    claim : StationaryLaw
    sampling : SampleTimes
        ``Sampling.of(claim, time between samples)``.
    false_alarm : float
    zero_means : mapping of name to ndarray [n, n_streams], optional
        Values whose mean must be 0, `sampling.apart` samples apart.
    """
    wanted = statistics.names(claim, zero_means or {})
    share = false_alarm / len(wanted)
    found = [*statistics.of_law(values, claim, sampling, share), *statistics.of_time(values, claim, sampling, share)]
    found += statistics.of_streams(values, claim, sampling, share)
    found += [statistics.zero_mean(label, z, share) for label, z in (zero_means or {}).items()]
    return Report(tuple(found), false_alarm)


def _collect(source: Streams, sampling: SampleTimes, claim: StationaryLaw) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Values [length, n_streams] at the sampling's interval, and what must have mean 0 where samples are taken."""
    values: list[Any] = []
    zeros: dict[str, list[Any]] = {}
    total = sampling.skipped + (sampling.length - 1) * sampling.stride + 1
    for number, state in enumerate(source.run(total)):
        place, rest = divmod(number - sampling.skipped, sampling.stride)
        if place < 0 or rest:
            continue
        values.append(np.array(source.value(state)))
        if claim.zero_means is not None and place % sampling.apart == 0:
            for label, z in claim.zero_means(state, source.settings).items():
                zeros.setdefault(label, []).append(np.array(z))
    return np.array(values), {label: np.array(z) for label, z in zeros.items()}
