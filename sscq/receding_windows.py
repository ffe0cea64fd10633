"""Receding windows: the best gains of the next moments are searched window after window.

At the start of each window the closed loop is frozen in a snapshot. Constant gains are searched for a horizon ahead,
averaged over fresh continuations of the noise that the forming filters could give from their present state (the noise
that will really come is not known to any controller); then the loop moves on by one window with the best of them, or,
where the teacher is asked along the run of another controller, with that one's own gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.simulate import count_steps
from sscq import teaching_rows
from sscq.closed_loop import Snapshot
from sscq.overridden import Following, Leading
from sscq.search import evolve
from sscq.teaching_rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sscq.closed_loop import Outcome
    from sscq.encoding import RecedingWindow
    from sscq.lesson import Lesson
    from sscq.situation import Situation
    from sscq.teaching_signal import TeachingSignal


class RecedingSearch:
    """The receding search, one situation after the other; all share one compiled loop.

    Parameters
    ----------
    lesson : Lesson
    situations : sequence of Situation
    along : Following, optional
        The controller along whose run the teacher is asked; left out, the loop goes on with the gains found.
    """

    def __init__(self, lesson: Lesson, situations: Sequence[Situation], along: Following | None = None) -> None:
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
            seen = teaching_rows.inputs(signals[0], integral)
            integral = integral + self.lesson.step * signals[:-1, 0 : 2 * len(integral) : 2].sum(axis=0)
            rows.append(Row(w * self.teacher.window, seen, gains, weight, value))
            tick(w, self.evaluations)
            if outcome.steps[0] < self.lesson.window_steps:
                break  # the loop diverged: what follows would teach nothing
        names = tuple(s.name for s in self.loop.situations)
        return teaching_rows.table(self.loop, i, names, rows, clairvoyant=self.teacher.clairvoyant)

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
        weight = float(teaching_rows.gained(old, new, old))
        # Where little is gained, stay near what was: the best gains are an accident there.
        gains = encoding.towards(found, max(weight, 0.1))
        return gains, float(self._ahead(i, w, snapshot, gains[None, :])[0]), weight

    def _ahead(self, i: int, w: int, snapshot: Snapshot | None, gains: np.ndarray) -> np.ndarray:
        """Mean fitness of gains [n, n_gains] over the horizon and the continuations [n]."""
        copies, keys, feeds = 1, None, None
        if not self.teacher.clairvoyant:
            copies = self.teacher.continuations
            keys, feeds = teaching_rows.continuations(self.loop, i, f"window {w}", copies, self.lesson.seed)
        start = None if snapshot is None else Snapshot(np.repeat(snapshot.rows, copies, axis=0), snapshot.step)
        outcome = self.loop.run(
            self.way.asked(gains), [i] * copies, n_steps=self.ahead, snapshot=start, keys=keys, feeds=feeds,
            threads=self.lesson.threads,
        )  # fmt: skip
        return teaching_rows.mean_fitness(self.loop, self.fitness, outcome, copies, self.ahead)

    def _advance(self, i: int, gains: np.ndarray, snapshot: Snapshot | None) -> Outcome:
        return self.loop.run(
            self.way.goes_on(gains), [i], n_steps=self.lesson.window_steps, snapshot=snapshot, threads=1,
            keep=True, record=self.lesson.signal_rows(self.loop),
        )  # fmt: skip
