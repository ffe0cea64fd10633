"""Whether what a filter did not expect looks like noise: the innovations, divided by their deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from plants.identification.slow_filter import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class SeenByFilter(Protocol):
    """What filters keep of a record."""

    @property
    def innovation(self) -> Array:
        """Output less what was expected [n]; NaN where it is missing."""

    @property
    def variance(self) -> Array:
        """Of the innovation [n]."""


LAGS = 20
_FAR = 4.0  # standard deviations


@dataclass(frozen=True, eq=False)
class ResidualTest:
    """Of all rows that have an output.

    Attributes
    ----------
    portmanteau : float
        Ljung and Box's statistic; of white noise a chi-squared number of `lags` degrees of freedom.
    lags : int
    far : float
        Share of the rows beyond four deviations.
    correlation : array [lags]
        At lags 1, 2, ...
    """

    portmanteau: float
    lags: int
    far: float
    correlation: Array


def standardised(found: SeenByFilter) -> Array:
    """Return innovations over their deviations [n]; NaN where an output is missing, or does not count."""
    values = found.innovation / np.sqrt(found.variance)
    values[:SKIPPED] = np.nan
    return values


def residual_test(several: Sequence[SeenByFilter], lags: int = LAGS) -> ResidualTest:
    """Test the innovations of some records together.

    Source: G. M. Ljung and G. E. P. Box, On a measure of lack of fit in time series models, Biometrika 65 (1978). Pairs
    with a missing row are left out; innovations beyond four deviations count as four, since the filter expects spikes.
    """
    columns = [standardised(found) for found in several]
    shares = np.concatenate(columns)
    far = float((np.abs(shares[np.isfinite(shares)]) > _FAR).mean())
    kept = [np.clip(column, -_FAR, _FAR) for column in columns]
    total = sum(float(np.nansum(column**2)) for column in kept)
    n = sum(int(np.isfinite(column).sum()) for column in kept)
    correlation = np.array([sum(float(np.nansum(c[:-k] * c[k:])) for c in kept) / total for k in range(1, lags + 1)])
    weights = n * (n + 2.0) / (n - np.arange(1, lags + 1))
    return ResidualTest(float((weights * correlation**2).sum()), lags, far, correlation)
