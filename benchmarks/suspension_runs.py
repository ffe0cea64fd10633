"""Rollouts of the full car on waves, in one form and one way to treat its loop, with fixed or variable damping."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import kernel as kernels
from plants.core.kernel import ALIVE, LANES, Design
from plants.core.motion import Motion
from plants.core.run import Job, grid, run
from plants.core.signal_bank import SignalBank, stream_arrays
from plants.core.simulate import as_signals, fill_rows
from plants.suspension import SUSPENSION, loop_forms
from plants.suspension.redundant_constraints import THETA
from plants.suspension.roads import waves
from plants.suspension.signals import REST, allocate

if TYPE_CHECKING:
    from plants.core.lanes import Lane
    from plants.core.plant import Plant

STEP = 1e-3  # s
PHASES = (0.0, 0.7, 2.0, 2.7)  # rad
ROAD = waves(0.01, 1.5, PHASES)  # smooth, so that all forms see the same road at every stage
DAMPERS = (3000.0, 3000.0, 2700.0, 2700.0, 0.0, 0.0, 0.0, 0.0)
SKY_HOOK = (4000.0, 5000.0, 3000.0)  # N s/m, N s/rad: resists heave, pitch and roll
DAMPING = ("fixed", "variable")
FORMS = ("minimal", "printed", "redundant")
_FIRST = tuple(0.01 * math.sin(phase) for phase in PHASES)
_KEY = ("waves", 0)


def plant_of(form: str) -> Plant:
    """Return the car in one of `FORMS`."""
    return {"minimal": lambda: SUSPENSION, "printed": loop_forms.printed, "redundant": loop_forms.redundant}[form]()


class CarRuns:
    """Many rollouts side by side; they differ by the body's mass, 1000 to 1600 kg, and all meet the same road."""

    def __init__(self, form: str, mode: str, damping: str, lanes: int = LANES) -> None:
        self.form, self.damping, self.plant = form, damping, plant_of(form)
        self.design = Design(f"suspension, {form}: rk4, algebraic loop {mode}, {damping} damping", lanes=lanes)
        names = [q.name for q in self.plant.disturbances]
        self.bank = SignalBank("w", names, [as_signals(self.plant, "disturbances", ROAD, STEP)], STEP)
        self.motion = Motion(self.plant, "rk4", mode, disturbances=self.bank.values, inputs=self._inputs)
        self.motion.add_rows(self.design)
        self.bank.add_to(self.design)
        self.design.after += self.motion.items()
        self.design.results, self.design.theta = ("x", "steps"), "p"
        self.kernel = kernels.build(self.design)

    def _inputs(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:  # noqa: ARG002  (held over the step)
        if self.damping == "fixed":
            return DAMPERS
        x = lane["x"] if self.form == "minimal" else loop_forms.minimal_state(lane["x"])
        speeds = x[7:10]
        commands = tuple(-gain * speed for gain, speed in zip(SKY_HOOK, speeds, strict=True))
        return tuple(allocate(0.0, x, commands, lane["p"][: len(SUSPENSION.parameters)]))

    def run(self, n: int, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return z0, beta, alpha, theta_n at the end [n, 7] and the steps reached [n]."""
        start = np.zeros((1, self.design.rows.count))
        x = REST if self.form == "minimal" else loop_forms.redundant_state(REST, _FIRST)
        x = (*x, *(0.0,) * (len(self.plant.states) - len(x)))
        rows = {"x": x, ALIVE: (1.0,)} | self.bank.start(0, *_KEY) | self.motion.start(x)
        fill_rows(start[0], self.design, rows)
        cars = np.tile(self.plant.nominal(), (n, 1))
        cars[:, self.plant.index("parameters", "mb")] = np.linspace(1000.0, 1600.0, n)
        codes, keys, series = stream_arrays([self.bank.streams(0)], [s.name for s in self.design.streams], [_KEY])
        job = Job(start, cars, codes, keys, series, n_steps, STEP, 0, self.bank.every(0))
        results, _, _ = run(self.kernel, job, grid(1, n, self.design.lanes), threads=1)
        places = [0, 1, 2, *(range(3, 7) if self.form == "minimal" else range(THETA, THETA + 4))]
        return results[:, places], results[:, -1]
