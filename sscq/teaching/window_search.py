"""Two searches for the best gains over time: window after window, or all windows of a situation at once.

Receding windows: at the start of each window the closed loop is frozen in a snapshot. Constant gains are searched for
a horizon ahead, averaged over fresh continuations of the noise that the forming filters could give from their present
state (the noise that will really come is not known to any controller); then the loop moves on by one window with the
best of them, or, where the teacher is asked along the run of another controller, with that one's own gains.

Time windows: the gains of all windows are searched over the whole horizon, a schedule K(t) that does not look at the
loop. The noise that will come cannot shape it, so the fitness is averaged over other noise than the situation's own.
Where a set point is always followed in the same way this sees further than receding windows do; where the loop
wanders, its gains are an average over what it never sees.

Both share noise continuations, the fitness of a stretch of the loop, and the table of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller
from plants.core.motion.simulate import count_steps
from plants.core.signals import noise
from sscq.loop.closed_loop import Snapshot
from sscq.loop.quality import Quality
from sscq.search.search import evolve
from sscq.teaching.following import Following, Leading
from sscq.teaching.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.excitation import Feed
    from sscq.fitness import Fitness
    from sscq.loop.closed_loop import ClosedLoop, Outcome
    from sscq.search.encoding import RecedingWindow, TimeWindows
    from sscq.situations.situation import Situation
    from sscq.teaching.teacher import TeachingTask


FLAT = 1e-12
"""A fitness smaller than this cannot be bettered by a part of itself."""


@dataclass(frozen=True)
class WindowRow:
    """One window: start [s], what the controller sees then [n_inputs], gains [n_gains], weight (0 to 1), fitness."""

    time: float
    inputs: np.ndarray
    gains: np.ndarray
    weight: float
    fitness: float


def noise_continuations(
    loop: ClosedLoop, number: int, label: str, copies: int, seed: int
) -> tuple[list[tuple[str, int]], list[list[Feed]]]:
    """Return fresh random streams for a situation: what the forming filters could give from their present state."""
    name, own = loop.situations[number].name, loop.situations[number].seed
    keys = [(f"{name}/{label}/continuation {c}", own + seed) for c in range(copies)]
    return keys, [continued(loop.feeds(number), key) for key in keys]


def continued(feeds: Sequence[Feed], key: tuple[str, int]) -> list[Feed]:
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


def mean_fitness(loop: ClosedLoop, fitness: Fitness, outcome: Outcome, copies: int, n_steps: int) -> np.ndarray:
    """Return the fitness [n] of the candidates of a run, averaged over the copies of its situation."""
    steps = outcome.steps.reshape(copies, -1)
    values = {n: outcome.measures[:, k].reshape(steps.shape) for k, n in enumerate(loop.measures)}
    diverged = np.where(steps < n_steps, steps * loop.step, np.nan)
    quality = Quality(("",) * copies, np.full(copies, n_steps * loop.step), diverged, values)
    return fitness.per_situation(quality).mean(axis=0)


def relative_gain(before: Any, after: Any, scale: Any) -> Any:
    """Return how much better `after` is than `before`, 0 to 1; 1 is a tenth of `scale`."""
    return np.clip((before - after) / np.maximum(0.1 * np.abs(scale), FLAT), 0.0, 1.0)


def inputs(signals: np.ndarray, integral: np.ndarray) -> np.ndarray:
    """Error, filtered error rate and integral of every channel, then plant outputs, as the teaching signal has them."""
    columns = [(signals[2 * k], signals[2 * k + 1], integral[k]) for k in range(len(integral))]
    return np.concatenate([np.array(columns).ravel(), signals[2 * len(integral) :]])


def signal_table(
    loop: ClosedLoop, number: int, names: tuple[str, ...], rows: Sequence[WindowRow], **marks: Any
) -> TeachingSignal:
    """Return the rows of one situation; `names` are those of all situations that the signal will be pooled from."""
    columns = []
    for k in range(len(loop.plant.channels)):
        suffix = "" if len(loop.plant.channels) == 1 else f"_{k + 1}"
        columns += [f"error{suffix}", f"error_rate{suffix}", f"error_integral{suffix}"]
    watched = loop.spec.controller.schedule.signals  # a schedule's own come first, those of the teaching signal last
    columns += watched[len(watched) - max((len(row.inputs) for row in rows), default=len(columns)) + len(columns) :]
    return TeachingSignal(
        situation=np.full(len(rows), number, np.int64),
        time=np.array([row.time for row in rows]),
        inputs=np.array([row.inputs for row in rows]).reshape(len(rows), len(columns)),
        gains=np.array([row.gains for row in rows]).reshape(len(rows), -1),
        weight=np.array([row.weight for row in rows]),
        fitness=np.array([row.fitness for row in rows]),
        input_names=tuple(columns),
        gain_names=loop.spec.controller.gain_names,
        situation_names=names,
        **marks,
    )


class RecedingSearch:
    """The receding search, one situation after the other; all share one compiled loop.

    Parameters
    ----------
    lesson : TeachingTask
    situations : sequence of Situation
    along : Following, optional
        The controller along whose run the teacher is asked; left out, the loop goes on with the gains found.
    """

    def __init__(self, lesson: TeachingTask, situations: Sequence[Situation], along: Following | None = None) -> None:
        self.way: Leading | Following = along or Leading(lesson.laws)
        self.lesson, self.loop = lesson, lesson.loop(self.way.controller, situations)
        self.fitness, self.teacher = lesson.fitness, lesson.teacher
        self.ahead = count_steps(self.teacher.horizon, lesson.step)
        self.evaluations = 0

    def teach(self, i: int, gains: np.ndarray, tick: Callable[[int, int], None]) -> TeachingSignal:
        """Return the rows of one situation; `gains` are those before its first window."""
        snapshot: Snapshot | None = None
        rows = []
        integral = np.zeros(len(self.loop.plant.channels))
        encoding = self.lesson.one_window(gains)
        for w in range(self.lesson.windows(self.loop.situations[i])):
            gains, value, weight = self._window(i, w, snapshot, encoding)
            encoding = encoding.following(gains)
            outcome = self._advance(i, gains, snapshot)
            snapshot = outcome.snapshot
            signals = outcome.record[:, :, 0]
            seen = inputs(signals[0], integral)
            integral = integral + self.lesson.step * signals[:-1, 0 : 2 * len(integral) : 2].sum(axis=0)
            rows.append(WindowRow(w * self.teacher.window, seen, gains, weight, value))
            tick(w, self.evaluations)
            if outcome.steps[0] < self.lesson.window_steps:
                break  # the loop diverged: what follows would teach nothing
        names = tuple(s.name for s in self.loop.situations)
        return signal_table(self.loop, i, names, rows, clairvoyant=self.teacher.clairvoyant)

    def _window(
        self, i: int, w: int, snapshot: Snapshot | None, encoding: RecedingWindow
    ) -> tuple[np.ndarray, float, float]:
        """Best gains of one window, their fitness, and how much better they are than the gains before (0 to 1)."""

        def evaluate(genomes: np.ndarray) -> np.ndarray:
            self.evaluations += len(genomes)
            value = self._ahead(i, w, snapshot, encoding.decode(genomes))
            return value + encoding.penalty(genomes) * np.abs(value)  # relative to the window's own fitness

        box, before = encoding.box, np.array(encoding.previous)
        start, seed = encoding.start(before), self.lesson.seed + 1_000_003 * i + w
        result = evolve(evaluate, box.low, box.high, self.teacher.search, seed, start=start, scale=box.scale)
        found = encoding.decode(result.genome)[0]
        old, new = self._ahead(i, w, snapshot, np.vstack([before, found]))
        weight = float(relative_gain(old, new, old))
        # Where little is gained, stay near what was: the best gains are an accident there.
        gains = encoding.towards(found, max(weight, 0.1))
        return gains, float(self._ahead(i, w, snapshot, gains[None, :])[0]), weight

    def _ahead(self, i: int, w: int, snapshot: Snapshot | None, gains: np.ndarray) -> np.ndarray:
        """Mean fitness of gains [n, n_gains] over the horizon and the continuations [n]."""
        copies, keys, feeds = 1, None, None
        if not self.teacher.clairvoyant:
            copies = self.teacher.continuations
            keys, feeds = noise_continuations(self.loop, i, f"window {w}", copies, self.lesson.seed)
        start = None if snapshot is None else Snapshot(np.repeat(snapshot.rows, copies, axis=0), snapshot.step)
        outcome = self.loop.run(
            self.way.asked(gains), [i] * copies, n_steps=self.ahead, snapshot=start, keys=keys, feeds=feeds,
            threads=self.lesson.threads,
        )  # fmt: skip
        return mean_fitness(self.loop, self.fitness, outcome, copies, self.ahead)

    def _advance(self, i: int, gains: np.ndarray, snapshot: Snapshot | None) -> Outcome:
        return self.loop.run(
            self.way.goes_on(gains), [i], n_steps=self.lesson.window_steps, snapshot=snapshot, threads=1,
            keep=True, record=self.lesson.signal_rows(self.loop),
        )  # fmt: skip


class WholeSearch:
    """The search of gains over time, one situation after the other."""

    def __init__(self, lesson: TeachingTask, situations: Sequence[Situation]) -> None:
        self.lesson, self.situations = lesson, tuple(situations)
        self.evaluations = 0

    def teach(self, i: int, gains: np.ndarray, tick: Callable[[int, int], None]) -> TeachingSignal:
        """Return the rows of one situation; `gains` are those before its first window."""
        situation, lesson = self.situations[i], self.lesson
        n = lesson.windows(situation)
        times = tuple(w * lesson.teacher.window for w in range(n))
        encoding = lesson.all_windows(times)
        box, method = encoding.box, lesson.teacher.search_of(n)
        planned = method.evaluations or 1
        loop = lesson.loop(Controller(lesson.laws, encoding.schedule()), (situation,))

        def evaluate(genomes: np.ndarray) -> np.ndarray:
            self.evaluations += len(genomes)
            tick(min(n - 1, self.evaluations * n // planned), self.evaluations)
            theta = encoding.decode(genomes)
            value = self._value(loop, theta)
            return value + self._unrest(encoding, gains, theta) * np.abs(value)

        start = encoding.start(gains)
        found = evolve(evaluate, box.low, box.high, method, lesson.seed + 1_000_003 * i, start=start, scale=box.scale)
        theta = encoding.decode(found.genome)[0]
        weights = self._weights(loop, theta, gains, n)
        kept = self._settled(theta.reshape(n, -1), gains, weights)
        return self._table(loop, i, kept, weights)

    def _value(self, loop: ClosedLoop, theta: np.ndarray) -> np.ndarray:
        """Mean fitness over the horizon and the continuations [n]."""
        teacher, copies, keys, feeds = self.lesson.teacher, 1, None, None
        if not teacher.clairvoyant:
            copies = teacher.continuations
            keys, feeds = noise_continuations(loop, 0, "time windows", copies, self.lesson.seed)
        outcome = loop.run(theta, [0] * copies, keys=keys, feeds=feeds, threads=self.lesson.threads)
        n_steps = count_steps(loop.situations[0].t_end, self.lesson.step)
        return mean_fitness(loop, self.lesson.fitness, outcome, copies, n_steps)

    def _unrest(self, encoding: TimeWindows, gains: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Weighted squared distance of every window's gains from those before, mean over the windows [n]."""
        box = encoding.gains_box
        knots = theta.reshape(len(theta), -1, len(gains))
        places = np.concatenate([np.broadcast_to(gains, knots[:, :1].shape), knots], axis=1)
        unit = box.encode(places.reshape(-1, len(gains))).reshape(*places.shape[:2], -1)  # fixed gains left out
        return self.lesson.teacher.shrink * (np.diff(unit, axis=1) ** 2).sum(axis=2).mean(axis=1)

    def _weights(self, loop: ClosedLoop, theta: np.ndarray, gains: np.ndarray, n: int) -> np.ndarray:
        """What is lost where one window keeps the gains of the window before, 0 to 1 [n]."""
        knots = theta.reshape(n, -1)
        held = np.repeat(knots[None], n + 1, axis=0)
        held[np.arange(n), np.arange(n)] = np.vstack([gains, knots[:-1]])
        values = self._value(loop, held.reshape(n + 1, -1))
        return np.asarray(relative_gain(values[:n], values[n], values[n] / n))

    def _settled(self, knots: np.ndarray, gains: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Gains that stay near those before where little is gained: the best gains are an accident there."""
        encoding = self.lesson.one_window(gains)
        kept = []
        for found, weight in zip(knots, weights, strict=True):
            kept.append(encoding.towards(found, max(float(weight), 0.1)))
            encoding = encoding.following(kept[-1])
        return np.array(kept)

    def _table(self, loop: ClosedLoop, i: int, kept: np.ndarray, weights: np.ndarray) -> TeachingSignal:
        """What a controller with these gains lives through in the situation itself."""
        lesson, n = self.lesson, len(kept)
        theta = kept.reshape(1, -1)
        outcome = loop.run(theta, [0], threads=1, record=lesson.signal_rows(loop))
        value = float(self._value(loop, theta)[0])
        signals = outcome.record[:, :, 0]
        channels = len(loop.plant.channels)
        sums = lesson.step * np.cumsum(signals[:, 0 : 2 * channels : 2], axis=0)
        rows = []
        for w in range(n):
            k = w * lesson.window_steps
            if k >= outcome.steps[0]:
                break  # the loop diverged: what follows would teach nothing
            seen = inputs(signals[k], sums[k - 1] if k else np.zeros(channels))
            rows.append(WindowRow(w * lesson.teacher.window, seen, kept[w], float(weights[w]), value))
        names = tuple(s.name for s in self.situations)
        return signal_table(loop, i, names, rows, clairvoyant=lesson.teacher.clairvoyant)
