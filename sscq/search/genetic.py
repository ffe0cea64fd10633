"""Genetic algorithm: tournament, simulated binary or blend crossover, polynomial mutation, elite.

DEAP keeps the operators (its toolbox). Those registered are array operators on whole populations: DEAP's own go through
individuals and genes in Python, which would cost more than the compiled simulation of the individuals does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers.settings import inherited, setting
from sscq.search.method import Cube, SearchMethod, Strategy, usual_population, whole
from sscq.search.operators import Variation, first_population, toolbox
from sscq.search.search import evolve

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["GeneticAlgorithm", "evolve", "toolbox"]

USUAL_GENERATIONS = 60


@dataclass(frozen=True, kw_only=True)
class GeneticAlgorithm(Variation):
    """Settings of the genetic algorithm; the others are described in :class:`SearchMethod` and :class:`Variation`.

    Given neither `generations` nor `evaluations`, it stops after 60 generations, and in any case when it stalls. To
    spend a budget to the last evaluation, as comparisons of methods must, give it and ``stall_generations=None``.

    The population is 24 sqrt(genes), at least 24, where it is not given.
    """

    stall_generations: int | None = inherited(SearchMethod, "stall_generations", 15)
    elite: int = setting(2, "best individuals kept unchanged", low=1, advanced=True)

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.generations is None and self.evaluations is None:
            object.__setattr__(self, "generations", USUAL_GENERATIONS)
        super().__post_init__()
        if self.population is not None:
            whole("population", self.population, self.elite + 2)

    def strategy(self, cube: Cube, rng: Generator) -> GeneticStrategy:
        """Return the strategy at its start."""
        return GeneticStrategy(self, cube, rng)


class GeneticStrategy(Strategy):
    """A population and its elite."""

    def __init__(self, config: GeneticAlgorithm, cube: Cube, rng: Generator) -> None:
        self.size = max(config.population or usual_population(cube.n_genes), config.elite + 2)
        self.cube, self.rng = cube, rng
        self.toolbox = toolbox(config, cube, rng)
        self.n_elite = config.elite
        self.population = self.elite = np.empty((0, cube.n_genes))
        self.fitness = np.empty(0)

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:  # noqa: ARG002  (elite and children are all there is)
        """Return the first population, or the elite followed by children."""
        if len(self.population) == 0:
            return first_population(self.cube, self.rng, self.size)
        n_pairs = (self.size - len(self.elite) + 1) // 2
        parents = self.population[self.toolbox.select(self.fitness, 2 * n_pairs)]
        children = np.vstack(self.toolbox.mate(parents[:n_pairs], parents[n_pairs:]))
        return np.vstack((self.elite, self.toolbox.mutate(children)))[: self.size]

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Make these the population and the best of them its elite."""
        self.population, self.fitness = points, fitness
        # The old elite is among the points, with its present fitness.
        self.elite = points[_best_different(points, fitness, self.n_elite)]

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the population; the elite follows from it."""
        return {"population": self.population, "fitness": self.fitness}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Restore what :meth:`state` returned."""
        if len(state["population"]):
            self.tell(state["population"].astype(np.float64), state["fitness"].astype(np.float64))


def _best_different(points: NDArray[np.float64], fitness: NDArray[np.float64], n: int) -> list[int]:
    """Return the rows of the `n` best different points, or of as many as there are, best first; of equals the last."""
    rows: list[int] = []
    for row in np.argsort(fitness, kind="stable").tolist():
        if not any(np.array_equal(points[row], points[other]) for other in rows):
            rows.append(row)
            if len(rows) == n:
                break
    rows.reverse()
    return sorted(rows, key=lambda row: float(fitness[row]))
