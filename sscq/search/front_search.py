"""Search for a trade-off front, and the choice of one of its points.

The search is the loop of all searches, with several objectives in place of one fitness. The point chosen is the knee,
or the least of one objective within a budget or a limit of another.

Knee: with each objective scaled to 0 at its least value and 1 at its largest on the front, the point farthest below
the plane sum_k f_k = 1 through the scaled ends, so the one with the largest distance

    d = (1 - sum_k f_k) / sqrt(n_objectives).

With two objectives the plane is the chord between both ends: Das, On characterizing the "knee" of the Pareto curve
based on normal-boundary intersection, Structural Optimization 18 (1999), 107-115. With more, the plane of unit
intercepts: Zhang, Tian and Jin, A knee point driven evolutionary algorithm, IEEE Trans. Evol. Comput. 19 (2015),
761-776. The plane through the points that are best in one objective each, which the first source would take, does not
exist where two objectives are best at the same point, as entropy production and actuator travel nearly are.

Where a knee lies depends on where the front ends: an end that nobody wants pulls it. So fronts are cut off first, at a
largest error that is still of use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sscq.search.box import Box
from sscq.search.history import GenerationHistory
from sscq.search.method import whole
from sscq.search.nsga2 import FrontStrategy, NonDominatedSorting
from sscq.search.search import Completed, Search, row_of, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.search.checkpoint import Checkpoint
    from sscq.search.history import SearchProgress
    from sscq.search.method import Cube, Strategy
    from sscq.search.valuation import Evaluate


@dataclass(frozen=True, eq=False)
class FrontResult:
    """What :func:`search_front` gives.

    Attributes
    ----------
    genomes : ndarray [n, n_genes]
        Those of the last population that no other dominates, in order of the first objective.
    objectives : ndarray [n, n_objectives]
        Minimised.
    severity : ndarray [n]
        0; above where every genome violates constraints: then the least bad ones.
    history : GenerationHistory
        `best`, `mean` and `std` of the first objective; `failed` counts genomes that violate constraints.
    evaluations : int
    stopped_by : {"budget", "generations", "converged"}
    """

    genomes: NDArray[np.float64]
    objectives: NDArray[np.float64]
    severity: NDArray[np.float64]
    history: GenerationHistory
    evaluations: int
    stopped_by: str


def search_front(
    evaluate: Evaluate,
    low: ArrayLike,
    high: ArrayLike,
    objectives: Sequence[str],
    config: NonDominatedSorting,
    seed: int,
    start: ArrayLike = (),
    checkpoint: Checkpoint | None = None,
    report: Callable[[SearchProgress], object] | None = None,
    *,
    scale: str | Sequence[str] = "linear",
    names: Sequence[str] = (),
) -> FrontResult:
    """Search the trade-offs between several objectives over a box.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(genomes [n, n_genes]) -> values [n, 1 + n_objectives]``: how badly constraints are violated (0: not
        at all), then the objectives, minimised. Called once a generation with the genomes that were not valued before.
        What is not finite counts as infinitely bad. With ``config.renew_every`` it must have ``renew(generation)``, as
        for :func:`sscq.search.search.evolve`.
    objectives : sequence of str
        Names; how many they are is how many are expected.
    low, high, seed, start, checkpoint, report, scale, names
        As for :func:`sscq.search.search.evolve`; progress tells of the first objective.

    Raises
    ------
    ValueError
        If an argument is wrong, `evaluate` returns the wrong shape, or the checkpoint is that of another search.
    TypeError
        If `config` is no :class:`NonDominatedSorting`, or `evaluate` cannot be renewed.
    """
    if not isinstance(config, NonDominatedSorting):
        raise TypeError(f"config must be NonDominatedSorting(), got {type(config).__name__}")
    if len(objectives) < 2 or len(set(objectives)) != len(objectives):
        raise ValueError(f"a front needs two or more different objectives, got {', '.join(objectives) or 'none'}")
    box = Box(row_of(low), row_of(high), tuple([scale] if isinstance(scale, str) else scale), tuple(names))
    seed = whole("seed", seed.item() if isinstance(seed, np.integer) else seed, 0)
    search = FrontSearch(evaluate, box, config, seed, box.clip(start), tuple(objectives))
    run(search, checkpoint, report)
    return search.front()


class FrontSearch(Search):
    """One search for a front under way."""

    strategy: FrontStrategy

    def __init__(
        self,
        evaluate: Evaluate,
        box: Box,
        config: NonDominatedSorting,
        seed: int,
        start: NDArray[np.float64],
        objectives: tuple[str, ...],
    ) -> None:
        super().__init__(evaluate, box, config, seed, start, columns=1 + len(objectives))
        self.identity["objectives"] = list(objectives)

    def advance(self) -> None:
        """Complete one more generation; what the budget still paid for takes part."""
        last = self.completed
        generation = last.generation + 1
        renewed = self._renewed(generation)
        points = self.strategy.ask(revalue=renewed and generation > 0)
        values = self.valuation.fitness(points)
        valued = ~np.isnan(values[:, 0])
        points, values = points[valued], values[valued]
        if len(points):
            self.strategy.tell(points, values)
        self.valuation.forget(np.vstack((self.strategy.population, points)))
        state = self._reached(replace(last, generation=generation, spent=self.valuation.spent))
        state = replace(
            state,
            idle=last.idle + 1 if state.spent == last.spent else 0,
            renewed_at=generation if renewed else last.renewed_at,
        )
        self.course.record(generation, state.spent, state.best_fitness, points, _first_objective(values))
        self.completed = self._snapshot(replace(state, stopped_by=self._stop(state, exhausted=not valued.all())))

    def _reached(self, state: Completed) -> Completed:
        """The state with the least first objective of the population, infinite while all violate constraints."""
        error = _first_objective(self.strategy.values)
        row = int(np.argmin(error))
        return replace(state, best_fitness=float(error[row]), best_point=self.strategy.population[row])

    def front(self) -> FrontResult:
        """Return the front so far."""
        done, rows = self.completed, self.strategy.front()
        values = self.strategy.values[rows]
        genomes = self.valuation.genomes(self.strategy.population[rows])
        history = GenerationHistory(**self.course.arrays(done.generation + 1))
        return FrontResult(genomes, values[:, 1:], values[:, 0], history, done.spent, done.stopped_by)

    def _strategy(self, cube: Cube) -> Strategy:
        return self.config.strategy(cube, self.rng)


def _first_objective(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """First objective [n], infinite where constraints are violated."""
    return np.where(values[:, 0] > 0.0, np.inf, values[:, 1])


def scaled(objectives: ArrayLike) -> NDArray[np.float64]:
    """Return the objectives [n, n_objectives] scaled to 0 at the least and 1 at the largest; 0 where all are equal."""
    rows = _checked(objectives)
    span = np.ptp(rows, axis=0)
    return (rows - rows.min(axis=0)) / np.where(span > 0.0, span, 1.0)


def below_plane(objectives: ArrayLike) -> NDArray[np.float64]:
    """Return the distance of each point of a front below the plane through its scaled ends [n]."""
    rows = scaled(objectives)
    return (1.0 - rows.sum(axis=1)) / np.sqrt(rows.shape[1])


def knee(objectives: ArrayLike) -> int:
    """Return the position of the knee of a front [n, n_objectives]; of equals the one with the least first objective.

    Raises
    ------
    ValueError
        If the front is empty or not finite.
    """
    rows = _checked(objectives)
    return int(np.lexsort((rows[:, 0], -below_plane(rows)))[0])


def within_budget(objectives: ArrayLike, budget: float, of: int = 0, least: int = 1) -> int:
    """Return the position of the least of one objective at no more than (1 + budget) times the least of another.

    Parameters
    ----------
    objectives : array [n, n_objectives]
        Not negative in the objective that the budget is of.
    budget : float
        Share by which the objective `of` may exceed its least value on the front.
    of, least : int
        Which objective the budget limits, and which is then minimised.

    Raises
    ------
    ValueError
        If the front is empty or not finite, or the budget is negative.
    """
    rows = _checked(objectives)
    if not budget >= 0.0:
        raise ValueError(f"the budget must be a share >= 0, got {budget}")
    affordable = np.flatnonzero(rows[:, of] <= (1.0 + budget) * rows[:, of].min())
    return int(affordable[np.lexsort((rows[affordable, of], rows[affordable, least]))[0]])


def within_limit(objectives: ArrayLike, limit: float, of: int = 1, least: int = 0) -> int | None:
    """Return the position of the least of one objective where another is at most `limit`; None where it never is.

    Raises
    ------
    ValueError
        If the front is empty or not finite, or the limit is not a number.
    """
    rows = _checked(objectives)
    if np.isnan(limit):
        raise ValueError("the limit must be a number, got nan")
    allowed = np.flatnonzero(rows[:, of] <= limit)
    return int(allowed[np.lexsort((rows[allowed, of], rows[allowed, least]))[0]]) if allowed.size else None


def _checked(objectives: ArrayLike) -> NDArray[np.float64]:
    rows = np.asarray(objectives, float)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise ValueError(
            f"a front must be finite numbers [n, n_objectives] of one point or more, got shape {rows.shape}"
        )
    return rows
