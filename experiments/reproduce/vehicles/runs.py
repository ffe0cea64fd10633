"""Many rollouts of a plant side by side, in one form and one way to treat its algebraic loop.

Or by symplectic Euler, with unknowns that a scheme finds in each step from those of the step before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign
from plants.core.kernel.lanes import Lane, LaneLoop
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.kernel.signal_bank import SignalBank, stream_arrays
from plants.core.motion.simulate import as_signals, fill_rows
from plants.core.motion.step import Motion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.plant import Plant

    Array = np.ndarray[Any, Any]


STEP = 1e-3  # s


class FormRuns:
    """Rollouts that differ by their parameters; all meet the same disturbances.

    Parameters
    ----------
    plant : Plant
    mode : str
        A name of :data:`plants.core.motion.modes.MODES`.
    name : str
        Of the design.
    disturbances : mapping of name to signal
    key : (str, int)
        Name and seed of the disturbances.
    lanes : int
    step : float, s
    """

    def __init__(
        self,
        plant: Plant,
        mode: str,
        name: str,
        disturbances: Any,
        key: tuple[str, int],
        lanes: int = LANES,
        step: float = STEP,
    ) -> None:
        self.plant, self.key, self.step = plant, key, step
        self.design = KernelDesign(name, lanes=lanes)
        names = [q.name for q in plant.disturbances]
        self.bank = SignalBank("w", names, [as_signals(plant, "disturbances", disturbances, step)], step)
        self.motion = Motion(plant, "rk4", mode, disturbances=self.bank.values, inputs=self.inputs)
        self.motion.add_rows(self.design)
        self.bank.add_to(self.design)
        self.design.after += self.motion.items()
        self.design.results, self.design.theta = ("x", "steps"), "p"
        self.kernel = kernels.build(self.design)

    def inputs(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:
        """Return the plant's inputs of a step."""
        raise NotImplementedError

    def rollouts(self, x: Sequence[float], varied: str, low: float, high: float, n: int, n_steps: int) -> np.ndarray:
        """Return states and steps reached [n, n_x + 1] of runs from one state that differ by one parameter."""
        numbers = np.tile(self.plant.nominal(), (n, 1))
        numbers[:, self.plant.index("parameters", varied)] = np.linspace(low, high, n)
        return self.of(x, numbers, n_steps)

    def of(self, x: Sequence[float], numbers: Array, n_steps: int) -> np.ndarray:
        """Return states and steps reached [n, n_x + 1] of runs from one state with parameters [n, n_p]."""
        n, start = len(numbers), np.zeros((1, self.design.rows.count))
        x = (*x, *(0.0,) * (len(self.plant.states) - len(x)))
        fill_rows(start[0], self.design, {"x": x, ALIVE: (1.0,)} | self.bank.start(0, *self.key) | self.motion.start(x))
        codes, keys, series = stream_arrays([self.bank.streams(0)], [s.name for s in self.design.streams], [self.key])
        job = RolloutJob(start, numbers, codes, keys, series, n_steps, self.step, 0, self.bank.every(0))
        results, _, _ = run(self.kernel, job, grid(1, n, self.design.lanes), threads=1)
        return np.asarray(results)


LARGE = 1e3  # m, rad, m/s, ...: lost


class EulerRuns:
    """A scheme compiled, for any number of steps, starts and sets of parameters.

    Parameters
    ----------
    name : str
        Of the design.
    n_x, unknowns, n_p : int
        Sizes of state, unknowns and parameters.
    """

    def __init__(self, name: str, n_x: int, unknowns: int, n_p: int) -> None:
        self.n_x, self.unknowns, self.design = n_x, unknowns, KernelDesign(name)
        sizes = {"x": n_x, "w": unknowns, "p": n_p, "opened": 1, "gap": 1, "steps": 1, ALIVE: 1}
        for row, size in sizes.items():
            self.design.rows.add(row, size)
        self.design.after.append(LaneLoop("step", (self._step,)))
        self.design.results = ("x", "opened", "gap", "steps")
        self.kernel = kernels.build(self.design)

    def found(self, x: Any, before: Any, p: Any) -> tuple[Any, ...]:
        """Return the unknowns of a step."""
        raise NotImplementedError

    def moved(self, x: Any, found: Any, p: Any, h: Any) -> tuple[Any, ...]:
        """Return the state after a step."""
        raise NotImplementedError

    def gap(self, x: Any, p: Any) -> Any:  # noqa: ARG002
        """Return how far closures are open; a form whose closures hold by construction has none."""
        return 0.0 * x[0]

    def lost(self, x: Any) -> Any:
        """Return a number below 0 where a rollout counts as lost: some number of it is too large."""
        size: Any = 0.0
        for value in x:
            size = maximum(magnitude(value), size)
        return LARGE - size

    def _step(self, lane: Lane) -> None:
        h, x, before = lane.uniform("h"), lane["x"], lane["w"]
        found = self.found(x, before, lane["p"])
        new = self.moved(x, found, lane["p"], h)
        alive = lane.one(ALIVE) * where(self.lost(new), 1.0, 0.0)
        lane["x"] = tuple(where(alive, a, b) for a, b in zip(new, x, strict=True))
        lane["w"] = tuple(where(alive, a, b) for a, b in zip(found, before, strict=True))
        gap = where(alive, self.gap(new, lane["p"]), lane.one("gap"))
        lane["gap"], lane["opened"] = (gap,), (maximum(lane.one("opened"), gap),)
        lane["steps"] = (lane.one("steps") + alive,)
        lane[ALIVE] = (alive,)

    def run(self, starts: Sequence[tuple[Any, Any, Any]], step: float, n: int) -> Array:
        """Run from (state, unknowns, parameters) of each rollout; return state, opened, gap, steps of each."""
        rows = self.design.rows
        first = np.zeros((len(starts), rows.count))
        for row, (x, unknowns, p) in zip(first, starts, strict=True):
            row[rows.span("x")], row[rows.span("w")], row[rows.span("p")], row[rows.span(ALIVE)] = x, unknowns, p, 1.0
        none, keys = np.zeros((len(starts), 1), np.int64), np.zeros((len(starts), 1, 5), np.int64)
        job = RolloutJob(first, np.zeros((1, 0)), none, keys, np.zeros((1, 1)), n, step)
        found, _, _ = run(self.kernel, job, grid(len(starts), 1, self.kernel.lanes), threads=1)
        return np.asarray(found)
