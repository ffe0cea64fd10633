"""A map of what controllers cost over two ranges: of plant parameters, delays, noises or starts; many thousand loops.

A situation's start is a row of numbers, and each of two quantities usually sets numbers of its own in it. So starts are
made for the edges of the map alone and put together for its inside; some points are made in full to see that the
numbers are the same. Numbers that hang on both, which is what a plant loses at rest, are found on a coarse grid and by
splines between. Where this is not close enough, or a plant may refuse a point, every point is made in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.gpu.run import run as on_gpu
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.motion.loop_account import warn
from plants.core.motion.simulate import count_steps
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.evaluate import as_theta
from sscq.loop.quality import Quality
from sscq.worst.genome import begins
from sscq.worst.map_axes import check_pair, delays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.loop.closed_loop import Call
    from sscq.situations.situation import Situation
    from sscq.worst.map_axes import MapAxis

    Array = NDArray[np.float64]

_PROBES = 24
"""Points that are made in full, at random places, before starts that are put together are believed."""

_NODES, _CLOSE = 17, 1e-4
"""Of the coarse grid in each direction; how close splines must come at the probes, as a share of a number's range."""

_ROUNDING = 1e-9  # of equilibria, relative to the largest number

_AT_ONCE, _IN_FULL = {"cpu": 50_000, "cuda": 500_000}, 2_000
"""Rollouts of a call, between which progress is told and Ctrl-C served; points in full, whose equilibria are kept."""


@dataclass(frozen=True)
class RobustnessMap:
    """What controllers cost over two quantities.

    Attributes
    ----------
    x, y : MapAxis
    names : tuple of str
        Of the controllers.
    cost : array [controller, n_y, n_x]
        Mean of the fitness over the seeds; lost loops count by their penalty. NaN where the plant cannot start.
    lost : array [controller, n_y, n_x]
        Share of the seeds whose loop diverged.
    starts : str
        How the situations' starts were made: "exact", "in full", or "close": what a plant loses at rest is known
        within 1e-4 of its range over the map, all else exactly.
    """

    x: MapAxis
    y: MapAxis
    names: tuple[str, ...]
    cost: Array
    lost: Array
    starts: str


@dataclass(frozen=True)
class MapSettings:
    """How a map is made.

    Attributes
    ----------
    fitness : Fitness
    step : float
        Integration step [s].
    seeds : int
        Repetitions of each point with other noise.
    integrator, algebraic_loop, device : str
    threads : int or None
    """

    fitness: Fitness
    step: float
    seeds: int = 1
    integrator: str = "rk4"
    algebraic_loop: str = "solved"
    device: str = "cpu"
    threads: int | None = None


def robustness_map(
    plant: Plant,
    controllers: Mapping[str, tuple[Any, Any]],
    situation: Situation,
    x: MapAxis,
    y: MapAxis,
    settings: MapSettings,
    report: Callable[[int], object] | None = None,
) -> RobustnessMap:
    """Return the map of controllers, each by name with its gains (None: its own numbers).

    Parameters
    ----------
    report : callable, optional
        Told after each call how many loops have been run in all.

    Raises
    ------
    ValueError
        If both axes are delays (the plant's own dead time is one) or the same quantity, a controller is given several
        sets of gains, or the plant can start nowhere on the map's edges.

    Warns
    -----
    LoopGainWarning
        Once for a controller, where a loop-free mode met a gain of the plant's algebraic loop that it does not bear.
    """
    check_pair(plant, x, y)
    runs = [_Runs(plant, *controller, situation, (x, y), settings) for controller in controllers.values()]
    ways = {one.starts() for one in runs}
    way = next(each for each in ("in full", "close", "exact") if each in ways)
    in_full = way == "in full"
    cost = np.full((len(runs), *runs[0].shape), np.nan)
    lost, done = cost.copy(), 0
    for first, last in runs[0].bands(in_full):
        for number, one in enumerate(runs):
            one.fill(cost[number, first:last], lost[number, first:last], (first, last), in_full)
            done += (last - first) * runs[0].shape[1] * settings.seeds
            if report is not None:
                report(done)
    for one in runs:
        one.caution()
    if runs[0].turned:
        cost, lost = (np.swapaxes(each, 1, 2) for each in (cost, lost))
    return RobustnessMap(x, y, tuple(controllers), cost, lost, way)


class _Runs:
    """One controller all over a map."""

    def __init__(
        self,
        plant: Plant,
        controller: Any,
        gains: Any,
        situation: Situation,
        axes: tuple[MapAxis, MapAxis],
        settings: MapSettings,
    ) -> None:
        self.plant, self.controller, self.situation, self.settings = plant, controller, situation, settings
        self.turned = axes[0].name in delays(plant)  # a delay is the same for a whole call: it goes along the rows
        self.along, self.rows = axes if not self.turned else axes[::-1]
        edges = self._edges()
        begun = [one for one in edges if begins(plant, one, settings.step)] if self._refuses() else edges
        if not begun:
            raise ValueError(
                f"plant {plant.name!r} cannot start or rest anywhere on the map's edges: {situation.name!r}"
            )
        self._whole = len(begun) == len(edges)
        self.loop = self._loop(begun)
        self._met: list[Array] = []
        self.theta = as_theta(controller, self.loop, gains)
        if len(self.theta) != 1:
            raise ValueError(f"a map is of one set of gains, got {len(self.theta)}")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the work."""
        return len(self.rows.values), len(self.along.values)

    def bands(self, in_full: bool) -> Iterator[tuple[int, int]]:
        """Rows of the map that are run together, by all controllers one after the other: they share equilibria."""
        n, columns = self.shape
        most = _AT_ONCE[self.settings.device]
        size = _IN_FULL // columns if in_full else most // (columns * self.settings.seeds)
        size = 1 if self.rows.name in delays(self.plant) and not in_full else max(1, size)
        yield from ((first, min(first + size, n)) for first in range(0, n, size))

    def fill(self, cost: Array, lost: Array, band: tuple[int, int], in_full: bool) -> None:
        """Give cost and lost [rows of the band, columns] their values."""
        for where, each_cost, each_lost in self._in_full(*band) if in_full else self._put_together(*band):
            cost.reshape(-1)[where] = each_cost
            lost.reshape(-1)[where] = each_lost

    # --------------------------------------------------------------------------------------------------- situations

    def _at(self, column: int, row: int) -> Situation:
        placed = self.along.set_in(self.situation, float(self.along.values[column]), self.plant)
        return self.rows.set_in(placed, float(self.rows.values[row]), self.plant)

    def _edges(self) -> list[Situation]:
        """The first row, then the first column; then the far corner, which has all that any point has."""
        columns, rows = len(self.along.values), len(self.rows.values)
        first = [self._at(column, 0) for column in range(columns)]
        return [*first, *(self._at(0, row) for row in range(rows)), self._at(columns - 1, rows - 1)]

    def _refuses(self) -> bool:
        """Whether there may be points at which the plant cannot start or rest."""
        return self.plant.admissible is not None or self.plant.loses_at_rest

    def _loop(self, situations: list[Situation]) -> ClosedLoop:
        own = self.settings
        return ClosedLoop(
            self.plant,
            self.controller,
            situations,
            own.step,
            measures=own.fitness.measures,
            entropy_scale=own.fitness.entropy_scale,
            integrator=own.integrator,
            algebraic_loop=own.algebraic_loop,
            device=own.device,
        )

    # ------------------------------------------------------------------------------------------- starts put together

    def starts(self) -> str:
        """Return how starts are made, see :class:`RobustnessMap`; the least that will do."""
        columns, rows = len(self.along.values), len(self.rows.values)
        if self.plant.admissible is not None or not self._whole:
            return "in full"
        edges = np.stack([self.loop.start_rows(k) for k in range(columns + rows)])
        self._along, self._down = edges[:columns], edges[columns:]
        self._moved = (self._along != edges[0]).any(axis=0)
        down = (self._down != edges[0]).any(axis=0)
        both = np.flatnonzero(self._moved & down)
        if any((changed & (self._moved | down)).any() for changed in self._of_seeds[0]):
            return "in full"
        splines = self._of_both(both) if len(both) else {}
        if splines is None:
            return "in full"
        self._splines = splines
        places = np.random.default_rng(0).integers(0, (columns, rows), (_PROBES, 2)).tolist()
        made = self._made(places)
        if made is None:
            return "in full"
        put_together = np.stack([self._rows_at(range(row, row + 1))[column] for column, row in places])
        if made.tobytes() == put_together.tobytes():
            return "exact"
        apart = np.abs(made - put_together)
        differs = np.flatnonzero(~(apart == 0.0).all(axis=0))
        if not np.isfinite(apart[:, differs]).all():
            return "in full"
        rounding = _ROUNDING * np.abs(made[:, differs]).max(initial=0.0)  # a loss that is 0 comes out as 1e-17
        allowed = np.maximum(_CLOSE * np.ptp(made[:, differs], axis=0), rounding)
        return "in full" if (apart[:, differs] > allowed).any() else "close"

    def _of_both(self, numbers: NDArray[np.intp]) -> dict[int, Any] | None:
        """Splines over the map of numbers that hang on both quantities, where a plant can rest all over it."""
        columns, rows = (
            np.unique(np.linspace(0, n - 1, _NODES).round().astype(int))
            for n in (len(self.along.values), len(self.rows.values))
        )
        if min(len(columns), len(rows)) < _NODES:
            return None  # few points: they are made in full as fast
        places = [(column, row) for column in columns.tolist() for row in rows.tolist()]
        made = self._made(places)
        if made is None:
            return None
        from scipy.interpolate import RectBivariateSpline

        table = made.reshape(len(columns), len(rows), -1)
        x, y = self.along.values[columns], self.rows.values[rows]
        return {int(k): RectBivariateSpline(x, y, table[:, :, k]) for k in numbers}

    def _made(self, places: list[tuple[int, int]]) -> Array | None:
        """Starts in full at places (column, row); None where the plant refuses one, or the kernel is another."""
        several = [self._at(*place) for place in places]
        if self._refuses() and not all(begins(self.plant, one, self.settings.step) for one in several):
            return None
        loop = self._loop([*several, *self.loop.situations])
        same = loop.kernel.text == self.loop.kernel.text
        return np.stack([loop.start_rows(k) for k in range(len(places))]) if same else None

    def _rows_at(self, rows: range) -> Array:
        """Starts of whole rows of the map, row by row, without delay lines."""
        columns = len(self.along.values)
        along = np.tile(self._along, (len(rows), 1))
        down = np.repeat(self._down[rows.start : rows.stop], columns, axis=0)
        made = np.where(self._moved, along, down)
        for number, spline in self._splines.items():
            made[:, number] = spline(self.along.values, self.rows.values[rows.start : rows.stop]).T.reshape(-1)
        return made

    def _put_together(self, first: int, last: int) -> Iterator[tuple[Any, Array, Array]]:
        columns, n_rows = len(self.along.values), self.loop.design.rows.count
        call = self.loop.call((columns + first,))
        start = np.repeat(call.start, (last - first) * columns, axis=0)
        start[:, :n_rows] = self._rows_at(range(first, last))
        yield slice(None), *self._judged(call, start)

    @cached_property
    def _streams(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Array]]:
        """Random numbers of each seed: those of the far corner, which has every noise that any point has."""
        far = len(self.loop.situations) - 1
        return [self.loop.repeated(seed).call((far,)).streams for seed in range(self.settings.seeds)]

    @cached_property
    def _of_seeds(self) -> tuple[list[NDArray[np.bool_]], list[Array]]:
        """Which numbers of a start are other ones with each seed (how filtered noise begins), and the starts."""
        far = len(self.loop.situations) - 1
        starts = [self.loop.repeated(seed).start_rows(far) for seed in range(self.settings.seeds)]
        return [one != starts[0] for one in starts], starts

    def _judged(self, call: Call, start: Array) -> tuple[Array, Array]:
        """Mean cost and share of lost loops of starts."""
        seeds, n, streams = self.settings.seeds, len(start), self._streams
        codes, keys = (np.repeat(np.concatenate([one[k] for one in streams]), n, axis=0) for k in range(2))
        steps = count_steps(self.situation.t_end, self.settings.step)
        every = np.tile(start, (seeds, 1))
        for seed, (changed, begun) in enumerate(zip(*self._of_seeds, strict=True)):
            places = np.flatnonzero(changed)
            every[seed * n : (seed + 1) * n, places] = begun[places]
        numbers = (self.settings.step, 0, call.integers, call.numbers)
        return self._costs(RolloutJob(every, self.theta, codes, keys, streams[0][2], steps, *numbers))

    def _costs(self, job: RolloutJob) -> tuple[Array, Array]:
        loop, seeds = self.loop, self.settings.seeds
        if self.settings.device == "cuda":
            results = on_gpu(loop.device_text, job)
        else:
            where = grid(len(job.start), 1, loop.kernel.lanes)
            results, _, _ = run(loop.kernel, job, where, threads=self.settings.threads)
        outcome = loop.outcome(results, job.n_steps, None, np.empty(0))
        if loop.watch is not None:
            self._met.append(outcome.watched.max(axis=0))
        diverged = np.where(outcome.steps < job.n_steps, outcome.steps * job.step, np.nan)[:, None]
        measures = {name: values[:, None] for name, values in zip(loop.measures, outcome.measures.T, strict=True)}
        names = ("",) * len(diverged)
        quality = Quality(names, np.full(len(diverged), self.situation.t_end), diverged, measures)
        cost = self.settings.fitness.per_situation(quality)[:, 0].reshape(seeds, -1)
        return cost.mean(axis=0), np.isfinite(diverged[:, 0]).reshape(seeds, -1).mean(axis=0)

    def caution(self) -> None:
        """Say what a loop-free mode did not bear; points made in full have said it."""
        if self.loop.watch is not None and self._met:
            met = np.max(self._met, axis=0)[None, None]
            warn(self.loop.watch.caution(met, (f"{self.situation.name}, a point of the map",)), 4)

    # ------------------------------------------------------------------------------------------------ starts in full

    def _in_full(self, first: int, last: int) -> Iterator[tuple[Any, Array, Array]]:
        columns = len(self.along.values)
        points = [(column, row) for row in range(first, last) for column in range(columns)]
        several = [self._at(*point) for point in points]
        there = [k for k, one in enumerate(several) if begins(self.plant, one, self.settings.step)]
        if not there:
            return
        # The ends of the edges behind the points: what any of them has is compiled into every call's kernel.
        loop = self._loop([*(several[k] for k in there), self.loop.situations[0], self.loop.situations[-1]])
        total_cost, total_lost = np.zeros(len(there)), np.zeros(len(there))
        for seed in range(self.settings.seeds):
            quality = loop.repeated(seed).evaluate(self.theta, self.settings.threads)
            total_cost += self.settings.fitness.per_situation(quality)[: len(there), 0]
            total_lost += np.isfinite(quality.diverged_at[: len(there), 0])
        yield np.array(there), total_cost / self.settings.seeds, total_lost / self.settings.seeds
