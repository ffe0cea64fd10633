"""The statistics of the self-test, each with the interval that a correct generator leaves with a given probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.signals.stationary_law import StationaryLaw

    Array = np.ndarray[Any, Any]

_SAMPLES = 4  # of each stream, far enough apart to be nearly independent
_APART = 5.0  # over the gap: time between them
_IN_TAIL, _SEED = 20, 20_240_117  # replicas beyond each quantile that is taken from them
_BANDS = 3
MOMENTS = ("mean", "variance", "skewness", "kurtosis")


@dataclass(frozen=True)
class Statistic:
    """One statistic with the interval that it must lie in."""

    name: str
    value: float
    expected: float
    low: float
    high: float

    @property
    def passed(self) -> bool:
        """Whether the value lies in the interval."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        mark = "" if self.passed else "   <-- outside"
        interval = f"in {self.low:.4g} ... {self.high:.4g}"
        return f"  {self.name:28s}{self.value:11.4g}  expected {self.expected:10.4g} {interval}{mark}"


@dataclass(frozen=True)
class SampleTimes:
    """When samples are taken.

    Attributes
    ----------
    interval : float, s
        Between two values of the series.
    stride : int
        Generator's samples in an interval.
    apart : int
        Intervals between two values that count as independent.
    rest : float
        Correlation that they may still have.
    length : int
        Values of a series.
    skipped : int
        Generator's samples left out at the start.
    """

    interval: float
    stride: int
    apart: int
    rest: float
    length: int
    skipped: int

    @classmethod
    def of(cls, claim: StationaryLaw, sample: float) -> SampleTimes:
        """Return the sampling for a claim of a generator that gives a value every `sample` [s]."""
        stride = max(1, round(claim.interval / sample))
        interval = stride * sample
        apart = max(1, math.ceil(_APART / claim.gap / interval - 1e-9))
        reach = max((round(lag / interval) for lag in claim.lags), default=0)
        length = max((_SAMPLES - 1) * apart + reach + 1, claim.length)
        skipped = max(0, math.ceil(claim.start_up / sample) - 1)
        return cls(interval, stride, apart, math.exp(-claim.gap * apart * interval), length, skipped)

    @property
    def chosen(self) -> slice:
        """The values that count as independent."""
        return slice(0, (_SAMPLES - 1) * self.apart + 1, self.apart)

    def effective(self, values: Array) -> int:
        """Return the effective number of samples in series [length, n_streams]."""
        return int(_SAMPLES * values.shape[1] * (1.0 - self.rest) / (1.0 + self.rest))


def names(claim: StationaryLaw, zero_means: Mapping[str, Any]) -> list[str]:
    """Return the names of all statistics that a claim asks for."""
    law = [*MOMENTS, "Kolmogorov distance"] if claim.law is not None else []
    bands = [f"spectrum {k}" for k in range(_BANDS)] if claim.correlation is not None else []
    lags = [f"correlation {lag}" for lag in claim.lags]
    return [*law, *lags, *bands, "streams", "magnitudes of streams", *zero_means]


# ----------------------------------------------------------------------------------------------------------------- law


def of_law(values: Array, claim: StationaryLaw, sampling: SampleTimes, share: float) -> list[Statistic]:
    """Moments and Kolmogorov distance of nearly independent samples."""
    if claim.law is None:
        return []
    x = values[sampling.chosen].ravel()
    count = sampling.effective(values)
    expected = np.array([float(m) for m in claim.law.stats("mvsk")])
    low, high = _quantiles(claim.law, count, share)
    scale = np.array([expected[1] ** 0.5, expected[1], 1.0, 1.0])
    bias = scale * np.abs([claim.bias.mean, claim.bias.variance, claim.bias.skewness, claim.bias.kurtosis])
    rows = zip(MOMENTS, _moments(x), expected, low - bias, high + bias, strict=True)
    return [*(Statistic(*row) for row in rows), _distance(x, claim, count, share)]


def _moments(x: Array) -> Array:
    """Mean, variance, skewness and excess kurtosis along the last axis."""
    mean = x.mean(axis=-1)
    d = x - mean[..., None]
    square = d * d
    second, third, fourth = (m.mean(axis=-1) for m in (square, square * d, square * square))
    return np.array([mean, second, third / second**1.5, fourth / second**2 - 3.0])


@lru_cache(maxsize=64)
def _quantiles(law: Any, count: int, share: float) -> tuple[Array, Array]:
    """What moments of `count` independent samples of the law stay between but for `share`; from replicas.

    Each sample of a replica is one of 65536 quantiles of the law.
    """
    rng = np.random.default_rng(_SEED)
    table, step = law.ppf((np.arange(65536) + 0.5) / 65536), 250
    replicas = math.ceil(_IN_TAIL / (0.5 * share) / step)
    found = [_moments(table[rng.integers(0, 65536, (step, count), np.uint16)]) for _ in range(replicas)]
    low, high = np.quantile(np.hstack(found), [0.5 * share, 1.0 - 0.5 * share], axis=1)
    return low, high


def _distance(x: Array, claim: StationaryLaw, count: int, share: float) -> Statistic:
    from scipy import stats

    u = np.sort(claim.law.cdf(x))
    n = len(u)
    value = max((np.arange(1, n + 1) / n - u).max(), (u - np.arange(n) / n).max())
    high = float(stats.kstwo.isf(share, count)) + claim.bias.kolmogorov
    return Statistic("Kolmogorov distance", float(value), 0.0, 0.0, high)


# ---------------------------------------------------------------------------------------------------------------- time


def of_time(values: Array, claim: StationaryLaw, sampling: SampleTimes, share: float) -> list[Statistic]:
    """Correlation at the claim's lags, and the spectrum."""
    if claim.correlation is None or claim.law is None:
        return []
    mean, variance = (float(m) for m in claim.law.stats("mv"))
    score = 2.0 * claim.law.cdf(values) - 1.0
    found = [_correlation(values - mean, score, lag, claim, sampling, share) for lag in claim.lags]
    return [*found, *_spectrum(values - mean, variance, claim, sampling, share)]


def _correlation(
    z: Array, score: Array, lag: float, claim: StationaryLaw, sampling: SampleTimes, share: float
) -> Statistic:
    """Correlation at a lag by its regression: E[z(t + lag) | z(t)] = r z(t), weighted with the bounded score of z(t).

    The weight keeps heavy tails from spoiling the standard error.
    """
    assert claim.correlation is not None
    ahead = round(lag / sampling.interval)
    first = np.arange(_SAMPLES) * sampling.apart
    now, later, weight = z[first].ravel(), z[first + ahead].ravel(), score[first].ravel()
    expected = claim.correlation(ahead * sampling.interval)
    scale = (now * weight).mean()
    error = math.sqrt(((later - expected * now) * weight).var() / sampling.effective(z)) / scale
    reach = _normal(share) * error + abs(claim.bias.correlation)
    value = float((later * weight).mean() / scale)
    name = f"correlation at {ahead * sampling.interval:.4g} s"
    return Statistic(name, value, expected, expected - reach, expected + reach)


def _spectrum(z: Array, variance: float, claim: StationaryLaw, sampling: SampleTimes, share: float) -> list[Statistic]:
    """Power in bands, as a share of the expected one.

    The expected periodogram of a finite series is known exactly from the correlation: leakage and aliasing are in it.
    The bands have equal expected power.
    """
    count = len(z)
    power = np.abs(np.fft.rfft(z, axis=0)) ** 2 / count
    expected = variance * _periodogram(claim, sampling, count)
    twice = np.full(len(expected), 2.0)
    twice[0] = 1.0
    twice[-1] = 1.0 if count % 2 == 0 else 2.0
    shares = np.cumsum(twice * expected) / (twice @ expected)
    band = np.minimum((shares - 1e-9) * _BANDS, _BANDS - 1).astype(int)
    found = []
    for k in np.unique(band):
        inside = twice * (band == k)
        each = (inside @ power) / (inside @ expected)
        low, high = (1.0 + reach for reach in _skewed(each, share))
        bias = claim.bias.spectrum
        found.append(Statistic(f"spectrum, band {k + 1}", float(each.mean()), 1.0, low - bias, high + bias))
    return found


def _skewed(each: Array, share: float) -> tuple[float, float]:
    """How far the mean of independent values with a skew density stays from its expectation, but for `share`.

    Hall's transformation of the studentised mean (J. R. Statist. Soc. B 54, 1992), inverted.
    """
    from scipy import stats

    error = each.std(ddof=1) / math.sqrt(each.size)
    skew = float(stats.skew(each)) / math.sqrt(each.size)
    reach = float(stats.t.isf(0.5 * share, each.size - 1))
    if abs(skew) < 1e-6:
        return -reach * error, reach * error
    low, high = (3.0 / skew * (np.cbrt(1.0 + skew * (z - skew / 6.0)) - 1.0) for z in (-reach, reach))
    return float(low) * error, float(high) * error


@lru_cache(maxsize=64)
def _periodogram(claim: StationaryLaw, sampling: SampleTimes, count: int) -> Array:
    assert claim.correlation is not None
    lags = np.arange(count)
    r = (1.0 - lags / count) * np.array([claim.correlation(float(k * sampling.interval)) for k in lags])
    angles = 2.0 * math.pi * np.outer(np.arange(count // 2 + 1), lags) / count
    return 2.0 * (np.cos(angles) @ r) - r[0]


# ------------------------------------------------------------------------------------------------------------- streams


def of_streams(values: Array, claim: StationaryLaw, sampling: SampleTimes, share: float) -> list[Statistic]:
    """Correlation of neighbouring streams: of their scores, and of the scores' magnitudes."""
    from scipy import stats

    x = values[sampling.chosen]
    u = claim.law.cdf(x) if claim.law is not None else (stats.rankdata(x.ravel()).reshape(x.shape) - 0.5) / x.size
    found = []
    pairs = x.shape[1] // 2
    for name, s in (("streams", u - 0.5), ("magnitudes of streams", np.abs(u - 0.5) - 0.25)):
        product = (s[:, : 2 * pairs : 2] * s[:, 1 : 2 * pairs : 2]).ravel() / (s.var() + s.mean() ** 2)
        reach = _normal(share) * math.sqrt(product.var() / product.size * (1.0 + sampling.rest) / (1.0 - sampling.rest))
        bias = 12.0 * claim.bias.kolmogorov**2  # of the product of two shifted means, in variances of a score
        found.append(Statistic(name, float(product.mean()), 0.0, -reach - bias, reach + bias))
    return found


def zero_mean(name: str, z: Array, share: float) -> Statistic:
    """Mean of values [n, n_streams] that must be 0; the standard error is from the independent streams."""
    from scipy import stats

    each = z.mean(axis=0)
    error = each.std(ddof=1) / math.sqrt(each.size)
    reach = float(stats.t.isf(0.5 * share, each.size - 1)) * error
    return Statistic(name, float(each.mean()), 0.0, -reach, reach)


def _normal(share: float) -> float:
    """Return the standard errors that a Gaussian number exceeds, in either direction, with probability `share`."""
    from scipy import stats

    return float(stats.norm.isf(0.5 * share))
