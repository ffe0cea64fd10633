"""Genetic algorithm on DEAP: tournament, simulated binary or blend crossover, polynomial mutation, elite.

DEAP keeps the operators (toolbox), the elite (hall of fame) and the course of the search (logbook, statistics). The
operators registered are array operators on whole populations: DEAP's own go through individuals and genes in Python,
which would cost more than the compiled simulation of the individuals does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers import settings
from sscq import operators
from sscq.search import evolve
from sscq.search_method import Cube, SearchMethod, Strategy, share, usual_population, whole

if TYPE_CHECKING:
    from deap import base, tools
    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["GeneticAlgorithm", "evolve"]

USUAL_GENERATIONS = 60


@dataclass(frozen=True, kw_only=True)
class GeneticAlgorithm(SearchMethod):
    """Settings of the genetic algorithm; those common to all methods are described in :class:`SearchMethod`.

    Given neither `generations` nor `evaluations`, it stops after 60 generations, and in any case when it stalls. To
    spend a budget to the last evaluation, as comparisons of methods must, give it and ``stall_generations=None``.

    Attributes
    ----------
    population : int, optional
        None: 24 sqrt(genes), at least 24.
    tournament : int
        Individuals compared in a selection.
    crossover : {"sbx", "blend"}
        Simulated binary crossover or blend crossover (BLX) of real genes; step genes are exchanged uniformly.
    p_crossover : float
        Share of the pairs that are crossed.
    eta_crossover : float
        Distribution index of simulated binary crossover: the larger, the nearer to their parents are children.
    alpha : float
        Part by which blend crossover widens the parents' interval at either end.
    p_mutation : float, optional
        Probability that a gene mutates; None: 1 / genes. Step genes move by one symbol.
    eta_mutation : float
        Distribution index of polynomial mutation: the larger, the smaller the moves.
    elite : int
        Best individuals, all different, that are kept unchanged.
    """

    stall_generations: int | None = 15
    tournament: int = 3
    crossover: str = "sbx"
    p_crossover: float = 0.9
    eta_crossover: float = 15.0
    alpha: float = 0.3
    p_mutation: float | None = None
    eta_mutation: float = 20.0
    elite: int = 2

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.generations is None and self.evaluations is None:
            object.__setattr__(self, "generations", USUAL_GENERATIONS)
        super().__post_init__()
        whole("tournament", self.tournament, 1)
        whole("elite", self.elite, 1)
        if self.population is not None:
            whole("population", self.population, self.elite + 2)
        settings.one_of("crossover", self.crossover, ("sbx", "blend"))
        share("p_crossover", self.p_crossover)
        if self.p_mutation is not None:
            share("p_mutation", self.p_mutation)
        for name in ("eta_crossover", "eta_mutation", "alpha"):
            settings.positive(name, getattr(self, name))

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
            return self._first()
        elite = np.array(list(self.hall))
        n_pairs = (self.size - len(elite) + 1) // 2
        parents = self.population[self.toolbox.select(self.fitness, 2 * n_pairs)]
        children = np.vstack(self.toolbox.mate(parents[:n_pairs], parents[n_pairs:]))
        return np.vstack((elite, self.toolbox.mutate(children)))[: self.size]

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Make these the population and the best of them its elite."""
        from sscq.individual import Individual

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

    def _first(self) -> NDArray[np.float64]:
        start = self.cube.start
        n_random = max(self.size - len(start), 0)
        points = operators.latin_hypercube(self.rng, n_random, self.cube.n_genes) if n_random else start[:0]
        steps = self.cube.levels > 0
        points[:, steps] = np.rint(points[:, steps] * self.cube.levels[steps]) / self.cube.levels[steps]
        return np.vstack((start, points))


def toolbox(config: GeneticAlgorithm, cube: Cube, rng: Generator) -> base.Toolbox:
    """Return the toolbox with ``select``, ``mate`` and ``mutate`` for whole populations; real and step genes apart."""
    from deap import base

    box = base.Toolbox()
    box.register("select", operators.tournament, rng=rng, size=config.tournament)
    p_mutation = 1.0 / cube.n_genes if config.p_mutation is None else config.p_mutation
    if config.crossover == "sbx":
        box.register("mate_real", operators.simulated_binary, rng=rng, eta=config.eta_crossover, p=config.p_crossover)
    else:
        box.register("mate_real", operators.blend, rng=rng, alpha=config.alpha, p=config.p_crossover)
    box.register("mutate_real", operators.polynomial_mutation, rng=rng, eta=config.eta_mutation, p=p_mutation)
    box.register("mate_steps", operators.uniform_exchange, rng=rng, p=config.p_crossover)
    levels = cube.levels[cube.levels > 0]
    box.register("mutate_steps", operators.step_mutation, rng=rng, levels=levels, p=p_mutation)
    box.register("mate", _mate, box, cube.levels > 0)
    box.register("mutate", _mutate, box, cube.levels > 0)
    return box


def _mate(
    box: base.Toolbox, steps: NDArray[np.bool_], first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not steps.any():
        return box.mate_real(first, second)
    one, other = first.copy(), second.copy()
    one[:, steps], other[:, steps] = box.mate_steps(first[:, steps], second[:, steps])
    one[:, ~steps], other[:, ~steps] = box.mate_real(first[:, ~steps], second[:, ~steps])
    return one, other


def _mutate(box: base.Toolbox, steps: NDArray[np.bool_], points: NDArray[np.float64]) -> NDArray[np.float64]:
    if not steps.any():
        return box.mutate_real(points)
    mutated = points.copy()
    mutated[:, steps] = box.mutate_steps(points[:, steps])
    mutated[:, ~steps] = box.mutate_real(points[:, ~steps])
    return mutated
