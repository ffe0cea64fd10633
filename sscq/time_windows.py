"""Time windows: the best gains of all windows of a situation are searched at once, over its whole horizon.

A schedule K(t) that does not look at the loop: the noise that will come cannot shape it, the fitness is averaged over
other noise than the situation's own. Where a set point is always followed in the same way this sees further than
receding windows do; where the loop wanders, its gains are an average over what it never sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controllers import Controller
from plants.core.simulate import count_steps
from sscq import teaching_rows
from sscq.search import evolve
from sscq.teaching_rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sscq.closed_loop import ClosedLoop
    from sscq.encoding import TimeWindows
    from sscq.lesson import Lesson
    from sscq.situation import Situation
    from sscq.teaching_signal import TeachingSignal


class WholeSearch:
    """The search of gains over time, one situation after the other."""

    def __init__(self, lesson: Lesson, situations: Sequence[Situation]) -> None:
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
            keys, feeds = teaching_rows.continuations(loop, 0, "time windows", copies, self.lesson.seed)
        outcome = loop.run(theta, [0] * copies, keys=keys, feeds=feeds, threads=self.lesson.threads)
        n_steps = count_steps(loop.situations[0].t_end, self.lesson.step)
        return teaching_rows.mean_fitness(loop, self.lesson.fitness, outcome, copies, n_steps)

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
        return np.asarray(teaching_rows.gained(values[:n], values[n], values[n] / n))

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
            seen = teaching_rows.inputs(signals[k], sums[k - 1] if k else np.zeros(channels))
            rows.append(Row(w * lesson.teacher.window, seen, kept[w], float(weights[w]), value))
        names = tuple(s.name for s in self.situations)
        return teaching_rows.table(loop, i, names, rows, clairvoyant=lesson.teacher.clairvoyant)
