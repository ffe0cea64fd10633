"""Bounds for an evolution strategy: samples are valued at the nearest point of the cube and pay for their distance.

Source: Hansen, Niederberger, Guzzella and Koumoutsakos, A method for handling uncertainty in evolutionary optimization
with an application to feedback control of combustion, IEEE Trans. Evol. Comput. 13 (2009), 180-197, section IV-B.

Of the ways to keep bounds tried here on spheres and (turned) ellipsoids with optima in corners and on faces, mirroring
needed two to four times the evaluations, moving samples into the cube without a penalty failed on some.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.normal_distribution import Distribution


class BoundaryPenalty:
    """Quadratic penalty that scales itself by the fitness differences seen.

    Attributes
    ----------
    weights : array [n]
        Of the squared distance in each gene; zero until the mean leaves the cube for the first time.
    scales : array
        Of the last generations: interquartile range of the fitness over the distribution's variance.
    """

    def __init__(self, n: int) -> None:
        self.weights = np.zeros(n)
        self.scales = np.empty(0)

    def added(
        self, samples: NDArray[np.float64], fitness: NDArray[np.float64], distribution: Distribution
    ) -> NDArray[np.float64]:
        """Return the fitness [size] to rank samples [size, n] by, which was found at their nearest points inside."""
        self._adapt(fitness, distribution)
        if not self.weights.any():
            return fitness
        variances = np.log(np.diag(distribution.covariance))
        shape = np.exp(0.9 * (variances - variances.mean()))
        outside = samples - np.clip(samples, 0.0, 1.0)
        return fitness + (outside**2 * (self.weights / shape)).mean(axis=1)

    def _adapt(self, fitness: NDArray[np.float64], distribution: Distribution) -> None:
        mean, n = distribution.mean, len(distribution.mean)
        ranked = np.sort(fitness[np.isfinite(fitness)])
        lower, upper = ranked[len(ranked) // 4], ranked[3 * len(ranked) // 4]
        variance = distribution.sigma**2 * np.diag(distribution.covariance).mean()
        window = 20 + math.ceil(3.0 * n / len(fitness))
        scale = (upper - lower) / variance
        if 0.0 < scale < np.inf:
            self.scales = np.append(self.scales, scale)[-window:]
        outside = np.abs(mean - np.clip(mean, 0.0, 1.0))
        if not self.weights.any():
            if outside.any() and len(self.scales):
                self.weights = np.full(n, 2.0 * np.median(self.scales))
            return
        mu_eff = distribution.rates.mu_eff
        far = outside > 3.0 * distribution.spread * max(1.0, math.sqrt(n) / mu_eff)
        growth = 1.1 ** min(1.0, mu_eff / (10.0 * n))  # the paper's max for min overshoots in many dimensions
        self.weights = np.where(far, self.weights * growth, self.weights)
