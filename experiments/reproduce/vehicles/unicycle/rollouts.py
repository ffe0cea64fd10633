"""Rollouts of the unicycle under its law: in one form and way to treat its loop, or with delayed accelerations.

Delayed: symplectic Euler, with accelerations found in each step from those of the step before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.vehicles.runs import STEP, EulerRuns, FormRuns
from experiments.reproduce.vehicles.unicycle import loop_forms
from experiments.reproduce.vehicles.unicycle.loop_forms import MINIMAL
from experiments.reproduce.vehicles.unicycle.mechanism import mechanism, with_basis
from experiments.reproduce.vehicles.unicycle.redundant import N as NINE
from plants.core.accelerations import layout
from plants.core.elementary import abs as magnitude
from plants.core.elementary import cos, maximum, sin
from plants.core.kernel.kernel import LANES
from plants.core.linear_solve import solve_symmetric
from plants.unicycle import BETA0, UNICYCLE, motion
from plants.unicycle.geometry import PITCH, ROLL, WHEEL, YAW
from plants.unicycle.model import FALLEN
from plants.unicycle.parameters import NOMINAL
from plants.unicycle.signals import K5
from plants.unicycle.tasks import start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.kernel.lanes import Lane
    from plants.core.plant import Plant

    Array = np.ndarray[Any, Any]


GAINS = (110.0, 20.0, 100.0, 60.0)
_LEVEL = (0.0,) * 6
_FIVE = 5


def torques(x: Any, speed: Any, radius: Any) -> tuple[Any, Any, Any]:
    """Return the law's torques at a minimal state, for a speed to be held [m/s]."""
    k1, k2, k3, k4 = GAINS
    away = x[PITCH] - BETA0 - K5 * (speed - radius * x[5 + WHEEL])
    drive = -(k1 * away) - k2 * x[5 + PITCH]
    return drive, -drive, k3 * x[ROLL] + k4 * x[5 + ROLL]


@dataclass(frozen=True)
class UnicycleScheme:
    """A way to find the accelerations of a step.

    Attributes
    ----------
    solved : bool
        Exactly; left out: by passes.
    share : float
        Of the new values in a pass.
    passes : int
        In a step.
    sweep : bool
        Gauss-Seidel: new values are used at once.
    form : {"minimal", "printed"}
    """

    solved: bool = False
    share: float = 1.0
    passes: int = 1
    sweep: bool = False
    form: str = "minimal"


class UnicycleSchemeRuns(EulerRuns):
    """A scheme compiled; rollouts differ by start and speed."""

    def __init__(self, scheme: UnicycleScheme) -> None:
        self.scheme = scheme
        self.nine = scheme.form == "printed"
        self.plant = loop_forms.printed() if self.nine else UNICYCLE
        size = NINE if self.nine else _FIVE
        # The last parameter is the speed to be held.
        super().__init__(f"unicycle, symplectic Euler: {scheme}", 2 * size + 2, size, len(NOMINAL) + 1)

    def found(self, x: Any, before: Any, p: Any) -> tuple[Any, ...]:
        """All accelerations."""
        scheme = self.scheme
        minimal = loop_forms.minimal_state(x) if self.nine else x
        u = torques(minimal, p[-1], p[1])
        if self.nine:
            return self._nine(x, before, u, p[:-1])
        matrix, force = motion.mass_matrix(0.0, x, u, _LEVEL, p[:-1]), motion.force(0.0, x, u, _LEVEL, p[:-1])
        if scheme.solved:
            return solve_symmetric(matrix, force)
        a = list(before)
        for _ in range(scheme.passes):
            now = a if scheme.sweep else list(a)
            fresh = list(a)
            for i in range(_FIVE):
                own = (force[i] - sum((matrix[i][j] * now[j] for j in range(_FIVE) if j != i), 0.0)) / matrix[i][i]
                fresh[i] = a[i] + scheme.share * (own - a[i])
                if scheme.sweep:
                    now[i] = fresh[i]
            a = fresh
        return tuple(a)

    def _nine(self, x: Any, before: Any, u: Any, p: Any) -> tuple[Any, ...]:
        a = before
        for _ in range(self.scheme.passes):
            own = loop_forms.printed_acceleration(0.0, x, a, u, _LEVEL, (*p, 20.0))
            a = tuple(old + self.scheme.share * (new - old) for old, new in zip(a, own, strict=True))
        return tuple(a)

    def moved(self, x: Any, found: Any, p: Any, h: Any) -> tuple[Any, ...]:
        """Speeds, then angles, then the contact point."""
        n = self.unknowns
        speeds = tuple(v + h * rate for v, rate in zip(x[n : 2 * n], found, strict=True))
        angles = tuple(q + h * v for q, v in zip(x[:n], speeds, strict=True))
        way = h * p[1] * speeds[WHEEL]
        return (*angles, *speeds, x[2 * n] + way * cos(angles[YAW]), x[2 * n + 1] + way * sin(angles[YAW]))

    def lost(self, x: Any) -> Any:
        """Return a number below 0 where it has fallen."""
        return FALLEN - maximum(magnitude(x[ROLL]), magnitude(x[PITCH]))

    def __call__(
        self, step: float, t_end: float, starts: Sequence[tuple[tuple[float, ...], float]]
    ) -> tuple[Array, Array]:
        """Run from states [12] at speeds to be held; return minimal states at the end, and times survived [s]."""
        begun = []
        for x, speed in starts:
            rates = UNICYCLE.derivative(0.0, x, torques(x, speed, NOMINAL[1]), _LEVEL, NOMINAL)  # type: ignore[misc]
            state: Any = x
            first: Any = layout(UNICYCLE).of(rates)
            if self.nine:
                state = loop_forms.redundant_state(x)
                first, _ = loop_forms.multipliers(state, torques(x, speed, NOMINAL[1]), _LEVEL)
            begun.append((state, first, (*NOMINAL, speed)))
        found = self.run(begun, step, round(t_end / step))
        ends = found[:, : self.n_x]
        if self.nine:
            ends = np.stack(loop_forms.minimal_state(tuple(ends.T)), axis=1)
        return ends, found[:, -1] * step


SPEED = 1.5  # m/s
FORMS = ("minimal", "printed", "redundant", "kit")
_PLACES = {"minimal": range(5), "kit": (0, 1, 2, 3, 8), "printed": MINIMAL, "redundant": MINIMAL}
_KEY = ("level ground", 0)


def plant_of(form: str) -> Plant:
    """Return the unicycle in one of `FORMS`; the last is derived by the mechanics kit, with the minimal velocities."""
    return {
        "minimal": lambda: UNICYCLE,
        "printed": loop_forms.printed,
        "redundant": loop_forms.redundant,
        "kit": lambda: with_basis(mechanism()).build(),
    }[form]()


class UnicycleRuns(FormRuns):
    """Many rollouts side by side, from near upright at 1.5 m/s; they differ by the body's mass, 7 to 9.5 kg."""

    def __init__(self, form: str, mode: str, lanes: int = LANES, step: float = STEP) -> None:
        self.form = form
        super().__init__(plant_of(form), mode, f"unicycle, {form}: rk4, algebraic loop {mode}", {}, _KEY, lanes, step)

    def _minimal(self, x: Any) -> Any:
        if self.form == "minimal":
            return x
        if self.form == "kit":
            return (*(x[k] for k in _PLACES["kit"]), *x[11:16], *x[9:11])
        return loop_forms.minimal_state(x)

    def inputs(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:  # noqa: ARG002  (held over the step)
        """The law's torques."""
        return torques(self._minimal(lane["x"]), SPEED, lane["p"][1])

    def begun(self, x: Any) -> Any:
        """Return a minimal state [12] as one of the form."""
        if self.form == "minimal":
            return x
        nine = loop_forms.redundant_state(x)
        return (*nine[:NINE], *x[10:12], *x[5:10]) if self.form == "kit" else nine

    def run(self, n: int, n_steps: int) -> np.ndarray:
        """Return the five minimal coordinates at the end [n, 5]."""
        x = self.begun(start(SPEED, 0.005, 0.01))
        return self.rollouts(x, "MB", 7.0, 9.5, n, n_steps)[:, list(_PLACES[self.form])]
