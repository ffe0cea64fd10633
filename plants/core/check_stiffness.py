"""Stiff plants: whether stability asks rk4 for much smaller steps than accuracy does, and the step that is enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.check_runs import Runs, drive, modes, rounded
from plants.core.trajectory import DivergedError

if TYPE_CHECKING:
    from plants.core.check import CheckReport
    from plants.core.plant import Plant
    from plants.core.slopes import Slopes

STIFF = 100.0  # fastest mode in times of the one to be followed; below, rk4 at its stable steps is as cheap
ERROR = 1e-3  # of each state's largest value, to which the advised step is accurate
_DAMPED = 0.5  # a mode with more damping than this settles without being followed
_RESTING = 1e-6  # modes slower than this share of the fastest are integrators
_LENGTH, _COARSE, _HALVINGS = 20.0, 0.2, 6  # of the tested run and its step, in times of the mode to be followed


def check_stiffness(report: CheckReport, slopes: Slopes, runs: Runs) -> None:
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
    slow = Runs(plant, drive(plant, initial, rate, 1.0, _LENGTH / rate), _COARSE / rate, "rosenbrock")
    try:
        for k in range(_HALVINGS):
            error = _difference(slow, k)
            if error <= ERROR:
                return slow.step(k), error
    except DivergedError:
        return None
    return None


def _difference(runs: Runs, halvings: int) -> float:
    """Largest difference to the run at half the step, after the start, relative to each state's largest value."""
    here, finer = runs.at(halvings).states, runs.at(halvings + 1).states[::2]
    scale = np.abs(finer).max(axis=0) + 1e-300
    begun = len(here) // 10  # what settles in the first steps is not followed
    return float((np.abs(here - finer) / scale)[begun:].max())
