"""Figures of the balancing vehicle's studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.svg import Chart, Curve, figure
from benchmarks.vehicle_runs import RADIUS, studies

if TYPE_CHECKING:
    from collections.abc import Mapping

THIN = 25  # records of 0.2 ms between points that are drawn
LABELS = {"1a": "1a: 0.5 N m", "1b": "1b: 1.6 sin 2t N m", "1c": "1c: 1.2 sin 2t N m"}


def figures() -> Mapping[str, str]:
    """Return the figures by file name."""
    return {"rolling.svg": _rolling(), "friction.svg": _friction(), "drop.svg": _drop()}


def _rolling() -> str:
    """Displacement against wheel angle, and what is missing to rolling over time."""
    travel, apart = [], []
    for name, label in LABELS.items():
        run = studies()[name]
        rolled = RADIUS * (run["theta"] + run["aL"])
        travel.append(Curve(label, rolled[::THIN], run["axle_x"][::THIN]))
        apart.append(Curve(label, run.time[::THIN], (run["axle_x"] - rolled)[::THIN]))
    return figure([
        Chart("Displacement against wheel angle", "radius times wheel angle, m", "axle, m", tuple(travel)),
        Chart("Displacement less rolling", "time, s", "m", tuple(apart)),
    ])  # fmt: skip


def _friction() -> str:
    """The fall of friction from its static peak, over time and over the slip."""
    run = studies()["1b"]
    shown = (run.time >= 0.4) & (run.time <= 0.9)
    share = run["F_t_L"] / run["f_n_L"]
    slip = -run["slip_t_L"]
    whole = np.abs(slip) < 1.6
    time = run.time[shown][::5]
    return figure([
        Chart("Study 1b: friction over load", "time, s", "F_t / f_n", (Curve("F_t / f_n", time, share[shown][::5]),)),
        Chart("Friction over load against slip, 4 s", "slip speed, m/s", "F_t / f_n",
              (Curve("F_t / f_n", slip[whole][::5], share[whole][::5]),)),
        Chart("Slip speed", "time, s", "m/s", (Curve("slip speed", time, slip[shown][::5]),)),
    ], columns=3)  # fmt: skip


def _drop() -> str:
    """Path and swing after the friction drop."""
    run = studies()["2"]
    t = run.time[::THIN]

    def over_time(title: str, unit: str, **signals: str) -> Chart:
        named = tuple(Curve(label.replace("_", " "), t, run[name][::THIN]) for label, name in signals.items())
        return Chart(title, "time, s", unit, named)

    path = Curve("axle", run["axle_x"][::THIN], run["axle_y"][::THIN])
    return figure([
        Chart("Study 2: path of the axle", "x, m", "y, m", (path,)),
        over_time("Swing", "rad", pitch="theta"),
        over_time("Wheels against the platform", "rad", left="aL", right="aR", yaw="psi"),
        over_time("Friction forces", "N", left_along="F_t_L", right_along="F_t_R", right_aside="F_s_R"),
    ])  # fmt: skip
