"""The normal distribution of an evolution strategy, and how it adapts its mean, step size and covariance matrix.

Source: Hansen, The CMA evolution strategy: a tutorial, arXiv 1604.00772 (2016), whose equation numbers are given.

Sums of products are made by ``einsum`` in fixed order, for any number of threads. The eigendecomposition is LAPACK's,
whose bits were the same with 1 to 64 OpenBLAS threads up to 120 genes (a test compares 60); for more genes, set
OPENBLAS_NUM_THREADS=1 if results are to be the same on machines with different numbers of cores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_DEVIATION = 1.0
"""Of a gene, as part of its range: the search has the whole box in view then."""


@dataclass(frozen=True)
class Rates:
    """Recombination weights and learning rates for `size` samples of `n` genes (eqs. 49-58)."""

    weights: NDArray[np.float64]
    mu_eff: float
    c_sigma: float
    d_sigma: float
    c_c: float
    c_1: float
    c_mu: float

    @classmethod
    def of(cls, n: int, size: int) -> Rates:
        """Return the tutorial's values."""
        raw = math.log((size + 1) / 2) - np.log(np.arange(1, size + 1))
        good, bad = raw[: size // 2], raw[size // 2 :]
        mu_eff = good.sum() ** 2 / (good**2).sum()
        mu_eff_bad = bad.sum() ** 2 / (bad**2).sum()
        c_1 = 2.0 / ((n + 1.3) ** 2 + mu_eff)
        c_mu = min(1.0 - c_1, 2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0) ** 2 + mu_eff))
        scale_bad = min(1.0 + c_1 / c_mu, 1.0 + 2.0 * mu_eff_bad / (mu_eff + 2.0), (1.0 - c_1 - c_mu) / (n * c_mu))
        weights = np.where(raw >= 0.0, raw / raw[raw > 0.0].sum(), scale_bad * raw / -raw[raw < 0.0].sum())
        c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0)
        d_sigma = 1.0 + 2.0 * max(0.0, math.sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0) + c_sigma
        c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n)
        return cls(weights, float(mu_eff), float(c_sigma), float(d_sigma), float(c_c), float(c_1), float(c_mu))


class Distribution:
    """Normal distribution N(mean, sigma^2 C) with its evolution paths, adapted to ranked samples."""

    def __init__(self, mean: NDArray[np.float64], sigma: float, size: int) -> None:
        n = len(mean)
        self.rates = Rates.of(n, size)
        self.mean, self.sigma, self.updates = mean, sigma, 0
        self.covariance = np.eye(n)
        self.path_c, self.path_sigma = np.zeros(n), np.zeros(n)
        self.decompose()

    def decompose(self) -> None:
        """Find principal axes [n, n] (columns) and standard deviations along them [n] of the covariance matrix."""
        values, self.axes = np.linalg.eigh(self.covariance)
        self.deviations = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))

    @property
    def condition(self) -> float:
        """Condition number of the covariance matrix."""
        return float((self.deviations[-1] / self.deviations[0]) ** 2)

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of each gene [n]."""
        return self.sigma * np.sqrt(np.diag(self.covariance))

    def coloured(self, white: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return steps y ~ N(0, C) for unit normal numbers z, row by row (eq. 39)."""
        return np.einsum("ij,kj->ik", white * self.deviations, self.axes)

    def update(self, white: NDArray[np.float64], steps: NDArray[np.float64]) -> None:
        """Adapt to the samples' z and y, best first (eqs. 41-47)."""
        rates, n = self.rates, len(self.mean)
        parents = np.maximum(rates.weights, 0.0)
        mean_step = np.einsum("i,ij->j", parents, steps)
        whitened = np.einsum("ij,j->i", self.axes, np.einsum("i,ij->j", parents, white))  # C^(-1/2) of the mean step
        self.updates += 1
        c_s, c_c = rates.c_sigma, rates.c_c
        self.path_sigma = (1.0 - c_s) * self.path_sigma + math.sqrt(c_s * (2.0 - c_s) * rates.mu_eff) * whitened
        length = math.sqrt(np.einsum("i,i->", self.path_sigma, self.path_sigma))
        expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        unbiased = length / math.sqrt(1.0 - (1.0 - c_s) ** (2 * self.updates))
        calm = 1.0 if unbiased < (1.4 + 2.0 / (n + 1.0)) * expected else 0.0
        self.path_c = (1.0 - c_c) * self.path_c + calm * math.sqrt(c_c * (2.0 - c_c) * rates.mu_eff) * mean_step
        self._adapt_covariance(white, steps, (1.0 - calm) * c_c * (2.0 - c_c))
        self.mean = self.mean + self.sigma * mean_step
        self.sigma *= math.exp(min(1.0, c_s / rates.d_sigma * (length / expected - 1.0)))
        self.decompose()
        self.sigma *= min(1.0, LARGEST_DEVIATION / float(self.spread.max()))

    def _adapt_covariance(self, white: NDArray[np.float64], steps: NDArray[np.float64], stalled: float) -> None:
        rates, n = self.rates, len(self.mean)
        lengths = np.einsum("ij,ij->i", white, white)
        weights = np.where(rates.weights >= 0.0, rates.weights, rates.weights * n / np.maximum(lengths, 1e-300))
        columns = np.ascontiguousarray(steps.T)
        rank_mu = np.einsum("ji,ki->jk", columns * weights, columns)
        kept = 1.0 + rates.c_1 * stalled - rates.c_1 - rates.c_mu * rates.weights.sum()
        rank_one = np.outer(self.path_c, self.path_c)
        updated = kept * self.covariance + rates.c_1 * rank_one + rates.c_mu * rank_mu
        self.covariance = 0.5 * (updated + updated.T)
