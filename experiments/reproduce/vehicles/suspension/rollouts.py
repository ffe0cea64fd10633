"""Rollouts of the full car: in one form and way to treat its loop, on waves; and with delayed accelerations.

Schemes are symplectic Euler, compiled in lanes, with unknowns from the step before.
One pass a step of "own equation, all other unknowns from before", relaxed by a share s: w <- w + s (G w + D^-1 k - w);
then v <- v + h a, q <- q + h v. Rollouts differ by their parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.vehicles.runs import EulerRuns, FormRuns
from experiments.reproduce.vehicles.suspension import loop_forms
from experiments.reproduce.vehicles.suspension.redundant import THETA, N, saddle
from plants.core.accelerations import accelerations
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum
from plants.core.kernel.kernel import LANES
from plants.core.linear_solve import solve_general, solve_symmetric
from plants.suspension import SUSPENSION, motion
from plants.suspension.roads import waves
from plants.suspension.signals import REST, allocate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.kernel.lanes import Lane
    from plants.core.plant import Plant


NOMINAL_DAMPERS = (3000.0, 3000.0, 2700.0, 2700.0, 0.0, 0.0, 0.0, 0.0)
START = (0.58, 0.02, 0.03, 0.20, -0.13, 0.09, -0.08, 0.2, 0.1, -0.2, 0.5, 0.3, -0.4, 0.2)


@dataclass(frozen=True)
class CarScheme:
    """A way to find the unknowns of a step.

    Attributes
    ----------
    form : {"minimal", "printed"}
    solved : bool
        All unknowns at once; left out: one pass a step.
    share : float
        Of the new values in a pass.
    kappa : float
        Baumgarte's [1/s], for the printed form.
    still : bool
        Unknowns start from 0; left out: from their right values.
    """

    form: str
    solved: bool = False
    share: float = 1.0
    kappa: float = 0.0
    still: bool = False


@dataclass(frozen=True)
class End:
    """Where the runs of a scheme end.

    Attributes
    ----------
    positions : ndarray [n, 7]
        z0, beta, alpha, theta_n.
    opened, open_at_end : ndarray [n]
        Largest gap of the linkage along the way, and at the end [m]; 0 in the minimal form.
    steps : ndarray [n]
        Steps until a number was no longer finite or too large.
    """

    positions: np.ndarray
    opened: np.ndarray
    open_at_end: np.ndarray
    steps: np.ndarray


SCHEMES = {
    "full solve, 7": CarScheme("minimal", solved=True),
    "delayed, 7": CarScheme("minimal"),
    "delayed, 7, half": CarScheme("minimal", share=0.5),
    "full solve, 23": CarScheme("printed", solved=True),
    "delayed, 23": CarScheme("printed"),
    "delayed, 23, from 0": CarScheme("printed", still=True),
    "delayed, 23, kappa 20/s": CarScheme("printed", kappa=20.0),
}
"""Those of the accuracy table."""


_LEVEL = (0.0,) * 8
_DELAYED_ARMS = (3, 4, 5, 6, 0, 1, 2)  # z0, beta, alpha, theta_n in the order of the minimal equations


class CarSchemeRuns(EulerRuns):
    """A scheme compiled, for any number of steps and sets of parameters."""

    def __init__(self, scheme: CarScheme) -> None:
        self.scheme = scheme
        self.plant = SUSPENSION if scheme.form == "minimal" else loop_forms.printed()
        unknowns = 7 if scheme.form == "minimal" else loop_forms.UNKNOWNS
        n_x = 14 if scheme.form == "minimal" else 2 * N + 4
        super().__init__(f"suspension, symplectic Euler: {scheme}", n_x, unknowns, len(self.plant.parameters))

    def found(self, x: Any, before: Any, p: Any) -> tuple[Any, ...]:
        """All unknowns at once, or in one pass."""
        scheme, u = self.scheme, NOMINAL_DAMPERS
        if scheme.solved and scheme.form == "minimal":
            return solve_symmetric(motion.mass_matrix(0.0, x, u, _LEVEL, p), motion.force(0.0, x, u, _LEVEL, p))
        if scheme.solved:
            return solve_general(*loop_forms.printed_system(x, u, _LEVEL, p))
        passed = accelerations(self.plant, 0.0, x, before, u, _LEVEL, p)
        return tuple(old + scheme.share * (new - old) for old, new in zip(before, passed, strict=True))

    def moved(self, x: Any, found: Any, p: Any, h: Any) -> tuple[Any, ...]:
        """Speeds, then places, then contacts."""
        if self.scheme.form == "minimal":
            a = (*found[4:], *found[:4])
            speeds = tuple(v + h * rate for v, rate in zip(x[7:], a, strict=True))
            return (*(q + h * v for q, v in zip(x[:7], speeds, strict=True)), *speeds)
        speeds = tuple(v + h * rate for v, rate in zip(x[N + 4 :], found[:N], strict=True))
        places = tuple(q + h * v for q, v in zip(x[:N], speeds, strict=True))
        contact = saddle((*places, *x[N : N + 4], *speeds), NOMINAL_DAMPERS, _LEVEL, p[:-1]).z12_rates
        return (*places, *(z + h * rate for z, rate in zip(x[N : N + 4], contact, strict=True)), *speeds)

    def gap(self, x: Any, p: Any) -> Any:
        """The largest of the linkages."""
        if self.scheme.form == "minimal":
            return super().gap(x, p)
        gap: Any = 0.0
        for residual in saddle(x, NOMINAL_DAMPERS, _LEVEL, p[:-1]).gaps:
            gap = maximum(magnitude(residual), gap)
        return gap

    def __call__(self, step: float, n_steps: int, cars: tuple[Mapping[str, float], ...] = ({},)) -> End:
        """Run the car's free motion once for every set of parameters."""
        x = START if self.scheme.form == "minimal" else loop_forms.redundant_state(START)
        starts = []
        for changed in cars:
            p = self.plant.values("parameters", {**dict(changed), **self._kappa()})
            starts.append((x, self._first(tuple(x), p), p))
        found = self.run(starts, step, n_steps)
        positions = found[:, :7] if self.scheme.form == "minimal" else found[:, [0, 1, 2, 7, 8, 9, 10]]
        return End(positions, found[:, -3], found[:, -2], found[:, -1])

    def _kappa(self) -> dict[str, float]:
        return {} if self.scheme.form == "minimal" else {"kappa": self.scheme.kappa}

    def _first(self, x: tuple[float, ...], p: tuple[float, ...]) -> np.ndarray:
        """The unknowns at the start."""
        if self.scheme.still:
            return np.zeros(self.unknowns)
        if self.scheme.form == "minimal":
            rates = SUSPENSION.derivative(0.0, x, NOMINAL_DAMPERS, _LEVEL, p)  # type: ignore[misc]
            return np.array([rates[7 + k] for k in _DELAYED_ARMS])
        matrix, right = loop_forms.printed_system(x, NOMINAL_DAMPERS, _LEVEL, p)
        return np.linalg.solve(np.array(matrix, float), np.array(right, float))


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

    def run(self, n: int, n_steps: int) -> np.ndarray:
        """Return z0, beta, alpha, theta_n at the end [n, 7]."""
        x = REST if self.form == "minimal" else loop_forms.redundant_state(REST, _FIRST)
        places = [0, 1, 2, *(range(3, 7) if self.form == "minimal" else range(THETA, THETA + 4))]
        return self.rollouts(x, "mb", 1000.0, 1600.0, n, n_steps)[:, places]
