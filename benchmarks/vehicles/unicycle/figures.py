"""Figures of the unicycle's comparison, written into docs/studies/unicycle.

Command: ``python -m benchmarks.vehicles.unicycle.figures [RUN]``.

RUN is a finished design with its verdict, by default runs/unicycle/design-0.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.runner.svg import Chart, SvgLine, figure
from experiments.studies.unicycle.comparison import UnicycleStudy, grid_of, judged, rides_of
from experiments.studies.unicycle.contenders import robots
from experiments.studies.unicycle.pushes import Condition
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.studies.engine.contenders import RivalController
    from experiments.studies.engine.declaration import Declaration
    from plants.core.motion.trajectory import Trajectory

FOLDER = Path(__file__).parents[3] / "docs" / "studies" / "unicycle"
SHOWN = ("fixed", "knowledge_base", "knowledge_base_free", "lqr", "lqr_scheduled")
_SHORT = {"knowledge_base": "knowledge base, equal travel", "knowledge_base_free": "knowledge base, free travel"}
_PUSHED, _SPEED, _LAST = 110.0, 1.0, 5.0  # N from ahead, m/s, s
_FALLEN = 1.0  # rad


def _ring(name: str, size: float) -> SvgLine:
    angles = np.linspace(0.0, 2.0 * math.pi, 73)
    return SvgLine(name, size * np.cos(angles), size * np.sin(angles), dashed=True, colour=7)


def _polar(title: str, sizes: Mapping[str, np.ndarray], titles: Mapping[str, str], declared: Declaration) -> Chart:
    """Regions [direction] seen from above: forward is up, left is left."""
    angles = np.append(grid_of(declared).angles, 0.0)
    curves = [
        SvgLine(
            _SHORT.get(name, titles[name]), -np.append(r, r[0]) * np.sin(angles), np.append(r, r[0]) * np.cos(angles)
        )
        for name, r in sizes.items()
    ]
    grip = declared.own["region"]["grip"]
    rings = (_ring(f"{grip:g} N, the tyre's grip", grip),)
    return Chart(title, "to the right, N", "forward, N", (*curves, *rings), width=560, height=560)


def _thinned(ride: Trajectory) -> slice:
    """From the start to a fall or the last time shown."""
    fell = np.flatnonzero(np.maximum(abs(ride["output pitch"]), abs(ride["output roll"])) >= 0.99 * _FALLEN)
    last = fell[0] if len(fell) else len(ride.time) - 1
    return slice(0, min(last, int(np.searchsorted(ride.time, _LAST))) + 1, 2)


def _rides(known: Mapping[str, RivalController], declared: Declaration) -> dict[str, Trajectory]:
    pushed = Condition(_SPEED, 0.0, 0.4).situation(_PUSHED, math.pi, grid_of(declared))
    return {name: known[name].record(pushed) for name in SHOWN}


def angles(rides: Mapping[str, Trajectory], titles: Mapping[str, str]) -> str:
    """Pitch, roll, speed and both torques over time, up to a fall."""
    rows = (("output pitch", "pitch, rad"), ("output roll", "roll, rad"), ("output speed", "speed, m/s"),
            ("tau1", "pedal torque, N m"), ("tau3", "turntable torque, N m"))  # fmt: skip
    charts = []
    for signal, label in rows:
        curves = []
        for number, (name, ride) in enumerate(rides.items()):
            shown = _thinned(ride)
            curves.append(SvgLine(titles[name], ride.time[shown], ride[signal][shown], colour=number))
        charts.append(Chart(label, "time, s", label, tuple(curves), width=940, height=240))
    return figure(charts, columns=1)


def phase(rides: Mapping[str, Trajectory], titles: Mapping[str, str]) -> str:
    """Phase portraits of pitch and roll, up to a fall."""
    charts = []
    for angle in ("pitch", "roll"):
        curves = []
        for number, (name, ride) in enumerate(rides.items()):
            shown = _thinned(ride)
            x, y = ride[f"output {angle}"][shown], ride[f"output {angle}_rate"][shown]
            curves.append(SvgLine(titles[name], x, y, colour=number))
        charts.append(Chart(angle, f"{angle}, rad", f"{angle} rate, rad/s", tuple(curves), width=560, height=460))
    return figure(charts)


def main() -> None:
    """Write all figures."""
    run, declared = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/unicycle/design-0"), UnicycleStudy().declaration()
    verdict = judged(run, declared)
    known = robots(run)
    titles = {name: _SHORT.get(name, verdict.titles[name]) for name in SHOWN}
    rides = rides_of(declared)
    means = {name: verdict.sizes[name].mean(axis=0) for name in SHOWN}
    single = [(k, rides[k]) for k in (1, len(rides) // 2, len(rides) - 2)]
    maps = [
        _polar(f"at {one.speed:.2f} m/s", {name: verdict.sizes[name][k] for name in SHOWN}, titles, declared)
        for k, one in single
    ]
    recorded = _rides(known, declared)
    drawn = {
        "pushes": figure([_polar("mean of all rides", means, titles, declared)]),
        "map": figure(maps, columns=3), "angles": angles(recorded, titles), "phase": phase(recorded, titles),
    }  # fmt: skip
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        atomic_files.write(FOLDER / f"{name}.svg", text)
    print(f"written: {', '.join(f'{name}.svg' for name in drawn)} in {FOLDER}")


if __name__ == "__main__":
    main()
