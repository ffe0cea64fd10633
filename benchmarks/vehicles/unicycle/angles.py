"""Yaw, pitch and roll of the unicycle over time, with its algebraic loop solved, delayed and iterated: a figure.

The source compares the same three angles. Symplectic Euler at 1 ms under the source's law with trim and speed term.
"""

from __future__ import annotations

import numpy as np

from benchmarks.runner.svg import Chart, SvgLine, figure
from benchmarks.vehicles.unicycle.rollouts import UnicycleScheme, UnicycleSchemeRuns
from plants.unicycle.geometry import PITCH, ROLL, YAW
from plants.unicycle.tasks import start

STEP, T_END, POINTS = 1e-3, 4.0, 200
SPEED, PITCHED = 1.5, 0.03  # m/s, rad before balance
ROLLS = (0.03, 0.08)
"""Rolls at the start [rad]: one below, one beyond what a delayed pass bears."""
APART = 0.1  # rad: farther from the exact solve a curve ends, or nothing else could be seen

CURVES = {
    "solved": UnicycleScheme(solved=True),
    "delayed": UnicycleScheme(),
    "delayed, share 0.5": UnicycleScheme(share=0.5),
    "share 0.5, 20 passes a step": UnicycleScheme(share=0.5, passes=20),
}
_ANGLES = (("yaw α", YAW), ("pitch β", PITCH), ("roll γ", ROLL))


def motions(roll: float, points: int = POINTS) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return times [s] and the angles of each scheme [n, 3], NaN from where it is `APART` from the exact solve."""
    times = STEP * np.round(np.linspace(0.0, T_END, points + 1)[1:] / STEP)
    begun = (start(SPEED, roll, PITCHED), SPEED)
    found = {}
    for name, scheme in CURVES.items():
        runs = UnicycleSchemeRuns(scheme)
        angles = np.full((points, 3), np.nan)
        for k, time in enumerate(times):
            ends, lasted = runs(STEP, float(time), [begun])
            if lasted[0] < time - 0.5 * STEP:
                break
            angles[k] = ends[0, [place for _, place in _ANGLES]]
            if np.abs(angles[k] - found.get("solved", angles)[k]).max() > APART:
                angles[k] = np.nan
                break
        found[name] = angles
    return times, found


def drawn(points: int = POINTS) -> str:
    """Return the figure: a column for each roll at the start, a row for each angle."""
    moved = {roll: motions(roll, points) for roll in ROLLS}
    charts = []
    for k, (name, _) in enumerate(_ANGLES):
        for roll, (times, found) in moved.items():
            curves = tuple(
                SvgLine(scheme, times[kept], angles[kept, k], dashed="passes" in scheme)
                for scheme, angles in found.items()
                for kept in [np.isfinite(angles[:, k])]
            )
            charts.append(
                Chart(f"from roll {roll:g} rad", "time, s", f"{name}, rad", curves, width=520.0, height=260.0)
            )
    return figure(charts)
