"""Laws of samples as distributions of `scipy.stats`; the same object for the same numbers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any


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
