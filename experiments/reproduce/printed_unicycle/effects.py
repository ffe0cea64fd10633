"""What the missing nonholonomic term does: accelerations, trajectories and energy, in numbers, tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.report.drawing.svg import Chart, SvgLine, figure
from experiments.reproduce.printed_unicycle import motion, reference
from experiments.reproduce.printed_unicycle.motion import Inputs, accelerations, balance, posture
from experiments.runtime.tables import markdown_table

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
        form: motion.run(FALL_TIME, reference.START_T2, step=2.5e-4, nh=nh, **motion.FREE) for form, nh in FORMS.items()
    }
    gaps = np.abs(falls["right"][-1, :3] - falls["printed"][-1, :3])
    return Effects(
        cases(),
        off("gamma"),
        off("alpha"),
        yaws(),
        {form: np.array([_end(speed, nh) for speed in SPEEDS]) for form, nh in FORMS.items()},
        {form: drift(fall) for form, fall in falls.items()},
        float(gaps.max()),
    )


def yaws() -> dict[str, np.ndarray]:
    """Yaw over the nominal run of `T_END`, with the term and as printed [rad]."""
    return {form: motion.run(T_END, reference.START_T1, step=STEP, nh=nh)[:, 0] for form, nh in FORMS.items()}


def cases() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Accelerations of the specification's cases A3 (right) and A4 (printed), ours and its own."""
    published = {form: reference.CASES[case] for form, case in (("right", "A3"), ("printed", "A4"))}
    w = published["right"]["w"]
    given = Inputs(published["right"]["u"], w[:3], w[3])
    return {
        form: (
            np.array(accelerations(reference.X2, reference.UNEQUAL, given, nh)),
            np.array(published[form]["accelerations"])[[0, 1, 2, 3, 8]],
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
    start = [*reference.START_T1]
    start[8] = speed / reference.NOMINAL["Rw"]
    found = motion.run(T_END, start, step=STEP, nh=nh, speed=speed)
    return float(found[-1, 0]) if len(found) else float("nan")


def drift(states: np.ndarray) -> float:
    """Largest relative change of energy along a run [n, 12] without friction and control."""
    p = reference.NOMINAL
    y = [np.ascontiguousarray(column) for column in states[::20].T]
    held = np.asarray(balance(posture(y, p), p).energy)
    return float(np.abs(held / held[0] - 1.0).max())


_TITLES = {"right": "with the term", "printed": "as printed"}
_GREEK = ("α″", "γ″", "β″", "θw″", "η″")


def told(found: Effects) -> dict[str, Any]:
    """Return what the page says of the effects, by the template's names."""
    shifts = found.ends["printed"] - found.ends["right"]
    fallen = {form: int(np.isnan(ends).sum()) for form, ends in found.ends.items()}
    parted = f"of the runs {fallen['right']} fall with the term and {fallen['printed']} without."
    rows = [[_TITLES[form], *(f"{value:.4f}" for value in ours)] for form, (ours, _) in found.cases.items()]
    return {
        "fall": FALL_TIME,
        "drift": found.drift,
        "apart": found.apart,
        "fit": max(float(np.abs(ours / given - 1.0).max()) for ours, given in found.cases.values()),
        "cases": markdown_table(("rad/s²", *_GREEK), rows),
        "slope": float(found.rolling[SPEEDS.index(1.0), RATES.index(1.0)]),
        "rolled": _grid("roll rate", found.rolling),
        "leaned": LEANED,
        "yawed": _grid("yaw rate", found.yawing),
        "t_end": T_END,
        "nominal": {form: yaw[-1] for form, yaw in found.yaw.items()},
        "speeds": (SPEEDS[0], SPEEDS[-1]),
        "shifts": (-shifts.max(), -shifts.min()),
        "standing": parted if any(fallen.values()) else "the same gains balance both.",
    }


def _grid(rate: str, values: np.ndarray) -> list[str]:
    rows = [[f"{v:g} m/s", *(f"{value:.3g}" for value in row)] for v, row in zip(SPEEDS, values, strict=True)]
    return markdown_table((f"speed, {rate}", *(f"{one:g} rad/s" for one in RATES)), rows)


def drawing(found: Effects) -> str:
    """Yaw over time in the nominal run; yaw at the end over the speed that is held."""
    yaw, ends = [], []
    for form, title in _TITLES.items():
        shown = found.yaw[form][::10]
        yaw.append(SvgLine(title, 10.0 * STEP * np.arange(len(shown)), shown, dashed=form == "printed"))
        ends.append(SvgLine(title, SPEEDS, found.ends[form], dots=True, dashed=form == "printed"))
    return figure(
        [
            Chart("nominal run at 1.5 m/s", "time, s", "yaw, rad", tuple(yaw)),
            Chart(f"after {T_END:g} s", "speed, m/s", "yaw, rad", tuple(ends)),
        ]
    )
