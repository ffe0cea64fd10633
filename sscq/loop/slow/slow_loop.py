"""Closed loops around slow plants: the compiled loop of a plant that rests, whose states are moved from outside.

Everything but the motion is the compiled loop's: samples, sensors, delays, actuators, schedule, laws and measures are
the same code and the same random numbers. The kernel is run step by step; between two steps the states that the slow
plant shows are put into its workspace. Disturbances reach the plant as they are at a step's start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel.kernel import ALIVE
from plants.core.kernel.run import RolloutJob, run
from plants.core.motion.simulate import count_steps
from plants.core.motion.step import LARGE
from plants.core.slow import shadow
from sscq.loop.closed_loop import ClosedLoop, side_by_side
from sscq.loop.measures import OF_ENTROPY, all_measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from plants.core.slow import SlowPlant
    from sscq.loop.quality import Quality
    from sscq.loop.slow.processes import Crew
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Watched:
    """One slow rollout over time.

    Attributes
    ----------
    time : array [n + 1]
    states : array [n + 1, n_x]
        What the plant showed; NaN behind a divergence.
    inputs, disturbances : array [n, n_u], [n, n_w]
        Held in each step.
    """

    time: Array
    states: Array
    inputs: Array
    disturbances: Array


class SlowLoop:
    """A closed loop around a slow plant.

    Parameters
    ----------
    slow : SlowPlant
    controller : Controller, law or tuple of laws
    situations : sequence of Situation
    step : float
        Time between two calls of the plant [s].
    measures : sequence of str, optional
        Left out: all that do not need the plant's equations.
    entropy_scale : float

    Raises
    ------
    ValueError
        For a measure that needs the plant's equations: entropy production above that at rest.
    """

    def __init__(
        self, slow: SlowPlant, controller: Any, situations: Sequence[Situation], step: float, *,
        measures: Sequence[str] | None = None, entropy_scale: float = 1.0,
    ) -> None:  # fmt: skip
        self.slow = slow
        self.loop = ClosedLoop(
            shadow(slow.plant), controller, [_by_name(s, slow) for s in situations], step,
            measures=_measures(slow, measures), entropy_scale=entropy_scale, kept=("x",),
        )  # fmt: skip
        names = [q.name for q in slow.plant.states]
        self._starts = [_start(s, slow, names) for s in self.loop.situations]
        bounds = [(max(q.low, -LARGE), min(q.high, LARGE)) for q in slow.plant.states]
        self._low, self._high = (np.array(ends) for ends in zip(*bounds, strict=True))

    def evaluate(self, theta: Array, crew: Crew) -> Quality:
        """Return the quality of every candidate [n, n_theta] in every situation."""
        return self.shown(theta, crew)[0]

    def shown(self, theta: Array, crew: Crew) -> tuple[Quality, list[Watched]]:
        """Return the quality of every candidate [n, n_theta] in every situation, and the courses of the first one."""
        loop, shape = self.loop, (len(self.loop.situations), len(theta))
        values, steps = np.zeros((len(loop.measures), *shape)), np.zeros(shape)
        seen: dict[int, Watched] = {}
        for pairs in self._chunks(len(theta), crew.room):
            outcome, courses = self.rollouts(theta, pairs, crew)
            for k, (i, c) in enumerate(pairs):
                values[:, i, c], steps[i, c] = outcome.measures[k], outcome.steps[k]
                if c == 0:
                    seen[i] = courses[k]
        quality = loop.quality(values, steps)
        return quality, [seen[i] for i in range(shape[0])]

    def _chunks(self, candidates: int, room: int) -> Iterator[list[tuple[int, int]]]:
        """Pairs of situation and candidate that can run side by side."""
        for group in self.loop.groups():
            pairs = [(i, c) for i in group for c in range(candidates)]
            yield from (pairs[first : first + room] for first in range(0, len(pairs), room))

    def rollouts(self, theta: Array, pairs: Sequence[tuple[int, int]], crew: Crew) -> tuple[Any, list[Watched]]:
        """Run pairs of situation and candidate that share a call; return the kernel's outcome and their courses."""
        loop, n_x = self.loop, len(self.slow.plant.states)
        numbers = tuple(i for i, _ in pairs)
        call, total = loop.call(numbers), count_steps(loop.situations[numbers[0]].t_end, loop.step)
        where, rows = side_by_side([c for _, c in pairs], loop.kernel.lanes), call.start.copy()
        x, alive, done = (loop.design.rows.span(name) for name in ("x", ALIVE, "steps"))
        shown, held = slice(x.start, x.start + n_x), slice(x.start + n_x, x.stop)
        states = np.full((total + 1, len(pairs), n_x), np.nan)
        driven = np.full((total, len(pairs), held.stop - held.start), np.nan)
        rows[:, shown] = states[0] = self._checked(crew.start([self._starts[i] for i in numbers]))
        for k in range(total):
            job = RolloutJob(rows, theta, *call.streams, 1, loop.step, k, call.integers, call.numbers)
            results, rows, _ = run(loop.kernel, job, where, threads=1, finals=True)
            living = rows[:, alive.start] > 0.0
            if not living.any():
                break
            driven[k, living] = rows[living, held]
            moved = crew.step(k * loop.step, loop.step, driven[k])
            inside = ((moved > self._low) & (moved < self._high)).all(axis=1)
            rows[living & inside, shown] = moved[living & inside]
            states[k + 1, living & inside] = moved[living & inside]
            rows[living & ~inside, alive.start] = 0.0  # frozen where it was, as in the kernel
            rows[living & ~inside, done.start] -= 1.0
            results[:, 0] = rows[:, done.start]
        return loop.outcome(results, total, None, np.empty(0)), self._watched(states, driven)

    def _checked(self, states: Array) -> Array:
        if not np.isfinite(states).all():
            names = [q.name for q in self.slow.plant.states]
            raise ValueError(
                f"plant {self.slow.name!r} must begin with finite states ({', '.join(names)}), got {states}"
            )
        return states

    def _watched(self, states: Array, driven: Array) -> list[Watched]:
        time, n_u = np.arange(float(len(states))) * self.loop.step, len(self.slow.plant.inputs)
        several = range(states.shape[1])
        return [Watched(time, states[:, k], driven[:, k, :n_u], driven[:, k, n_u:]) for k in several]


def _by_name(situation: Situation, slow: SlowPlant) -> Situation:
    """The situation with its initial states by name: the kernel's plant has more of them."""
    given = situation.initial
    if given is None or hasattr(given, "items"):
        return situation
    values = slow.plant.values("states", given)
    return replace(situation, initial=dict(zip((q.name for q in slow.plant.states), values, strict=True)))


def _start(situation: Situation, slow: SlowPlant, names: Sequence[str]) -> dict[str, Any]:
    given: Any = situation.initial or {}
    initial = {name: float(given[name]) for name in names if name in given}
    return {"parameters": list(slow.plant.values("parameters", situation.parameters)), "initial": initial}


def _measures(slow: SlowPlant, wanted: Sequence[str] | None) -> Sequence[str]:
    known = all_measures(slow.plant)
    if not slow.plant.loses_at_rest:
        return known if wanted is None else wanted
    if wanted is None:
        return [name for name in known if not name.startswith(OF_ENTROPY)]
    for name in wanted:
        if name.startswith(OF_ENTROPY):
            raise ValueError(
                f"plant {slow.name!r} loses at rest: {name} would need its equilibrium, and a slow plant has no "
                "equations; ask for other measures"
            )
    return wanted
