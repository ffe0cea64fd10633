"""The genetic algorithm for several objectives at once: non-dominated sorting with elite and crowding (NSGA-II).

Fronts are sorted by moocore (LGPL 2.1 or later, as DEAP); crowding and variation are array operations on whole
populations, never pair by pair in Python. A generation's children are valued in one call.

Source: Deb, Pratap, Agarwal and Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE Trans.
Evol. Comput. 6 (2002), 182-197; constraint domination: its section VI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers.settings import inherited
from sscq.search import operators
from sscq.search.method import Cube, Strategy
from sscq.search.operators import Variation, first_population, toolbox

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray


def ranks(objectives: ArrayLike, severity: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return the front that each point belongs to [n]; 0: nothing dominates it.

    Parameters
    ----------
    objectives : array [n, n_objectives]
        Minimised; may be infinite, and NaN is worse than that.
    severity : array [n], optional
        How badly constraints are violated, 0: not at all. Points without violation come before all others; those are
        ordered by severity alone (constraint domination).
    """
    import moocore  # a tenth of a second that only searches for a front spend

    rows = np.asarray(objectives, float)
    bad = np.zeros(len(rows)) if severity is None else np.asarray(severity, float)
    found = np.zeros(len(rows), np.intp)
    feasible = np.flatnonzero(bad <= 0.0)
    n_fronts = 0
    if feasible.size:
        found[feasible] = moocore.pareto_rank(_finite(rows[feasible]))
        n_fronts = int(found[feasible].max()) + 1
    others = np.flatnonzero(bad > 0.0)
    found[others] = n_fronts + np.unique(bad[others], return_inverse=True)[1].reshape(-1)
    return found


def _finite(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers with the same order in every column, all finite.

    Infinite values give moocore 0.3.2 wrong ranks of three and more objectives, and may crash it.
    """
    if np.isfinite(rows).all():
        return rows
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in rows.T]).astype(float)


def crowding(objectives: ArrayLike, rank: ArrayLike) -> NDArray[np.float64]:
    """Return the crowding distance of each point in its front [n]: how far apart its neighbours are.

    The sum over the objectives of the distance between both neighbours as a share of the front's range, infinite at
    the front's ends. An objective in which a front does not differ counts nothing, unless it is one or two points.
    """
    rows, rank = np.asarray(objectives, float), np.asarray(rank)
    total = np.zeros(len(rows))
    if not len(rows):
        return total
    for column in rows.T:
        order = np.lexsort((column, rank))
        value, front = column[order], rank[order]
        first = np.flatnonzero(np.r_[True, front[1:] != front[:-1]])
        last = np.r_[first[1:], len(front)] - 1
        with np.errstate(invalid="ignore", divide="ignore"):  # infinite objectives, fronts without range
            spread = np.repeat(value[last] - value[first], last - first + 1)
            apart = np.zeros(len(rows))
            apart[1:-1] = (value[2:] - value[:-2]) / spread[1:-1]
        apart = np.where((spread > 0.0) & np.isfinite(apart), apart, 0.0)
        # Without a range the order is that of chance, and so are its ends; a front of one or two is all ends.
        ended = (spread[first] > 0.0) | (last - first < 2)
        apart[first[ended]] = apart[last[ended]] = np.inf
        total[order] += apart
    return total


def best_first(objectives: ArrayLike, severity: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return the positions of all points [n], best first: by front, then by crowding distance, the loneliest first."""
    rank = ranks(objectives, severity)
    return np.lexsort((-crowding(objectives, rank), rank))


USUAL_POPULATION = 100
"""Individuals, as in the source: the front is drawn with so many points."""

SMALLEST = 4


@dataclass(frozen=True, kw_only=True)
class NonDominatedSorting(Variation):
    """Settings of NSGA-II; the others are described in :class:`SearchMethod` and :class:`Variation`.

    A front has no single number that could stall, so it ends with its generations or evaluations.

    The population, and so the most points of the front, is 100 where it is not given.
    """

    tournament: int = inherited(Variation, "tournament", 2)
    eta_crossover: float = inherited(Variation, "eta_crossover", 20.0)

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
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
        kept = best_first(fitness[:, 1:], fitness[:, 0])[: self.size]
        self.population, self.values = points[kept], fitness[kept]

    def _parents(self, n: int) -> NDArray[np.intp]:
        """Winners [n] of tournaments: who dominates, else who is lonelier, else chance.

        By domination, not by front: a point of a later front that its rival does not dominate may win. That keeps a
        population alive whose first front has but a few points at one end (as in the authors' own program).
        """
        severity, objectives = self.values[:, 0], self.values[:, 1:]
        rank = ranks(objectives, severity)
        alone = crowding(objectives, rank)
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
        rank = ranks(self.values[:, 1:], self.values[:, 0])
        first = np.flatnonzero(rank == 0)
        return first[np.lexsort(self.values[first, :0:-1].T)]

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the population with its values."""
        return {"population": self.population, "values": self.values}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Restore what :meth:`state` returned."""
        self.population, self.values = state["population"].astype(np.float64), state["values"].astype(np.float64)
