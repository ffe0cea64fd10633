"""What a random part claims about its samples: law, correlation, and the bias of its discretisation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


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
class StationaryLaw:
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


def low_pass(law: Any, bandwidth: float, bias: Bias | None = None) -> StationaryLaw:
    """Return the claim of a first-order filter: correlation ``exp(-bandwidth * lag)``, started stationary.

    A filter with a bias leaves its start behind first, as that has none.
    """
    times = (1.0 / bandwidth, 2.0 / bandwidth)
    start_up = 0.0 if bias is None else 5.0 / bandwidth
    return StationaryLaw(
        law, lambda lag: float(np.exp(-bandwidth * lag)), bandwidth, 0.25 / bandwidth, times, bias or Bias(),
        start_up=start_up,
    )  # fmt: skip
