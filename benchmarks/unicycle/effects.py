"""What the missing nonholonomic term does to the motion: accelerations, trajectories, energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.unicycle import reference, runs
from benchmarks.unicycle.legs import posture
from benchmarks.unicycle.machine import Inputs, accelerations, balance

FORMS = {"right": 1.0, "printed": 0.0}
SPEEDS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)  # m/s
RATES = (0.1, 0.2, 0.5, 1.0, 2.0)  # rad/s
LEANED = 0.1  # rad of pitch in the table over yaw rates: upright the masses are above the axle and nothing is left
T_END, STEP, FALL_TIME = 8.0, 2e-3, 0.5  # s


@dataclass(frozen=True, eq=False)
class Effects:
    """All figures.

    Attributes
    ----------
    cases : mapping of form to (ours [5], the specification's [5])
        Accelerations of the specification's cases A3 and A4.
    rolling, yawing : array [speed, rate], rad/s^2
        By how much the printed yaw acceleration is off, for roll rates upright and yaw rates leaning forward.
    yaw : mapping of form to array [n + 1], rad
        The nominal run.
    ends : mapping of form to array [speed]
        Yaw after T_END [rad], NaN where it fell.
    drift : mapping of form to float
        Largest relative change of energy in a fall without friction and control.
    apart : float, rad
        Distance of yaw, pitch and roll of both forms at the end of that fall, the largest.
    """

    cases: dict[str, tuple[np.ndarray, np.ndarray]]
    rolling: np.ndarray
    yawing: np.ndarray
    yaw: dict[str, np.ndarray]
    ends: dict[str, np.ndarray]
    drift: dict[str, float]
    apart: float


def measured() -> Effects:
    """Measure everything; takes seconds."""
    falls = {
        form: runs.run(FALL_TIME, reference.T2_START, step=2.5e-4, nh=nh, **runs.FREE) for form, nh in FORMS.items()
    }
    gaps = np.abs(falls["right"][-1, :3] - falls["printed"][-1, :3])
    return Effects(
        cases(),
        off("gamma"),
        off("alpha"),
        {form: runs.run(T_END, reference.T1_START, step=STEP, nh=nh)[:, 0] for form, nh in FORMS.items()},
        {form: np.array([_end(speed, nh) for speed in SPEEDS]) for form, nh in FORMS.items()},
        {form: drift(fall) for form, fall in falls.items()},
        float(gaps.max()),
    )


def cases() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Accelerations of the specification's cases A3 (right) and A4 (printed), ours and its own."""
    given = Inputs(reference.A3_TORQUES, reference.A3_PUSH, reference.A3_HEIGHT)
    published = {"right": reference.A3, "printed": reference.A4}
    return {
        form: (
            np.array(accelerations(reference.A3_STATE, reference.UNEQUAL, given, nh)),
            np.array(published[form])[[0, 1, 2, 3, 8]],
        )
        for form, nh in FORMS.items()
    }


def off(turning: str) -> np.ndarray:
    """Return the yaw acceleration printed less the right one [speed, rate], yawing while leaning or rolling upright."""
    speed, rate = np.meshgrid(SPEEDS, RATES, indexing="ij")
    pitch = LEANED if turning == "alpha" else reference.TRIM
    yaw, roll = (rate, 0.0) if turning == "alpha" else (0.0, rate)
    y = [0.0, 0.0, pitch, 0.0, 0.0, yaw, roll, 0.0, speed / reference.NOMINAL["Rw"], 0.0]
    y = [np.broadcast_to(value, speed.shape) for value in y]
    found = [accelerations(y, reference.NOMINAL, Inputs(), FORMS[form])[0] for form in ("printed", "right")]
    return found[0] - found[1]


def _end(speed: float, nh: float) -> float:
    start = [*reference.T1_START]
    start[8] = speed / reference.NOMINAL["Rw"]
    found = runs.run(T_END, start, step=STEP, nh=nh, speed=speed)
    return float(found[-1, 0]) if len(found) else float("nan")


def drift(states: np.ndarray) -> float:
    """Largest relative change of energy along a run [n, 12] without friction and control."""
    p = reference.NOMINAL
    y = [np.ascontiguousarray(column) for column in states[::20].T]
    held = np.asarray(balance(posture(y, p), p).energy)
    return float(np.abs(held / held[0] - 1.0).max())
