"""Evolution strategy with covariance matrix adaptation (CMA-ES), restarted with growing populations.

Sources: Hansen, The CMA evolution strategy: a tutorial, arXiv 1604.00772 (2016), whose equation numbers are given;
restarts: Auger and Hansen, A restart CMA evolution strategy with increasing population size, CEC 2005; bounds: Hansen,
Niederberger, Guzzella and Koumoutsakos, A method for handling uncertainty in evolutionary optimization with an
application to feedback control of combustion, IEEE Trans. Evol. Comput. 13 (2009), 180-197, section IV-B.

Bounds: samples are valued at the nearest point of the cube and pay for their distance. Of the ways to keep bounds
tried here on spheres and (turned) ellipsoids with optima in corners and on faces, mirroring needed two to four times
the evaluations, moving samples into the cube without a penalty failed on some.

Sums of products are made by ``einsum`` in fixed order, for any number of threads. The eigendecomposition is LAPACK's,
whose bits were the same with 1 to 64 OpenBLAS threads up to 120 genes (a test compares 60); for more genes, set
OPENBLAS_NUM_THREADS=1 if results are to be the same on machines with different numbers of cores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.settings import setting
from sscq.search.method import Cube, SearchMethod, Strategy

if TYPE_CHECKING:
    from numpy.random import Generator
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


LARGEST_CONDITION = 1e14
"""Of the covariance matrix: beyond, its small eigenvalues are rounding errors."""


@dataclass(frozen=True, kw_only=True)
class CmaEs(SearchMethod):
    """Settings of CMA-ES; those common to all methods are described in :class:`SearchMethod`.

    The population is that of the first run; where it is not given, 4 + 3 ln(genes).
    """

    sigma: float = setting(0.3, "first standard deviation, as part of each gene's range", above=0)
    restarts: int = setting(9, "new runs from random points after a run has converged", low=0)
    growth: float = setting(2.0, "factor on the population at each restart", low=1)
    fitness_tolerance: float = setting(1e-11, "a run has converged where fitness varies less than this", low=0)
    step_tolerance: float = setting(
        1e-11, "a run has converged where all standard deviations, parts of the ranges, are below this", low=0
    )

    def strategy(self, cube: Cube, rng: Generator) -> CmaStrategy:
        """Return the strategy at its start."""
        return CmaStrategy(self, cube, rng)


_DISTRIBUTION = ("mean", "covariance", "path_c", "path_sigma", "sigma", "updates")


class CmaStrategy(Strategy):
    """Runs of CMA-ES one after the other; with start genomes, the best of them is the first mean."""

    def __init__(self, config: CmaEs, cube: Cube, rng: Generator) -> None:
        self.config, self.cube, self.rng = config, cube, rng
        self.size = config.population or 4 + int(3.0 * math.log(cube.n_genes))
        self.restarts = 0
        self.distribution = Distribution(np.full(cube.n_genes, 0.5), config.sigma, self.size)
        self.penalty = BoundaryPenalty(cube.n_genes)
        self.bests = np.empty(0)
        self.starting = len(cube.start) > 0
        self._converged = False
        self._white = self._steps = self._samples = np.empty((0, cube.n_genes))

    @property
    def converged(self) -> bool:
        """Whether the last run has converged."""
        return self._converged

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:
        """Return the start genomes, then samples moved into the cube."""
        if revalue:
            self.bests = np.empty(0)
        if self.starting:
            return self.cube.start
        self._white = self.rng.standard_normal((self.size, self.cube.n_genes))
        self._steps = self.distribution.coloured(self._white)
        self._samples = self.distribution.mean + self.distribution.sigma * self._steps
        return np.clip(self._samples, 0.0, 1.0)

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Adapt the distribution; restart it where it has converged."""
        best = fitness.min()
        if self.starting:
            self.starting = False
            if np.isfinite(best):
                self.distribution.mean = points[np.argmin(fitness)]
            return
        if not np.isfinite(best):
            return  # a generation of failures teaches nothing
        order = np.argsort(self.penalty.added(self._samples, fitness, self.distribution), kind="stable")
        self.distribution.update(self._white[order], self._steps[order])
        window = 10 + math.ceil(30.0 * self.cube.n_genes / self.size)
        self.bests = np.append(self.bests, best)[-window:]
        if self._run_is_over(fitness, window):
            self._restart()

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the distribution and where in the sequence of runs it is."""
        numbers = np.array([self.size, self.restarts, self.starting, self._converged], dtype=np.int64)
        parts: dict[str, Any] = {name: np.array(getattr(self.distribution, name)) for name in _DISTRIBUTION}
        penalty = {"penalty_weights": self.penalty.weights, "penalty_scales": self.penalty.scales}
        return {**parts, **penalty, "bests": self.bests, "numbers": numbers}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Restore what :meth:`state` returned."""
        size, restarts, starting, converged = state["numbers"].tolist()
        self.size, self.restarts = size, restarts
        self.starting, self._converged = bool(starting), bool(converged)
        self.bests = state["bests"].astype(np.float64)
        self.distribution = Distribution(state["mean"].astype(np.float64), float(state["sigma"]), size)
        for name in ("covariance", "path_c", "path_sigma"):
            setattr(self.distribution, name, state[name])
        self.distribution.updates = int(state["updates"])
        self.distribution.decompose()
        self.penalty.weights = state["penalty_weights"].astype(np.float64)
        self.penalty.scales = state["penalty_scales"].astype(np.float64)

    def _run_is_over(self, fitness: NDArray[np.float64], window: int) -> bool:
        config, distribution, n = self.config, self.distribution, self.cube.n_genes
        finite = fitness[np.isfinite(fitness)]
        flat = len(self.bests) == window and max(np.ptp(self.bests), np.ptp(finite)) < config.fitness_tolerance
        still = max(np.abs(distribution.sigma * distribution.path_c).max(), distribution.spread.max())
        too_long = distribution.updates >= 100 + 50 * (n + 3) ** 2 / math.sqrt(self.size)
        return bool(flat or still < config.step_tolerance or distribution.condition > LARGEST_CONDITION or too_long)

    def _restart(self) -> None:
        if self.restarts == self.config.restarts:
            self._converged = True
            return
        self.restarts += 1
        self.size = round(self.size * self.config.growth)
        mean = self.rng.random(self.cube.n_genes)
        self.distribution = Distribution(mean, self.config.sigma, self.size)
        self.penalty = BoundaryPenalty(self.cube.n_genes)
        self.bests = np.empty(0)
