"""Runs with smooth inputs on which a plant's motion is tested, the modes it has along them, and whether it is stiff.

Stiff: stability asks rk4 for much smaller steps than accuracy does; then a step for the implicit integrator is
sought that is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.motion.simulate import simulate
from plants.core.motion.trajectory import DivergedError
from plants.core.signals.elementary_forms import Sine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.core.analysis.slopes import Slopes
    from plants.core.checks.report import CheckReport
    from plants.core.motion.trajectory import Trajectory
    from plants.core.plant import Plant


@dataclass(frozen=True)
class TestedMotion:
    """The tested run: where it begins, what drives it, how long it lasts [s]."""

    initial: tuple[float, ...]
    inputs: list[Any]
    disturbances: list[Any]
    t_end: float


class HalvedRuns:
    """One run at the coarse step and its halvings, each simulated when first asked for."""

    def __init__(self, plant: Plant, drive: TestedMotion, coarse: float, integrator: str = "rk4") -> None:
        self.plant, self.drive, self.integrator = plant, drive, integrator
        self.count = max(8, math.ceil(drive.t_end / coarse))
        self._done: dict[int, Trajectory] = {}

    def step(self, halvings: int) -> float:
        """Return the step after so many halvings [s]."""
        return self.drive.t_end / (self.count * 2**halvings)

    def at(self, halvings: int) -> Trajectory:
        """Return the run at this step."""
        if halvings not in self._done:
            drive = self.drive
            self._done[halvings] = simulate(
                self.plant, drive.t_end, self.step(halvings), drive.initial, None, drive.inputs, drive.disturbances,
                self.integrator,
            )  # fmt: skip
        return self._done[halvings]


def drive(plant: Plant, initial: tuple[float, ...], rate: float, size: float, t_end: float) -> TestedMotion:
    """Return sines of about `rate` [rad/s] on all inputs and disturbances, `size` (1: usual) of their room."""
    channels = plant.channels if plant.allocate is None else ()
    limits = {k: min(abs(c.low), abs(c.high)) for k, c in enumerate(channels)}
    inputs = []
    for k, quantity in enumerate(plant.inputs):
        room = min(quantity.high - quantity.nominal, quantity.nominal - quantity.low, limits.get(k, math.inf))
        height = size * (0.05 * room if math.isfinite(room) else 0.3 * (1.0 + abs(quantity.nominal)))
        frequency = rate * (0.7 + 0.31 * k) / (2.0 * math.pi)
        inputs.append(quantity.nominal + Sine(height, frequency, 0.5 + k) if height > 0.0 else quantity.nominal)
    disturbances = []
    for k, quantity in enumerate(plant.disturbances):
        room = min(quantity.high - quantity.rest, quantity.rest - quantity.low)
        height = size * (0.05 * room if math.isfinite(room) else 0.1)
        swing = Sine(height, rate * (0.45 + 0.23 * k) / (2.0 * math.pi), 1.1 + k)
        disturbances.append(quantity.rest + swing if height > 0.0 else quantity.rest)
    return TestedMotion(initial, inputs, disturbances, t_end)


def modes(slopes: Slopes, run: Trajectory, plant: Plant) -> NDArray[np.complex128]:
    """Eigenvalues of the linearisation along a run [n_points, n_x], 1/s."""
    chosen = np.unique(np.linspace(0, len(run.time) - 1, 40).astype(int))
    x, u, w = (run.group(kind)[chosen].T for kind in ("states", "inputs", "disturbances"))
    p = np.repeat(np.array(plant.nominal())[:, None], len(chosen), axis=1)
    return np.asarray(np.linalg.eigvals(slopes.at(run.time[chosen], x, u, w, p).A), complex)


def fastest(slopes: Slopes, run: Trajectory, plant: Plant) -> float:
    """Largest magnitude of an eigenvalue of the linearisation along a run [1/s]."""
    return float(np.abs(modes(slopes, run, plant)).max(initial=0.0))


def fastest_in_passing(slopes: Slopes, run: Trajectory, plant: Plant) -> float:
    """Return as `fastest`, of the places between two points of a run as well at which a state passes through zero.

    Friction and dead bands are steep there and nowhere else, over less than the run moves in a step.
    """
    x = np.asarray(run.group("states"))
    points, states = np.nonzero(x[:-1] * x[1:] < 0.0)
    kept = np.unique(np.linspace(0, len(points) - 1, min(len(points), _CROSSINGS)).astype(int))
    if not kept.size:
        return fastest(slopes, run, plant)
    points, states = points[kept], states[kept]
    before, after = x[points], x[points + 1]
    rows = np.arange(len(kept))
    share = before[rows, states] / (before[rows, states] - after[rows, states])
    between = before + share[:, None] * (after - before)
    between[rows, states] = 0.0
    u, w = (np.asarray(run.group(kind))[points].T for kind in ("inputs", "disturbances"))
    p = np.repeat(np.array(plant.nominal())[:, None], len(kept), axis=1)
    values = np.linalg.eigvals(slopes.at(run.time[points], between.T, u, w, p).A)
    values = values[np.isfinite(values)]
    return max(fastest(slopes, run, plant), float(np.abs(values).max(initial=0.0)))


def rounded(step: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten below."""
    power = 10.0 ** math.floor(math.log10(step) + 1e-9)
    return float(f"{max(m for m in (1.0, 2.0, 5.0) if m * power <= step * (1.0 + 1e-9)) * power:.3g}")


_CROSSINGS = 40  # places where a state passes through zero, that are looked at
STIFF = 100.0  # fastest mode in times of the one to be followed; below, rk4 at its stable steps is as cheap
ERROR = 1e-3  # of each state's largest value, to which the advised step is accurate
_DAMPED = 0.5  # a mode with more damping than this settles without being followed
_RESTING = 1e-6  # modes slower than this share of the fastest are integrators
_LENGTH, _COARSE, _HALVINGS = 20.0, 0.2, 6  # of the tested run and its step, in times of the mode to be followed


def check_stiffness(report: CheckReport, slopes: Slopes, runs: HalvedRuns) -> None:
    """Where rk4 is held to small steps by modes that nobody follows, advise the implicit integrator and its step."""
    values = modes(slopes, runs.at(1), runs.plant)
    fast, followed = float(np.abs(values).max(initial=0.0)), _followed(values)
    if followed <= 0.0 or fast < STIFF * followed:
        return
    found = _sufficient(runs.plant, runs.drive.initial, followed)
    ratio = f"its modes reach from {followed:.3g} to {fast:.3g} 1/s, so stability, not accuracy, sets rk4's step"
    if found is None:
        report.advice.append(f"stiff: {ratio}; integrator=rosenbrock has no such limit, its step was not found here")
        return
    report.implicit_step, error = rounded(found[0]), found[1]
    report.advice.append(
        f"stiff: {ratio}. With integrator=rosenbrock a step of {report.implicit_step:g} s is enough: error {error:.1g} "
        f"of each state's largest value over {_LENGTH / followed:.3g} s (a control loop may ask for less)"
    )


def _followed(values: np.ndarray) -> float:
    """Rate that the step must resolve [1/s]: of what grows or swings, else of the slowest that settles."""
    size = np.abs(values)
    moving = size > _RESTING * size.max(initial=0.0)
    settles = values.real < -_DAMPED * size
    swings = float(size[moving & ~settles].max(initial=0.0))
    return swings or float(size[moving].min(initial=math.inf)) if moving.any() else 0.0


def _sufficient(plant: Plant, initial: tuple[float, ...], rate: float) -> tuple[float, float] | None:
    """The largest tried step whose run differs little from that of half the step, with the difference."""
    slow = HalvedRuns(plant, drive(plant, initial, rate, 1.0, _LENGTH / rate), _COARSE / rate, "rosenbrock")
    try:
        for k in range(_HALVINGS):
            error = _difference(slow, k)
            if error <= ERROR:
                return slow.step(k), error
    except DivergedError:
        return None
    return None


def _difference(runs: HalvedRuns, halvings: int) -> float:
    """Largest difference to the run at half the step, after the start, relative to each state's largest value."""
    here, finer = runs.at(halvings).states, runs.at(halvings + 1).states[::2]
    scale = np.abs(finer).max(axis=0) + 1e-300
    begun = len(here) // 10  # what settles in the first steps is not followed
    return float((np.abs(here - finer) / scale)[begun:].max())
