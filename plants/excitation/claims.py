"""What a random part claims about its samples: law, correlation, and the bias of its discretisation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.excitation.signals import Part

_CELLS, _UNITS = 600, 1000


@dataclass(frozen=True)
class Bias:
    """How far the law of the discretised filter is from the claimed one; 0 where the discretisation is exact.

    Attributes
    ----------
    mean : float, in standard deviations
    variance : float, share of the variance
    skewness, kurtosis : float
    kolmogorov : float
        Largest difference of the distribution functions.
    correlation : float
        At the lag 1 / gap.
    """

    mean: float = 0.0
    variance: float = 0.0
    skewness: float = 0.0
    kurtosis: float = 0.0
    kolmogorov: float = 0.0
    correlation: float = 0.0

    @property
    def spectrum(self) -> float:
        """Share of the spectral density: of the variance, and of the bandwidth at which the correlation falls."""
        return abs(self.variance) + np.e * abs(self.correlation)


@dataclass(frozen=True)
class Claim:
    """A stationary law.

    Attributes
    ----------
    law : distribution of `scipy.stats` with its parameters, or an object with `cdf`, `ppf` and `stats("mvsk")`
        None: not known in closed form.
    correlation : callable
        Correlation coefficient at a lag [s]; None: not known. The expected sample after a lag, given the present one,
        must be proportional to the present one (as in every filter with linear drift).
    gap : float, 1/s
        No correlation between anything before and anything after a lag exceeds about ``exp(-gap * lag)``: for the
        first-order filters the bandwidth, as x - mean is the slowest of their modes.
    interval : float, s
        Time between the samples of which the spectrum is made.
    lags : tuple of float, s
        Where the correlation is tested.
    length : int
        Fewest values of the series of which the spectrum is made.
    start_up : float, s
        Time to be left out at the start.
    zero_means : callable, optional
        Of (state, settings), gives named values that have mean 0 in the stationary state.
    """

    law: Any
    correlation: Callable[[float], float] | None
    gap: float
    interval: float
    lags: tuple[float, ...]
    bias: Bias = field(default_factory=Bias)
    length: int = 1
    start_up: float = 0.0
    zero_means: Callable[[Any, Any], dict[str, Any]] | None = None


def low_pass(law: Any, bandwidth: float, bias: Bias | None = None) -> Claim:
    """Return the claim of a first-order filter: correlation ``exp(-bandwidth * lag)``, started stationary.

    A filter with a bias leaves its start behind first, as that has none.
    """
    times = (1.0 / bandwidth, 2.0 / bandwidth)
    start_up = 0.0 if bias is None else 5.0 / bandwidth
    return Claim(
        law, lambda lag: float(np.exp(-bandwidth * lag)), bandwidth, 0.25 / bandwidth, times, bias or Bias(),
        start_up=start_up,
    )  # fmt: skip


@lru_cache(maxsize=64)
def chain_bias(part: Part, step: float, low: float, high: float, law: Any, gap: float) -> Bias:
    """Return the bias of a filter with one state from the stationary law of its discrete chain.

    The chain of `part.advance` is put on a grid of its states between `low` and `high`: each cell's image under a fine
    set of unit Gaussian numbers is shared among the neighbouring cells. The stationary vector of that transition matrix
    is the law that long runs have, without sampling error.
    """
    settings = part.settings(step)
    edges = np.linspace(low, high, _CELLS + 1)
    x = 0.5 * (edges[1:] + edges[:-1])
    matrix = _transition(part, settings, x)
    weights = np.linalg.solve(
        np.vstack([(matrix.T - np.eye(_CELLS))[1:], np.ones(_CELLS)]), np.append(np.zeros(_CELLS - 1), 1.0)
    )
    value = np.array([part.value(0.0, settings, s) for s in x])
    ends = np.array([part.value(0.0, settings, s) for s in edges])
    mean, variance, skewness, kurtosis = (float(m) for m in law.stats("mvsk"))
    centred = value - weights @ value
    found = weights @ centred**2
    ahead = centred
    for _ in range(round(part.feed(step).substeps / (gap * step))):
        ahead = matrix @ ahead
    return Bias(
        mean=float(weights @ value - mean) / variance**0.5,
        variance=float(found / variance - 1.0),
        skewness=float(weights @ centred**3 / found**1.5 - skewness),
        kurtosis=float(weights @ centred**4 / found**2 - 3.0 - kurtosis),
        kolmogorov=float(np.abs(np.cumsum(weights) - law.cdf(ends[1:])).max()),
        correlation=float(weights @ (centred * ahead) / found - np.exp(-1.0)),
    )


def _transition(part: Part, settings: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """Probabilities [from, to] of one filter step between the cells around `x`."""
    from scipy import stats

    unit = stats.norm.ppf((np.arange(_UNITS) + 0.5) / _UNITS)
    unit /= unit.std()
    moved = part.advance(x[:, None] + 0.0 * unit, 0.0 * x[:, None] + unit, settings)
    place = np.clip((moved - x[0]) / (x[1] - x[0]), 0.0, len(x) - 1.0)
    left = np.minimum(place.astype(int), len(x) - 2)
    share = place - left
    origin = np.arange(len(x))[:, None] * len(x)
    counts = np.bincount((origin + left).ravel(), (1.0 - share).ravel(), len(x) ** 2)
    counts += np.bincount((origin + left + 1).ravel(), share.ravel(), len(x) ** 2)
    return counts.reshape(len(x), len(x)) / len(unit)
