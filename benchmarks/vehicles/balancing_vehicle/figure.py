"""Figure of the vehicle's comparison: ``python -m benchmarks.vehicles.balancing_vehicle.figure [FOLDER]``.

It goes into docs/studies/balancing_vehicle. FOLDER holds the finished designs, by default runs/vehicle. The situation
was chosen for the figure, not drawn: slippery ground under the left wheel on the way, and a push there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sscq
from benchmarks.runner.svg import Chart, SvgLine, figure
from experiments.studies.vehicle.comparison import VehicleStudy, robots
from plants.balancing_vehicle.tasks import NO_LOAD, standing
from plants.core import atomic_files
from plants.excitation import Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.motion.trajectory import Trajectory

FOLDER = Path(__file__).parents[3] / "docs" / "studies" / "balancing_vehicle"
SHOWN = {
    "fixed PID, taught dry": ("dry-0", "fixed"), "fixed PID, taught slippery": ("slippery-0", "fixed"),
    "knowledge base, equal travel": ("slippery-0", "knowledge_base"),
    "knowledge base, free travel": ("slippery-0", "knowledge_base_free"),
}  # fmt: skip
_PATCH = {"patch": 0.04, "patch_x": 0.6, "patch_length": 4.0, "patch_y": 1.0, "patch_width": 2.0}
_FALLEN = 1.3  # rad
_THIN = 8  # points drawn of those recorded, one of


def situation() -> sscq.Situation:
    """Return a straight drive onto a wet patch that is under the left wheel alone, with a push in it."""
    return sscq.Situation(
        name="wet patch", t_end=8.0, initial=standing(0.0),
        reference={"pitch": 0.0, "speed": 1.0, "yaw_rate": 0.0},
        parameters={"no_load_speed": NO_LOAD, "encoder": 1.0} | _PATCH,
        excitation={"push": Step(60.0, at=2.5) + Step(-60.0, at=2.7)},
    )  # fmt: skip


def _shown(ride: Trajectory) -> slice:
    fell = np.flatnonzero(abs(ride["output pitch"]) >= _FALLEN)
    return slice(0, int(fell[0]) + 1 if len(fell) else len(ride.time), _THIN)


def drawn(rides: Mapping[str, Trajectory]) -> str:
    """Return the path from above, and slip, pitch and speed over time."""

    def chart(title: str, across: str, upwards: str, x_label: str, y_label: str) -> Chart:
        curves = []
        for number, (name, ride) in enumerate(rides.items()):
            shown = _shown(ride)
            x = ride.time[shown] if across == "time" else ride[f"output {across}"][shown]
            curves.append(SvgLine(name, x, ride[f"output {upwards}"][shown], colour=number))
        return Chart(title, x_label, y_label, tuple(curves), width=560, height=360)

    return figure([
        chart("path from above", "axle_x", "axle_y", "x, m", "y, m"),
        chart("slip of the left wheel along the heading", "time", "slip_t_L", "time, s", "slip, m/s"),
        chart("pitch", "time", "pitch", "time, s", "pitch, rad"),
        chart("true speed", "time", "true_speed", "time, s", "speed, m/s"),
    ])  # fmt: skip


def main() -> None:
    """Write the figure."""
    runs = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/vehicle")
    step = VehicleStudy().declaration().own["drawn"]["step"]
    known = {run: robots(runs / run, step) for run in dict.fromkeys(run for run, _ in SHOWN.values())}
    rides = {title: known[run][name].record(situation()) for title, (run, name) in SHOWN.items()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    atomic_files.write(FOLDER / "comparison.svg", drawn(rides))
    print(f"written: comparison.svg in {FOLDER}")


if __name__ == "__main__":
    main()
