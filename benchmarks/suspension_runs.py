"""Rollouts of the full car on waves, in one form and one way to treat its loop, with fixed or variable damping."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchmarks.form_runs import FormRuns
from plants.core.kernel import LANES
from plants.suspension import SUSPENSION, loop_forms
from plants.suspension.redundant_constraints import THETA
from plants.suspension.roads import waves
from plants.suspension.signals import REST, allocate

if TYPE_CHECKING:
    import numpy as np

    from plants.core.lanes import Lane
    from plants.core.plant import Plant

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


class CarRuns(FormRuns):
    """Many rollouts side by side; they differ by the body's mass, 1000 to 1600 kg, and all meet the same road."""

    def __init__(self, form: str, mode: str, damping: str, lanes: int = LANES) -> None:
        self.form, self.damping = form, damping
        name = f"suspension, {form}: rk4, algebraic loop {mode}, {damping} damping"
        super().__init__(plant_of(form), mode, name, ROAD, _KEY, lanes)

    def inputs(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:  # noqa: ARG002  (held over the step)
        """Settings of the dampers."""
        if self.damping == "fixed":
            return DAMPERS
        x = lane["x"] if self.form == "minimal" else loop_forms.minimal_state(lane["x"])
        speeds = x[7:10]
        commands = tuple(-gain * speed for gain, speed in zip(SKY_HOOK, speeds, strict=True))
        return tuple(allocate(0.0, x, commands, lane["p"][: len(SUSPENSION.parameters)]))

    def run(self, n: int, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return z0, beta, alpha, theta_n at the end [n, 7] and the steps reached [n]."""
        x = REST if self.form == "minimal" else loop_forms.redundant_state(REST, _FIRST)
        results = self.rollouts(x, "mb", 1000.0, 1600.0, n, n_steps)
        places = [0, 1, 2, *(range(3, 7) if self.form == "minimal" else range(THETA, THETA + 4))]
        return results[:, places], results[:, -1]
