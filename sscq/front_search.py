"""Search for a trade-off front: the loop of all searches, with several objectives in place of one fitness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sscq.box import Box
from sscq.nsga2 import FrontStrategy, NonDominatedSorting
from sscq.search import Completed, Search, row_of, run
from sscq.search_method import whole
from sscq.search_result import History

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.checkpoint import Checkpoint
    from sscq.search_method import Cube, Strategy
    from sscq.search_result import Progress
    from sscq.valuation import Evaluate


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
    history : History
        `best`, `mean` and `std` of the first objective; `failed` counts genomes that violate constraints.
    evaluations : int
    stopped_by : {"budget", "generations", "converged"}
    """

    genomes: NDArray[np.float64]
    objectives: NDArray[np.float64]
    severity: NDArray[np.float64]
    history: History
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
    report: Callable[[Progress], object] | None = None,
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
        for :func:`sscq.search.evolve`.
    objectives : sequence of str
        Names; how many they are is how many are expected.
    low, high, seed, start, checkpoint, report, scale, names
        As for :func:`sscq.search.evolve`; progress tells of the first objective.

    Returns
    -------
    FrontResult

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
        history = History(**self.course.arrays(done.generation + 1))
        return FrontResult(genomes, values[:, 1:], values[:, 0], history, done.spent, done.stopped_by)

    def _strategy(self, cube: Cube) -> Strategy:
        return self.config.strategy(cube, self.rng)


def _first_objective(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """First objective [n], infinite where constraints are violated."""
    return np.where(values[:, 0] > 0.0, np.inf, values[:, 1])
