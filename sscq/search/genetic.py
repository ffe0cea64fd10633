"""Genetic algorithm on DEAP: tournament, simulated binary or blend crossover, polynomial mutation, elite.

DEAP keeps the operators (toolbox), the elite (hall of fame) and the course of the search (logbook, statistics). The
operators registered are array operators on whole populations: DEAP's own go through individuals and genes in Python,
which would cost more than the compiled simulation of the individuals does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq.search.method import Cube, Strategy, usual_population, whole
from sscq.search.operators import Variation, first_population, toolbox
from sscq.search.search import evolve

if TYPE_CHECKING:
    from deap import tools
    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["GeneticAlgorithm", "evolve", "toolbox"]

USUAL_GENERATIONS = 60


@dataclass(frozen=True, kw_only=True)
class GeneticAlgorithm(Variation):
    """Settings of the genetic algorithm; the others are described in :class:`SearchMethod` and :class:`Variation`.

    Given neither `generations` nor `evaluations`, it stops after 60 generations, and in any case when it stalls. To
    spend a budget to the last evaluation, as comparisons of methods must, give it and ``stall_generations=None``.

    Attributes
    ----------
    population : int, optional
        None: 24 sqrt(genes), at least 24.
    elite : int
        Best individuals, all different, that are kept unchanged.
    """

    stall_generations: int | None = 15
    elite: int = 2

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.generations is None and self.evaluations is None:
            object.__setattr__(self, "generations", USUAL_GENERATIONS)
        super().__post_init__()
        whole("elite", self.elite, 1)
        if self.population is not None:
            whole("population", self.population, self.elite + 2)

    def strategy(self, cube: Cube, rng: Generator) -> GeneticStrategy:
        """Return the strategy at its start."""
        return GeneticStrategy(self, cube, rng)


class GeneticStrategy(Strategy):
    """A population and its elite."""

    def __init__(self, config: GeneticAlgorithm, cube: Cube, rng: Generator) -> None:
        from deap import tools

        self.size = max(config.population or usual_population(cube.n_genes), config.elite + 2)
        self.cube, self.rng = cube, rng
        self.toolbox = toolbox(config, cube, rng)
        self.hall: tools.HallOfFame = tools.HallOfFame(config.elite)
        self.population = np.empty((0, cube.n_genes))
        self.fitness = np.empty(0)

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:  # noqa: ARG002  (elite and children are all there is)
        """Return the first population, or the elite followed by children."""
        if len(self.population) == 0:
            return first_population(self.cube, self.rng, self.size)
        elite = np.array(list(self.hall))
        n_pairs = (self.size - len(elite) + 1) // 2
        parents = self.population[self.toolbox.select(self.fitness, 2 * n_pairs)]
        children = np.vstack(self.toolbox.mate(parents[:n_pairs], parents[n_pairs:]))
        return np.vstack((elite, self.toolbox.mutate(children)))[: self.size]

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Make these the population and the best of them its elite."""
        from sscq.search.individual import Individual

        self.population, self.fitness = points, fitness
        self.hall.clear()  # the old elite is among the points, with its present fitness
        for row in np.argsort(fitness, kind="stable"):
            self.hall.update([Individual(points[row].tolist(), float(fitness[row]))])
            if len(self.hall) == self.hall.maxsize:
                break

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the population; the elite follows from it."""
        return {"population": self.population, "fitness": self.fitness}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Become what :meth:`state` told of."""
        if len(state["population"]):
            self.tell(state["population"].astype(np.float64), state["fitness"].astype(np.float64))
