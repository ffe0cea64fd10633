"""Projected gradient descent from several starts at once: Adam in the unit cube of the genes.

For objectives that know their slopes. Half of the budget goes to as many starts as it has some twenty steps for, which
tells which valleys are deep; from the best quarter of them the other half goes on, with violated margins that cost ten
times as much, so that it ends inside. All take their steps in the same calls. Steps are normalised, so that neither the
size of the fitness nor a penalty near a limit decides how far they go, and shrink to nothing; what is returned is the
best genome that the other half met, limits included, with the best of every start among those met on the way.

Source: D. P. Kingma and J. Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from controllers.settings import setting
from sscq.search.box import Box
from sscq.search.cmaes import CmaEs
from sscq.search.history import GenerationHistory, SearchProgress, SearchResult
from sscq.search.search import row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

COST = 5
"""Evaluations that fitness and slopes of a genome count: one run for the values, and there and back some 3.5."""
_FIRST, _SECOND, _FLOOR = 0.9, 0.99, 1e-3  # of Adam: forgetting of mean and square, least root of the square
_LOOK = 20  # steps that tell what a start leads to
_MOST_STARTS = 16  # the lanes of a kernel
_SHARE, _LEFT = 0.5, 4  # of the budget for looking; one start in so many goes on
_STRICTER = 10.0  # times that a violated constraint costs, going on
_SHORTER = 0.7  # of its length that a step loses while looking; going on, it loses all


class Smooth(Protocol):
    """An objective with slopes."""

    def slopes(self, genomes: Array) -> tuple[Array, Array]:
        """Return fitness [n] and slopes [n, n_genes] of genomes [n, n_genes]."""

    def stricter(self, factor: float) -> Smooth:
        """Return the same with violated constraints that cost so many times as much."""


class SmoothApart(Smooth, Protocol):
    """An objective with slopes of several problems at once, each genome being for one of them."""

    def of(self, owners: NDArray[np.intp]) -> Smooth:
        """Return the same for genomes of other problems: their places [n]."""


@dataclass(frozen=True, kw_only=True)
class GradientDescent:
    """Settings of a descent.

    Attributes
    ----------
    evaluations : int
        Budget, in evaluations of the fitness: a genome with its slopes counts :data:`COST`.
    """

    evaluations: int = setting(1500, "budget; fitness and slopes of a genome count five", low=1)
    step: float = setting(0.05, "first step, in widths of the box", above=0)
    spread: float = setting(0.1, "deviation of further starts from those given, in widths of the box", low=0)

    def without_slopes(self, n_genes: int) -> CmaEs:
        """Return what searches instead where an objective has no slopes: a population well above the usual."""
        population = max(12, round(10.0 * np.sqrt(n_genes)))
        return CmaEs(evaluations=self.evaluations, population=population, sigma=self.spread)

    @property
    def starts(self) -> int:
        """Number of starts: as many as can be looked at, up to sixteen."""
        return int(np.clip(_SHARE * self.evaluations // (COST * _LOOK), 1, _MOST_STARTS))


def descend(
    objective: Smooth,
    low: ArrayLike,
    high: ArrayLike,
    method: GradientDescent,
    seed: int,
    start: ArrayLike,
    *,
    scale: str | Sequence[str] = "linear",
    report: Callable[[SearchProgress], object] | None = None,
) -> SearchResult:
    """Minimise an objective that knows its slopes over a box.

    Parameters
    ----------
    objective : Smooth
    low, high : array [n_genes]
    method : GradientDescent
    seed : int
        Of the further starts.
    start : array [n_start, n_genes]
        The best first; as many as fit are taken, further ones are drawn around them.
    scale, report
        As for :func:`sscq.search.search.evolve`.
    """
    box = Box(row_of(low), row_of(high), tuple([scale] if isinstance(scale, str) else scale))
    course = _Course(objective, box, _starts(box, method, seed, start), report)
    looking, going_on, left = _split(method, len(course.points))
    course.run(looking, method.step, _SHORTER)
    course.keep(left, objective.stricter(_STRICTER))
    course.run(going_on, method.step, 1.0)
    return course.result()


def descend_apart(
    objective: SmoothApart,
    low: ArrayLike,
    high: ArrayLike,
    method: GradientDescent,
    seed: int,
    start: ArrayLike,
    count: int,
    *,
    scale: str | Sequence[str] = "linear",
    report: Callable[[SearchProgress], object] | None = None,
) -> tuple[Array, Array]:
    """Descend for several problems at once, each with the budget and the starts of :func:`descend`.

    Parameters
    ----------
    objective : SmoothApart
    count : int
        Number of problems; the others as for :func:`descend`, starts and box the same for all.

    Returns
    -------
    genomes : array [count, n_genes]
        The best of each problem, as :func:`descend` finds it alone.
    fitness : array [count]
    """
    box = Box(row_of(low), row_of(high), tuple([scale] if isinstance(scale, str) else scale))
    points = _starts(box, method, seed, start)
    owners = np.repeat(np.arange(count), len(points))
    course = _Course(objective.of(owners), box, np.tile(points, (count, 1)), report)
    looking, going_on, left = _split(method, len(points))
    course.run(looking, method.step, _SHORTER)
    course.keep(left, objective.of(np.repeat(np.arange(count), left)).stricter(_STRICTER), count)
    course.run(going_on, method.step, 1.0)
    best = np.argmin(course.best.reshape(count, left), axis=1) + left * np.arange(count)
    return box.decode(course.best_points[best]), course.best[best]


def _split(method: GradientDescent, starts: int) -> tuple[int, int, int]:
    """Steps to look around, those to go on with, and how many of the starts do."""
    genomes = max(1, method.evaluations // COST)
    looking = max(1, round(_SHARE * genomes) // starts)
    if 2 * looking > genomes:  # too few to look around
        looking = 0
    left = max(1, starts // _LEFT)
    return looking, max(1, (genomes - looking * starts) // left), left


def _starts(box: Box, method: GradientDescent, seed: int, start: ArrayLike) -> Array:
    """Points of the unit cube: the given starts, and others drawn around them in turn."""
    given = box.encode(start)[: method.starts]
    rng = np.random.Generator(np.random.PCG64(seed))
    missing = method.starts - len(given)
    around = given[np.arange(missing) % len(given)]
    drawn = around + method.spread * rng.standard_normal(around.shape)
    return np.vstack([given, np.clip(drawn, 0.0, 1.0)])


class _Course:
    """All starts under way."""

    def __init__(
        self, objective: Smooth, box: Box, points: Array, report: Callable[[SearchProgress], object] | None
    ) -> None:
        self.objective, self.box, self.report = objective, box, report
        self.valued = 0
        self.history: list[tuple[int, float, float]] = []
        self.incumbents: list[Array] = []
        self._begin(points, np.full(len(points), np.inf))

    def _begin(self, points: Array, best: Array) -> None:
        self.points, self.best, self.best_points = points, best, points.copy()
        self.mean, self.square = np.zeros_like(points), np.zeros_like(points)

    def run(self, steps: int, first: float, shorter: float) -> None:
        """Take steps, the first of a length [box widths], all others shorter and shorter by a share in the end."""
        for k in range(1, steps + 1):
            self._step(k, first * (1.0 - shorter * (k - 1.0) / steps))
            if self.report is not None:
                evaluations, best, mean = self.history[-1]
                self.report(SearchProgress(len(self.history) - 1, evaluations, best, mean))

    def keep(self, count: int, objective: Smooth, problems: int = 1) -> None:
        """Go on from the best starts of each problem, as if they were new, valued anew; the best are remembered."""
        order = np.argsort(self.best.reshape(problems, -1), axis=1, kind="stable")
        order = order + order.shape[1] * np.arange(problems)[:, None]
        self.incumbents += [self.box.decode(self.best_points[order.ravel()])]
        self.objective = objective
        kept = order[:, :count].ravel()
        self._begin(self.best_points[kept].copy(), np.full(len(kept), np.inf))

    def _step(self, k: int, size: float) -> None:
        """Value all points, and move them against their slopes."""
        genomes = self.box.decode(self.points)
        fitness, slopes = self.objective.slopes(genomes)
        self.valued += len(genomes)
        before = self.best.min()
        better = fitness < self.best
        self.best[better], self.best_points[better] = fitness[better], self.points[better]
        if self.best.min() < before:
            self.incumbents.append(genomes[[int(np.argmin(fitness))]])
        self.history.append((COST * self.valued, float(self.best.min()), float(fitness.mean())))
        slopes = self._in_cube(slopes[:, self.box.free])
        slopes /= np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), np.finfo(float).tiny)
        self.mean = _FIRST * self.mean + (1.0 - _FIRST) * slopes
        self.square = _SECOND * self.square + (1.0 - _SECOND) * slopes**2
        way = self.mean / (1.0 - _FIRST**k) / (np.sqrt(self.square / (1.0 - _SECOND**k)) + _FLOOR)
        self.points = np.clip(self.points - size * way, 0.0, 1.0)

    def _in_cube(self, slopes: Array) -> Array:
        """Slopes with respect to the points of the unit cube: a logarithmic gene moves by its own size."""
        ahead = np.clip(self.points + _NUDGE, 0.0, 1.0)
        behind = np.clip(self.points - _NUDGE, 0.0, 1.0)
        moved = (self.box.decode(ahead) - self.box.decode(behind))[:, self.box.free]
        found = slopes * moved / (ahead - behind)
        return np.where(np.isfinite(found), found, 0.0)

    def result(self) -> SearchResult:
        """Return the best genome met, and the best of every start among the incumbents."""
        order = np.argsort(self.best, kind="stable")
        each = self.box.decode(self.best_points[order])
        spent, best, mean = map(np.array, zip(*self.history, strict=True))
        return SearchResult(
            each[0],
            float(self.best[order[0]]),
            GenerationHistory(np.arange(len(spent)), spent, best, mean),
            int(spent[-1]),
            "budget",
            np.unique(np.vstack([*self.incumbents, each]), axis=0),
        )


_NUDGE = 1e-6  # of the unit cube: decoding is smooth, and exact but for rounding on linear genes
