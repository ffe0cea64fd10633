"""The genetic algorithm for several objectives at once: non-dominated sorting with elite and crowding (NSGA-II).

Source: Deb, Pratap, Agarwal and Meyarivan, IEEE Trans. Evol. Comput. 6 (2002), 182-197. Sorting and variation are array
operations on whole populations; a generation's children are valued in one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq import nondominated, operators
from sscq.search_method import Cube, Strategy, whole
from sscq.variation import Variation, first_population, toolbox

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

USUAL_POPULATION = 100
"""Individuals, as in the source: the front is drawn with so many points."""

SMALLEST = 4


@dataclass(frozen=True, kw_only=True)
class NonDominatedSorting(Variation):
    """Settings of NSGA-II; the others are described in :class:`SearchMethod` and :class:`Variation`.

    A front has no single number that could stall, so it ends with its generations or evaluations.

    Attributes
    ----------
    population : int, optional
        Individuals, and so the most points of the front; None: 100.
    """

    tournament: int = 2
    eta_crossover: float = 20.0

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.population is not None:
            whole("population", self.population, SMALLEST)
        if self.stall_generations is not None:
            raise ValueError("a search for a front has no single number that could stall; use stall_generations=None")

    def strategy(self, cube: Cube, rng: Generator) -> FrontStrategy:
        """Return the strategy at its start."""
        return FrontStrategy(self, cube, rng)


class FrontStrategy(Strategy):
    """A population, best first, with its values [n, 1 + n_objectives]: severity, then the objectives."""

    def __init__(self, config: NonDominatedSorting, cube: Cube, rng: Generator) -> None:
        self.size = config.population or USUAL_POPULATION
        self.tournament, self.cube, self.rng = config.tournament, cube, rng
        self.toolbox = toolbox(config, cube, rng)
        self.population = np.empty((0, cube.n_genes))
        self.values = np.empty((0, 1))
        self._revalued = False

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:
        """Return the first population, then children; with `revalue` the parents before them."""
        self._revalued = revalue
        if self.cube.n_genes == 0:
            return np.empty((1, 0))
        if len(self.population) == 0:
            return first_population(self.cube, self.rng, self.size)
        n_pairs = (self.size + 1) // 2
        parents = self.population[self._parents(2 * n_pairs)]
        children = np.vstack(self.toolbox.mate(parents[:n_pairs], parents[n_pairs:]))
        children = self.toolbox.mutate(children)[: self.size]
        return np.vstack((self.population, children)) if revalue else children

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Keep the best of parents and children; `fitness` [n, 1 + n_objectives], severity first."""
        if len(self.population) and not self._revalued:
            points, fitness = np.vstack((self.population, points)), np.vstack((self.values, fitness))
        # A child that equals its parent would share its place on the front and crowd out others.
        _, different = np.unique(points, axis=0, return_index=True)
        different = np.sort(different)
        points, fitness = points[different], fitness[different]
        kept = nondominated.best_first(fitness[:, 1:], fitness[:, 0])[: self.size]
        self.population, self.values = points[kept], fitness[kept]

    def _parents(self, n: int) -> NDArray[np.intp]:
        """Winners [n] of tournaments: who dominates, else who is lonelier, else chance.

        By domination, not by front: a point of a later front that its rival does not dominate may win. That keeps a
        population alive whose first front has but a few points at one end (as in the authors' own program).
        """
        severity, objectives = self.values[:, 0], self.values[:, 1:]
        rank = nondominated.ranks(objectives, severity)
        alone = nondominated.crowding(objectives, rank)
        rivals = operators.fair_rivals(len(self.population), n, self.rng, self.tournament)
        winner = rivals[:, 0]
        for other in rivals.T[1:]:
            above, below = (self._dominates(a, b) for a, b in ((other, winner), (winner, other)))
            lonelier = (alone[other] > alone[winner]) | ((alone[other] == alone[winner]) & (self.rng.random(n) < 0.5))
            winner = np.where(above | (lonelier & ~below), other, winner)
        return winner

    def _dominates(self, one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the first of each pair dominates the second: by severity, without it by the objectives."""
        a, b = self.values[one], self.values[other]
        better = (a[:, 1:] <= b[:, 1:]).all(axis=1) & (a[:, 1:] < b[:, 1:]).any(axis=1)
        return (a[:, 0] < b[:, 0]) | ((a[:, 0] == b[:, 0]) & (a[:, 0] <= 0.0) & better)

    @property
    def converged(self) -> bool:
        """Whether nothing is left to search."""
        return self.cube.n_genes == 0 and len(self.population) > 0

    def front(self) -> NDArray[np.intp]:
        """Return the positions of the individuals that nothing dominates, in order of the first objective."""
        rank = nondominated.ranks(self.values[:, 1:], self.values[:, 0])
        first = np.flatnonzero(rank == 0)
        return first[np.lexsort(self.values[first, :0:-1].T)]

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the population with its values."""
        return {"population": self.population, "values": self.values}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Become what :meth:`state` told of."""
        self.population, self.values = state["population"].astype(np.float64), state["values"].astype(np.float64)
