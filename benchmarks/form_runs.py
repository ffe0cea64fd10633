"""Many rollouts of a plant side by side, in one form and one way to treat its algebraic loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import kernel as kernels
from plants.core.kernel import ALIVE, LANES, Design
from plants.core.motion import Motion
from plants.core.run import Job, grid, run
from plants.core.signal_bank import SignalBank, stream_arrays
from plants.core.simulate import as_signals, fill_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.lanes import Lane
    from plants.core.plant import Plant

STEP = 1e-3  # s


class FormRuns:
    """Rollouts that differ by their parameters; all meet the same disturbances.

    Parameters
    ----------
    plant : Plant
    mode : str
        A name of :data:`plants.core.loops.MODES`.
    name : str
        Of the design.
    disturbances : mapping of name to signal
    key : (str, int)
        Name and seed of the disturbances.
    lanes : int
    step : float, s
    """

    def __init__(
        self, plant: Plant, mode: str, name: str, disturbances: Any, key: tuple[str, int], lanes: int = LANES,
        step: float = STEP,
    ) -> None:  # fmt: skip
        self.plant, self.key, self.step = plant, key, step
        self.design = Design(name, lanes=lanes)
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
        start = np.zeros((1, self.design.rows.count))
        x = (*x, *(0.0,) * (len(self.plant.states) - len(x)))
        fill_rows(start[0], self.design, {"x": x, ALIVE: (1.0,)} | self.bank.start(0, *self.key) | self.motion.start(x))
        numbers = np.tile(self.plant.nominal(), (n, 1))
        numbers[:, self.plant.index("parameters", varied)] = np.linspace(low, high, n)
        codes, keys, series = stream_arrays([self.bank.streams(0)], [s.name for s in self.design.streams], [self.key])
        job = Job(start, numbers, codes, keys, series, n_steps, self.step, 0, self.bank.every(0))
        results, _, _ = run(self.kernel, job, grid(1, n, self.design.lanes), threads=1)
        return np.asarray(results)
