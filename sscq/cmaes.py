"""Evolution strategy with covariance matrix adaptation (CMA-ES), restarted with growing populations.

Source: Auger and Hansen, A restart CMA evolution strategy with increasing population size, CEC 2005. The adaptation
itself is in :mod:`sscq.normal_distribution`, the bounds are kept by :mod:`sscq.boundary_penalty`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import settings
from sscq.boundary_penalty import BoundaryPenalty
from sscq.normal_distribution import Distribution
from sscq.search_method import Cube, SearchMethod, Strategy, not_negative, whole

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

LARGEST_CONDITION = 1e14
"""Of the covariance matrix: beyond, its small eigenvalues are rounding errors."""


@dataclass(frozen=True, kw_only=True)
class CmaEs(SearchMethod):
    """Settings of CMA-ES; those common to all methods are described in :class:`SearchMethod`.

    Attributes
    ----------
    population : int, optional
        Samples a generation in the first run; None: 4 + 3 ln(genes).
    sigma : float
        First standard deviation, as part of each gene's range.
    restarts : int
        New runs from random points after a run has converged.
    growth : float
        Factor on the population at each restart.
    fitness_tolerance : float
        A run has converged where fitness varies less than this.
    step_tolerance : float
        A run has converged where all standard deviations are below this (parts of the ranges).
    """

    sigma: float = 0.3
    restarts: int = 9
    growth: float = 2.0
    fitness_tolerance: float = 1e-11
    step_tolerance: float = 1e-11

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.population is not None:
            whole("population", self.population, 4)
        whole("restarts", self.restarts, 0)
        settings.positive("sigma", self.sigma)
        if settings.finite("growth", self.growth) < 1.0:
            raise ValueError(f"growth of the population must be at least 1, got {self.growth}")
        not_negative("fitness_tolerance", self.fitness_tolerance)
        not_negative("step_tolerance", self.step_tolerance)

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
        """Become what :meth:`state` told of."""
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
