"""Runs of a slow plant, counted: open-loop experiments to learn from, closed loops to verify a design."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.errors import UserError
from plants.core.motion.simulate import count_steps
from plants.core.motion.step import LARGE
from sscq.loop.slow import Crew, SlowLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from plants.core.slow import SlowPlant
    from sscq import Situation
    from sscq.loop.quality import Quality

    Array = NDArray[np.float64]

_SHARES = (1.0, 0.5, 0.25)  # of half the command's range
_HOLDS = (0.01, 0.2)  # of the horizon, between two steps of an input


@dataclass(frozen=True, eq=False)
class Run:
    """What was seen of one run: inputs [n, n_u] held over steps, outputs [n + 1, n_y] from the nominal start."""

    inputs: Array
    outputs: Array


class SlowRuns:
    """A slow plant's runs within an allowance.

    Parameters
    ----------
    plant : SlowPlant
    crew : Crew
    step : float
        Between two calls [s].
    allowed : int
        Runs in all.
    """

    def __init__(self, plant: SlowPlant, crew: Crew, step: float, allowed: int) -> None:
        self.plant, self.crew, self.step, self.allowed, self.used = plant, crew, step, allowed, 0

    @property
    def left(self) -> int:
        """How many are left."""
        return self.allowed - self.used

    def experiments(self, count: int, horizon: float, seed: int) -> list[Run]:
        """Drive the inputs with random steps inside the command limits, and return what came.

        A run that leaves the plant's region is kept up to there.
        """
        total = count_steps(horizon, self.step)
        rng = np.random.default_rng(seed)
        inputs = np.stack([_steps(self.plant.plant, total, _SHARES[k % len(_SHARES)], rng) for k in range(count)])
        found = []
        for first in range(0, count, self.crew.room):
            found += self._open_loop(inputs[first : first + self.crew.room])
        return found

    def _open_loop(self, inputs: Array) -> list[Run]:
        self._spend(len(inputs))
        declared, calm = self.plant.plant, self.plant.plant.calm()
        low, high = (np.array([getattr(q, end) for q in declared.states]) for end in ("low", "high"))
        start = {"parameters": list(declared.nominal()), "initial": {}}
        states = [self.crew.start([start] * len(inputs))]
        held = np.tile(calm, (len(inputs), 1)) if calm else np.empty((len(inputs), 0))
        over = np.zeros(len(inputs), dtype=bool)
        for k in range(inputs.shape[1]):
            driven = np.hstack([inputs[:, k], held])
            driven[over] = np.nan
            states.append(self.crew.step(k * self.step, self.step, driven))
            inside = (states[-1] > np.maximum(low, -LARGE)) & (states[-1] < np.minimum(high, LARGE))
            over |= ~inside.all(axis=1)
        return [_seen(declared, inputs[i], np.stack(states)[:, i], low, high) for i in range(len(inputs))]

    def judged(self, controller: Any, theta: Array, situations: Sequence[Situation]) -> tuple[Quality, list[Run]]:
        """Return the quality of one candidate in closed loop, and what was seen where the plant was the nominal one."""
        self._spend(len(situations))
        loop = SlowLoop(self.plant, controller, situations, self.step)
        quality, seen = loop.shown(np.atleast_2d(theta), self.crew)
        declared = self.plant.plant
        low, high = (np.array([getattr(q, end) for q in declared.states]) for end in ("low", "high"))
        nominal = [not (s.parameters or s.initial) and s.excitation in (None, {}) for s in situations]
        runs = [_seen(declared, w.inputs, w.states, low, high) for w, like in zip(seen, nominal, strict=True) if like]
        return quality, runs

    def _spend(self, count: int) -> None:
        if count > self.left:
            raise UserError(
                f"{count} more slow runs are needed, {self.left} of {self.allowed} are left; give more (--runs)"
            )
        self.used += count


def _steps(plant: Plant, total: int, share: float, rng: np.random.Generator) -> Array:
    """Random levels of all inputs [total, n_u], each held for a random while."""
    found = np.empty((total, len(plant.inputs)))
    for i, channel in enumerate(plant.channels):
        if not (math.isfinite(channel.low) and math.isfinite(channel.high)):
            what = f"the channel {channel.output!r} needs finite command limits"
            raise UserError(f"{what}: declare low and high (--declared FILE)")
        middle, half = 0.5 * (channel.high + channel.low), 0.5 * share * (channel.high - channel.low)
        k = 0
        while k < total:
            hold = max(1, round(total * math.exp(rng.uniform(*np.log(_HOLDS)))))
            found[k : k + hold, i] = middle + half * rng.uniform(-1.0, 1.0)
            k += hold
    return found


def _seen(plant: Plant, inputs: Array, states: Array, low: Array, high: Array) -> Run:
    """A run up to where it left the region."""
    inside = (np.isfinite(states) & (states > low) & (states < high)).all(axis=1)
    n = len(states) if inside.all() else int(np.argmin(inside))
    u = tuple(q.nominal for q in plant.inputs)
    rows = [plant.outputs(0.0, tuple(x), u, plant.calm(), plant.nominal()) for x in states[:n].tolist()]
    return Run(inputs[: max(0, n - 1)], np.array(rows, dtype=float).reshape(n, len(plant.measurements)))
