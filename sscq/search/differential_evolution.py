"""Differential evolution that learns its own step and crossover rates and shrinks its population (L-SHADE).

Source: Tanabe and Fukunaga, Improving the search performance of SHADE using linear population size reduction, CEC 2014;
mutation current-to-pbest/1 with an archive: Zhang and Sanderson, JADE, IEEE Trans. Evol. Comput. 13 (2009), 945-958.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers.settings import setting
from sscq.search.method import Cube, SearchMethod, Strategy, usual_population
from sscq.search.operators import latin_hypercube

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

SMALLEST = 4
"""Individuals that current-to-pbest/1 needs."""

FLAT = 1e-12
"""A population that spans less than this part of every range has converged."""


@dataclass(frozen=True, kw_only=True)
class DifferentialEvolution(SearchMethod):
    """Settings of differential evolution; those common to all methods are described in :class:`SearchMethod`.

    With `evaluations` the population shrinks linearly to 4 while they are spent; without, it keeps its size.

    The population at first is 24 sqrt(genes), at least 24, where it is not given.
    """

    best_share: float = setting(0.11, "share of the population that counts as its best", low=0, high=1)
    archive: float = setting(2.6, "replaced parents that are kept, as a multiple of the population", low=0)
    memory: int = setting(6, "successful rates that are remembered", low=1)

    def strategy(self, cube: Cube, rng: Generator) -> DifferentialStrategy:
        """Return the strategy at its start."""
        return DifferentialStrategy(self, cube, rng)


class DifferentialStrategy(Strategy):
    """Population, archive and the memory of successful rates."""

    def __init__(self, config: DifferentialEvolution, cube: Cube, rng: Generator) -> None:
        self.config, self.cube, self.rng = config, cube, rng
        self.first_size = config.population or usual_population(cube.n_genes)
        self.told = 0
        self.population = self.archive = np.empty((0, cube.n_genes))
        self.fitness = np.empty(0)
        self.memory = np.full((2, config.memory), 0.5)  # of the scale F, of the crossover rate
        self.position = 0
        self._rates = np.empty((2, 0))

    @property
    def converged(self) -> bool:
        """Whether all individuals are the same."""
        return len(self.population) > 0 and bool(np.ptp(self.population, axis=0).max() < FLAT)

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:
        """Return the first population, then one trial for each parent; with `revalue` the parents before them."""
        if len(self.population) == 0:
            n_random = max(self.first_size - len(self.cube.start), 0)
            random = latin_hypercube(self.rng, n_random, self.cube.n_genes) if n_random else self.cube.start[:0]
            return np.vstack((self.cube.start, random))
        trials = self._trials()
        return np.vstack((self.population, trials)) if revalue else trials

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Replace parents by trials that are not worse, learn from the better ones, shrink."""
        self.told += len(points)
        size = len(self.population)
        if size == 0:
            self.population, self.fitness = points, fitness
            return
        if len(points) > size:  # revalued parents come first
            self.fitness = fitness[:size]
        trials, values = points[len(points) - size :], fitness[len(fitness) - size :]
        better = values < self.fitness
        self._learn(better, values)
        self.archive = np.vstack((self.archive, self.population[better]))
        replaced = values <= self.fitness
        self.population = np.where(replaced[:, None], trials, self.population)
        self.fitness = np.where(replaced, values, self.fitness)
        self._shrink()

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return population, archive and memory."""
        return {
            "population": self.population,
            "fitness": self.fitness,
            "archive": self.archive,
            "memory": self.memory,
            "numbers": np.array([self.told, self.position], dtype=np.int64),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Restore what :meth:`state` returned."""
        self.population, self.fitness = state["population"].astype(np.float64), state["fitness"].astype(np.float64)
        self.archive, self.memory = state["archive"].astype(np.float64), state["memory"].astype(np.float64)
        self.told, self.position = state["numbers"].tolist()

    def _trials(self) -> NDArray[np.float64]:
        rng, parents = self.rng, self.population
        size, n_genes = parents.shape
        scale, rate = self._draw_rates(size)
        rows = np.arange(size)
        n_best = max(2, round(self.config.best_share * size))
        best = np.argsort(self.fitness, kind="stable")[rng.integers(0, n_best, size)]
        first = (rows + rng.integers(1, size, size)) % size  # any but the parent itself
        others = np.vstack((parents, self.archive))
        second = rng.integers(0, len(others) - 2, size)  # any but these two: count past the lower, then the upper one
        second = second + (second >= np.minimum(rows, first))
        second = second + (second >= np.maximum(rows, first))
        mutants = parents + scale[:, None] * (parents[best] - parents + parents[first] - others[second])
        mutants = np.where(mutants < 0.0, 0.5 * parents, np.where(mutants > 1.0, 0.5 * (1.0 + parents), mutants))
        taken = rng.random(parents.shape) < rate[:, None]
        taken[rows, rng.integers(0, n_genes, size)] = True
        return np.where(taken, mutants, parents)

    def _draw_rates(self, size: int) -> NDArray[np.float64]:
        """Scale F ~ Cauchy (positive, at most 1) and crossover rate ~ normal in [0, 1] about remembered ones [2, n]."""
        chosen = self.memory[:, self.rng.integers(0, self.memory.shape[1], size)]
        scale = np.zeros(size)
        while (redrawn := np.flatnonzero(scale <= 0.0)).size:
            scale[redrawn] = chosen[0, redrawn] + 0.1 * self.rng.standard_cauchy(redrawn.size)
        rate = chosen[1] + 0.1 * self.rng.standard_normal(size)
        self._rates = np.array((np.minimum(scale, 1.0), np.clip(rate, 0.0, 1.0)))
        return self._rates

    def _learn(self, better: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
        """Put the Lehmer means of the successful rates, weighted by their gains, into the memory's next place."""
        if not better.any():
            return
        gains = self.fitness[better] - values[better]
        known = np.isfinite(gains)  # the gain over a failed parent is not a number to weigh with
        gains = np.where(known, gains, gains[known].max() if known.any() else 1.0)
        rates = self._rates[:, better]
        weighted = rates * (gains / gains.sum())
        means = (weighted * rates).sum(axis=1) / np.maximum(weighted.sum(axis=1), 1e-300)
        self.memory = self.memory.copy()
        self.memory[:, self.position] = means
        self.position = (self.position + 1) % self.memory.shape[1]

    def _shrink(self) -> None:
        budget = self.config.evaluations
        if budget is not None:
            left = max(0.0, 1.0 - self.told / budget)
            size = max(SMALLEST, round(SMALLEST + left * (self.first_size - SMALLEST)))
            if size < len(self.population):
                kept = np.sort(np.argsort(self.fitness, kind="stable")[:size])
                self.population, self.fitness = self.population[kept], self.fitness[kept]
        room = int(self.config.archive * len(self.population))
        if len(self.archive) > room:
            self.archive = self.archive[np.sort(self.rng.permutation(len(self.archive))[:room])]
