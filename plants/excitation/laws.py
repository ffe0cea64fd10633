"""Laws of samples as distributions of `scipy.stats`, and how far a discretised filter is from its law.

A law is the same object for the same numbers. The bias of a filter is computed from the stationary law of its
discrete chain, without sampling error.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.signals.stationary_law import Bias

if TYPE_CHECKING:
    from plants.core.signals.signal import Part


@lru_cache(maxsize=256)
def normal(variance: float) -> Any:
    """Return the Gaussian law of mean 0."""
    from scipy import stats

    return stats.norm(scale=math.sqrt(variance))


@lru_cache(maxsize=256)
def uniform(width: float) -> Any:
    """Return the uniform law on [-width, width]."""
    from scipy import stats

    return stats.uniform(-width, 2.0 * width)


@lru_cache(maxsize=256)
def rayleigh(scale: float) -> Any:
    """Return the Rayleigh law ``x / scale^2 exp(-x^2 / (2 scale^2))``."""
    from scipy import stats

    return stats.rayleigh(scale=scale)


@lru_cache(maxsize=256)
def gamma(shape: float, rate: float) -> Any:
    """Return the gamma law proportional to ``x^(shape - 1) exp(-rate x)``."""
    from scipy import stats

    return stats.gamma(shape, scale=1.0 / rate)


_CELLS, _UNITS = 600, 1000


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
