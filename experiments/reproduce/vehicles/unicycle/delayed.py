"""The unicycle under its law with accelerations of the step before: schemes, and its angles in some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from experiments.report.drawing.svg import Chart, SvgLine
from experiments.reproduce.vehicles.unicycle.loop_forms import ARRANGEMENTS, gains, upright
from experiments.reproduce.vehicles.unicycle.rollouts import SPEED, UnicycleScheme, UnicycleSchemeRuns
from plants.unicycle.geometry import PITCH, ROLL, YAW
from plants.unicycle.tasks import start

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

SCHEMES = {
    "solved": UnicycleScheme(solved=True),
    "delayed": UnicycleScheme(),
    "delayed, printed form": UnicycleScheme(form="printed"),
    "delayed, 5 passes a step": UnicycleScheme(passes=5),
    "delayed, share 0.8": UnicycleScheme(share=0.8),
    "delayed, share 0.5": UnicycleScheme(share=0.5),
    "delayed, share 0.2": UnicycleScheme(share=0.2),
    "delayed, share 0.05": UnicycleScheme(share=0.05),
    "share 0.5, 20 passes a step": UnicycleScheme(share=0.5, passes=20),
    "Gauss-Seidel, delayed": UnicycleScheme(sweep=True),
    "Gauss-Seidel, 5 passes a step": UnicycleScheme(sweep=True, passes=5),
}
T_END = 4.0  # s
LEAN = 0.03  # rad, of the start before where it balances
TILT = 0.3  # rad: the largest roll at which gains are asked for


def threshold() -> float:
    """Return the roll [rad], balanced at rest, at which the gain of the minimal form is 1."""
    minimal, *_ = ARRANGEMENTS
    return float(brentq(lambda roll: gains(state=upright(roll))[minimal].radius - 1.0, 0.0, TILT, xtol=1e-12))


ANGLES_STEP, POINTS = 1e-3, 200  # s
TWO_ROLLS = (0.03, 0.08)
"""Rolls at the start [rad]: one below, one beyond what a delayed pass bears."""
APART = 0.1  # rad: farther from the exact solve a curve ends, or nothing else could be seen

CURVES = ("solved", "delayed", "delayed, share 0.5", "share 0.5, 20 passes a step")
SHOWN = (("yaw α", YAW), ("pitch β", PITCH), ("roll γ", ROLL))


def motions(roll: float, points: int = POINTS) -> tuple[Array, dict[str, Array]]:
    """Return times [s] and the angles of each scheme [n, 3], NaN from where it is `APART` from the exact solve."""
    times = ANGLES_STEP * np.round(np.linspace(0.0, T_END, points + 1)[1:] / ANGLES_STEP)
    begun = (start(SPEED, roll, LEAN), SPEED)
    found: dict[str, Array] = {}
    for name in CURVES:
        runs = UnicycleSchemeRuns(SCHEMES[name])
        angles = np.full((points, 3), np.nan)
        for k, time in enumerate(times):
            ends, lasted = runs(ANGLES_STEP, float(time), [begun])
            if lasted[0] < time - 0.5 * ANGLES_STEP:
                break
            angles[k] = ends[0, [place for _, place in SHOWN]]
            if np.abs(angles[k] - found.get("solved", angles)[k]).max() > APART:
                angles[k] = np.nan
                break
        found[name] = angles
    return times, found


def angle_charts(moved: dict[float, tuple[Array, dict[str, Array]]]) -> list[Chart]:
    """Draw yaw, pitch and roll over time, as the source compares them: a column for each roll, a row for each."""
    charts = []
    for k, (name, _) in enumerate(SHOWN):
        for roll, (times, found) in moved.items():
            curves = tuple(
                SvgLine(scheme, times[kept], angles[kept, k], dashed="passes" in scheme)
                for scheme, angles in found.items()
                for kept in [np.isfinite(angles[:, k])]
            )
            charts.append(
                Chart(f"from roll {roll:g} rad", "time, s", f"{name}, rad", curves, width=520.0, height=260.0)
            )
    return charts
