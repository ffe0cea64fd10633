"""The teacher: a genetic search for the best gains of the next moments, window after window.

At the start of each window the closed loop is frozen in a snapshot. Constant gains are searched for a horizon ahead,
averaged over fresh continuations of the noise that the forming filters could give from their present state (the noise
that will really come is not known to any controller); then the loop moves on by one window with the best of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import settings
from plants.core import noise
from plants.core.simulate import count_steps
from sscq.closed_loop import ClosedLoop, Snapshot
from sscq.encoding import RecedingWindow
from sscq.genetic import GeneticAlgorithm
from sscq.quality import Quality
from sscq.search import evolve
from sscq.search_method import not_negative
from sscq.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from plants.excitation import Feed
    from sscq.box import Box
    from sscq.fitness import Fitness
    from sscq.situation import Situation

_FLAT = 1e-12
_WINDOW_SEARCH = GeneticAlgorithm(population=24, generations=6, stall_generations=None)


@dataclass(frozen=True)
class Teacher:
    """Settings of the receding search.

    Attributes
    ----------
    window : float
        Time between two decisions [s]: 0.2 to 1 times the dominant time constant of the closed loop.
    horizon : float
        How far ahead gains are judged [s], at least two windows.
    continuations : int
        Fresh noise continuations that a gain set is averaged over.
    search : GeneticAlgorithm
        The search of one window.
    shrink : float
        Weight of the squared distance from the previous gains (in units of the box), relative to the window's fitness:
        keeps gains from wandering where the fitness does not care.
    clairvoyant : bool
        Let the search see the noise that will come; marked in the result.
    """

    window: float = 0.5
    horizon: float = 2.0
    continuations: int = 4
    search: GeneticAlgorithm = _WINDOW_SEARCH
    shrink: float = 0.05
    clairvoyant: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        settings.positive("teacher's window", self.window)
        settings.finite("teacher's horizon", self.horizon)
        not_negative("teacher's shrink", self.shrink)
        if self.horizon < 2.0 * self.window:
            message = f"the teacher's horizon must be at least two windows, got {self.horizon} s and {self.window} s"
            raise ValueError(message)
        if self.continuations < 1:
            message = f"the teacher needs at least one continuation, got {self.continuations}"
            raise ValueError(message)


Progress = Callable[[int, int, int], None]


def teach(
    plant: Plant,
    controller: Any,
    situations: Sequence[Situation],
    fitness: Fitness,
    box: Box,
    reference: np.ndarray,
    teacher: Teacher,
    *,
    seed: int = 0,
    step: float = 0.01,
    options: dict[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TeachingSignal:
    """Return the teaching signal of all situations.

    Parameters
    ----------
    controller : law or tuple of laws
        With constant gains.
    box : Box
        Bounds of the gains.
    reference : ndarray [3 * channels]
        Gains before the first window.
    options : mapping, optional
        Integrator, loop mode and entropy scale, as for :class:`ClosedLoop`.
    progress : callable, optional
        Called with (windows done, windows in all, evaluations done).
    """
    loop = ClosedLoop(
        plant, controller, situations, step, measures=fitness.measures, observe=True, **(options or {})
    )  # fmt: skip
    task = _Task(loop, replace(fitness, travel_limit=None), box, teacher, step, seed, threads)
    total = sum(task.windows(i) for i in range(len(situations)))
    signals, done = [], 0
    for i in range(len(situations)):

        def tick(evaluations: int, base: int = done) -> None:
            if progress:
                progress(base + task.position, total, evaluations)

        signals.append(task.teach(i, np.asarray(reference, float), tick))
        done += task.windows(i)
    return TeachingSignal.pooled(signals)


class _Task:
    """The receding search through one situation after another."""

    def __init__(
        self,
        loop: ClosedLoop,
        fitness: Fitness,
        box: Box,
        teacher: Teacher,
        step: float,
        seed: int,
        threads: int | None,
    ) -> None:
        self.loop, self.fitness, self.box, self.teacher = loop, fitness, box, teacher
        self.step, self.seed, self.threads = step, seed, threads
        self.steps = count_steps(teacher.window, step)
        self.ahead = count_steps(teacher.horizon, step)
        self.position = self.evaluations = 0

    def windows(self, i: int) -> int:
        """Number of windows of situation `i`."""
        return count_steps(self.loop.situations[i].t_end, self.step) // self.steps

    def teach(self, i: int, gains: np.ndarray, tick: Callable[[int], None]) -> TeachingSignal:
        """Return the rows of one situation."""
        snapshot: Snapshot | None = None
        rows = []
        integral = np.zeros(len(self.loop.plant.channels))
        encoding = RecedingWindow(
            low=self.box.low, high=self.box.high, gain_names=self.loop.spec.controller.gain_names, any_sign=True,
            previous=tuple(gains.tolist()), shrink=self.teacher.shrink,
        )  # fmt: skip
        for w in range(self.windows(i)):
            self.position = w
            gains, value, weight = self._window(i, w, snapshot, encoding)
            encoding = encoding.following(gains)
            outcome = self._advance(i, gains, snapshot)
            snapshot = outcome.snapshot
            signals = outcome.record[:, :, 0]
            inputs = _inputs(signals[0], integral)
            integral = integral + self.step * signals[:-1, 0 : 2 * len(integral) : 2].sum(axis=0)
            rows.append((w * self.teacher.window, inputs, gains, weight, value))
            tick(self.evaluations)
            if outcome.steps[0] < self.steps:
                break  # the loop diverged: what follows would teach nothing
        return self._signal(i, rows)

    def _window(
        self, i: int, w: int, snapshot: Snapshot | None, encoding: RecedingWindow
    ) -> tuple[np.ndarray, float, float]:
        """Best gains of one window, their fitness, and how much better they are than the gains before (0 to 1)."""

        def evaluate(genomes: np.ndarray) -> np.ndarray:
            self.evaluations += len(genomes)
            value = self._ahead(i, w, snapshot, genomes)
            return value + encoding.penalty(genomes) * np.abs(value)  # relative to the window's own fitness

        box, before = encoding.box, np.array(encoding.previous)
        start = np.vstack([before, box.neighbours(before)])
        seed = self.seed + 1_000_003 * i + w
        result = evolve(evaluate, box.low, box.high, self.teacher.search, seed, start=start, scale=box.scale)
        old, new = self._ahead(i, w, snapshot, np.vstack([before, result.genome]))
        weight = float(np.clip((old - new) / max(0.1 * abs(old), _FLAT), 0.0, 1.0))
        # Where little is gained, stay near what was: the best gains are an accident there.
        gains = encoding.towards(result.genome, max(weight, 0.1))
        return gains, float(self._ahead(i, w, snapshot, gains[None, :])[0]), weight

    def _ahead(self, i: int, w: int, snapshot: Snapshot | None, genomes: np.ndarray) -> np.ndarray:
        """Mean fitness over the horizon and the continuations [n]."""
        copies = 1 if self.teacher.clairvoyant else self.teacher.continuations
        keys, feeds = None, None
        if not self.teacher.clairvoyant:
            name, seed = self.loop.situations[i].name, self.loop.situations[i].seed
            keys = [(f"{name}/window {w}/continuation {c}", seed + self.seed) for c in range(copies)]
            feeds = [_continued(self.loop.feeds(i), key) for key in keys]
        start = None if snapshot is None else Snapshot(np.repeat(snapshot.rows, copies, axis=0), snapshot.step)
        outcome = self.loop.run(
            genomes, [i] * copies, n_steps=self.ahead, snapshot=start, keys=keys, feeds=feeds, threads=self.threads
        )
        horizon = self.ahead * self.step
        shape = (copies, len(genomes))
        steps = outcome.steps.reshape(shape)
        values = {n: outcome.measures[:, k].reshape(shape) for k, n in enumerate(self.loop.measures)}
        diverged = np.where(steps < self.ahead, steps * self.step, np.nan)
        quality = Quality(("",) * copies, np.full(copies, horizon), diverged, values)
        return self.fitness.per_situation(quality).mean(axis=0)

    def _advance(self, i: int, gains: np.ndarray, snapshot: Snapshot | None) -> Any:
        rows = range(*self.loop.design.rows.span("signals").indices(self.loop.design.rows.count))
        return self.loop.run(
            gains[None, :], [i], n_steps=self.steps, snapshot=snapshot, threads=1, keep=True, record=list(rows)
        )

    def _signal(self, i: int, rows: list[tuple[float, np.ndarray, np.ndarray, float, float]]) -> TeachingSignal:
        names = []
        channels = self.loop.plant.channels
        for k in range(len(channels)):
            suffix = "" if len(channels) == 1 else f"_{k + 1}"
            names += [f"error{suffix}", f"error_rate{suffix}", f"error_integral{suffix}"]
        return TeachingSignal(
            situation=np.full(len(rows), i, np.int64),
            time=np.array([row[0] for row in rows]),
            inputs=np.array([row[1] for row in rows]).reshape(len(rows), len(names)),
            gains=np.array([row[2] for row in rows]).reshape(len(rows), -1),
            weight=np.array([row[3] for row in rows]),
            fitness=np.array([row[4] for row in rows]),
            input_names=tuple(names),
            gain_names=self.loop.spec.controller.gain_names,
            situation_names=tuple(s.name for s in self.loop.situations),
            clairvoyant=self.teacher.clairvoyant,
        )


def _inputs(signals: np.ndarray, integral: np.ndarray) -> np.ndarray:
    """Error, filtered error rate and integral of every channel, in the order of the teaching signal."""
    columns = [(signals[2 * k], signals[2 * k + 1], integral[k]) for k in range(len(integral))]
    return np.array(columns).ravel()


def _continued(feeds: Sequence[Feed], key: tuple[str, int]) -> list[Feed]:
    """Feeds for a continuation: a recorded series, whose future must not be known, is read from another place on."""
    result = []
    for number, feed in enumerate(feeds):
        if feed.code == noise.RECORDED:
            unit = noise.samples(noise.UNIFORM, 1, noise.stream_key(*key, f"continuation {number}"))[0]
            shift = 1 + int((unit / np.sqrt(12.0) + 0.5) * (len(feed.series) - 1))
            result.append(replace(feed, series=feed.series[shift:] + feed.series[:shift]))
        else:
            result.append(feed)
    return result
