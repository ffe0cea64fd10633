"""The loop that all searches share: ask, value, tell; budget, stall, renewal, history and checkpoints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.search.box import Box
from sscq.search.history import GenerationHistory, GenerationLog, SearchProgress, SearchResult
from sscq.search.method import Cube, SearchMethod, SinglePoint, Strategy, whole
from sscq.search.valuation import Evaluate, Valuation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.search.checkpoint import Checkpoint

IDLE_GENERATIONS = 100
"""So many generations without a genome that was not valued before end a search: nothing is left to try."""


def evolve(
    evaluate: Evaluate,
    low: ArrayLike,
    high: ArrayLike,
    config: SearchMethod,
    seed: int,
    start: ArrayLike = (),
    checkpoint: Checkpoint | None = None,
    report: Callable[[SearchProgress], object] | None = None,
    *,
    scale: str | Sequence[str] = "linear",
    names: Sequence[str] = (),
) -> SearchResult:
    """Minimise a fitness over a box.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(genomes [n, n_genes]) -> fitness [n]``, called once a generation with the genomes that were not
        valued before (float64, C-contiguous). Fitness that is not finite counts as worse than any other. With
        ``config.renew_every`` it must have a method ``renew(generation)``, called at generation 0 and then at every
        multiple: random numbers may depend on that argument alone.
    low, high : array [n_genes]
        Genes with low == high are fixed.
    config : SearchMethod
        :class:`GeneticAlgorithm`, :class:`CmaEs` or :class:`DifferentialEvolution`.
    seed : int
        All randomness; the result depends on nothing else.
    start : array [n_start, n_genes]
        Genomes for the first population, clipped into the box.
    checkpoint : Checkpoint, optional
        Where to store the state and to go on from.
    report : callable, optional
        Called with a :class:`SearchProgress` after each generation.
    scale, names
        As for :class:`Box`.

    Raises
    ------
    ValueError
        If an argument is wrong, `evaluate` returns the wrong shape, or the checkpoint is that of another search.
    TypeError
        If `config` is no search method, or `evaluate` cannot be renewed.
    """
    if not isinstance(config, SearchMethod):
        raise TypeError(f"config must be a search method such as GeneticAlgorithm(), got {type(config).__name__}")
    box = Box(row_of(low), row_of(high), tuple([scale] if isinstance(scale, str) else scale), tuple(names))
    seed = whole("seed", seed.item() if isinstance(seed, np.integer) else seed, 0)
    search = Search(evaluate, box, config, seed, box.clip(start))
    run(search, checkpoint, report)
    return search.result()


def run(search: Search, checkpoint: Checkpoint | None, report: Callable[[SearchProgress], object] | None) -> None:
    """Advance a search to its end, going on from its checkpoint and keeping it up to date."""
    if checkpoint is not None:
        search.resume(checkpoint)
    try:
        while not search.completed.stopped_by:
            search.advance()
            if report is not None:
                report(search.progress())
            if checkpoint is not None and checkpoint.due:
                search.store(checkpoint)
    finally:  # whatever ends it, an interrupt from the keyboard included
        if checkpoint is not None:
            search.store(checkpoint)


def row_of(values: ArrayLike) -> tuple[float, ...]:
    """Return one number or several as a tuple."""
    return tuple(np.atleast_1d(np.asarray(values, dtype=np.float64)).tolist())


@dataclass(frozen=True, kw_only=True)
class Completed:
    """State of a search after a completed generation; replaced by one assignment, so that it is always whole."""

    generation: int = -1
    spent: int = 0
    best_fitness: float = np.inf
    best_point: NDArray[np.float64]
    stall_reference: float = np.inf
    stalled: int = 0
    idle: int = 0
    renewed_at: int = -1
    stopped_by: str = ""
    rng: dict[str, Any] = field(default_factory=dict)
    strategy: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    known: dict[bytes, Any] = field(default_factory=dict)
    n_known: int = 0


_NUMBERS = ("generation", "spent", "best_fitness", "stall_reference", "stalled", "idle", "renewed_at")


class Search:
    """One search under way."""

    def __init__(
        self,
        evaluate: Evaluate,
        box: Box,
        config: SearchMethod,
        seed: int,
        start: NDArray[np.float64],
        columns: int = 0,
    ) -> None:
        self.config, self.box, self.seed, self.start = config, box, seed, start
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.valuation = Valuation(evaluate, box, start, config.evaluations, columns)
        self.strategy = self._strategy(Cube(levels=box.levels, start=box.encode(start)))
        self.course = GenerationLog()
        self.completed = self._snapshot(Completed(best_point=np.zeros(len(box.free))))
        self._stored = -1

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What a checkpoint must be of to be gone on from."""
        return {
            "method": type(self.config).__name__,
            "config": asdict(self.config),
            "seed": self.seed,
            "box": asdict(self.box),
            "start": self.start.tolist(),
        }

    def advance(self) -> None:
        """Complete one more generation."""
        last = self.completed
        generation = last.generation + 1
        renewed = self._renewed(generation)
        again = renewed and generation > 0
        points = self.strategy.ask(revalue=again)
        asked = np.vstack((last.best_point, points)) if again else points
        fitness = self.valuation.fitness(asked)
        valued = ~np.isnan(fitness)
        with np.errstate(over="ignore", invalid="ignore"):  # finite fitness may be as large as floats go
            if valued.all():
                self.strategy.tell(points, fitness[len(asked) - len(points) :])
        self.valuation.forget(asked)
        asked, fitness = asked[valued], fitness[valued]
        state = _scored(last, asked, fitness, self.config.stall_tolerance, revalued=again)
        state = replace(
            state,
            generation=generation,
            spent=self.valuation.spent,
            idle=last.idle + 1 if self.valuation.spent == last.spent else 0,
            renewed_at=generation if renewed else last.renewed_at,
        )
        self.course.record(generation, state.spent, state.best_fitness, asked, fitness)
        self.course.crown(generation, state.best_point)
        self.completed = self._snapshot(replace(state, stopped_by=self._stop(state, exhausted=not valued.all())))

    def progress(self) -> SearchProgress:
        """Return what is reported."""
        entry = self.course.entries[-1]
        return SearchProgress(entry["generation"], entry["evaluations"], entry["best"], entry["mean"])

    def result(self) -> SearchResult:
        """Return the result so far."""
        done = self.completed
        genome = self.valuation.genomes(done.best_point[None, :])[0]
        history = GenerationHistory(**self.course.arrays(done.generation + 1))
        _, points = self.course.incumbents(done.generation + 1)
        incumbents = self.valuation.genomes(_rows(points, done.best_point))
        return SearchResult(genome, done.best_fitness, history, done.spent, done.stopped_by, incumbents)

    def store(self, checkpoint: Checkpoint) -> None:
        """Write the last completed generation, unless it is written."""
        done = self.completed
        if done.generation == self._stored:
            return
        arrays = {"best_point": done.best_point, **{name: np.array(getattr(done, name)) for name in _NUMBERS}}
        generations, points = self.course.incumbents(done.generation + 1)
        parts: dict[str, dict[str, NDArray[Any]]] = {
            "incumbents": {"generations": generations, "points": _rows(points, done.best_point)},
            "strategy": done.strategy,
            "history": self.course.arrays(done.generation + 1),
            "remembered": self.valuation.remembered(done.known, done.n_known),
        }
        arrays |= {f"{part}.{name}": values for part, given in parts.items() for name, values in given.items()}
        checkpoint.write(self.identity, {"rng": done.rng, "stopped_by": done.stopped_by}, arrays)
        self._stored = done.generation

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint, if there is one."""
        stored = checkpoint.read(self.identity)
        if stored is None:
            return
        notes, arrays = stored
        self.rng.bit_generator.state = notes["rng"]
        self.strategy.restore(_part("strategy", arrays))
        self.course.restore(_part("history", arrays))
        self.course.restore_incumbents(arrays["incumbents.generations"], arrays["incumbents.points"])
        numbers = {name: arrays[name].item() for name in _NUMBERS}
        if numbers["renewed_at"] >= 0:
            self.valuation.renew(numbers["renewed_at"])
        self.valuation.spent = numbers["spent"]
        self.valuation.remember(arrays["remembered.genomes"], arrays["remembered.fitness"])
        state = Completed(best_point=arrays["best_point"], stopped_by=notes["stopped_by"], **numbers)
        self.completed = self._snapshot(state)
        self._stored = state.generation

    def _strategy(self, cube: Cube) -> Strategy:
        return self.config.strategy(cube, self.rng) if cube.n_genes else SinglePoint()

    def _snapshot(self, state: Completed) -> Completed:
        known = self.valuation.known
        rng = dict(self.rng.bit_generator.state)
        return replace(state, rng=rng, strategy=self.strategy.state(), known=known, n_known=len(known))

    def _renewed(self, generation: int) -> bool:
        every = self.config.renew_every
        if every is None or generation % every:
            return False
        self.valuation.renew(generation)
        return True

    def _stop(self, state: Completed, *, exhausted: bool) -> str:
        config = self.config
        if exhausted or (config.evaluations is not None and state.spent >= config.evaluations):
            return "budget"
        if config.generations is not None and state.generation + 1 >= config.generations:
            return "generations"
        if config.stall_generations is not None and state.stalled >= config.stall_generations:
            return "stall"
        return "converged" if self.strategy.converged or state.idle >= IDLE_GENERATIONS else ""


def _rows(points: list[NDArray[np.float64]], like: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(points, dtype=np.float64).reshape(len(points), len(like))


def _scored(
    last: Completed, points: NDArray[np.float64], fitness: NDArray[np.float64], tolerance: float, *, revalued: bool
) -> Completed:
    """Best and stall after a generation; where all was revalued the first point is the best one so far."""
    row = int(np.argmin(fitness))
    best, reference = (fitness[0],) * 2 if revalued else (last.best_fitness, last.stall_reference)
    point = points[row] if fitness[row] < best or last.generation < 0 else last.best_point
    best, reference = min(float(best), float(fitness[row])), float(reference)
    progress = reference - best > tolerance * abs(reference) if np.isfinite(reference) else best < reference
    return replace(
        last,
        best_fitness=best,
        best_point=point,
        stall_reference=best if progress else reference,
        stalled=0 if progress else last.stalled + 1,
    )


def _part(part: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(f"{part}."): values for name, values in arrays.items() if name.startswith(f"{part}.")}
