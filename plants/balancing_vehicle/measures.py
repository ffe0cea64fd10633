"""Quality measures of the vehicle's own: how far wheels slid, how long they were in the air, what impacts cost."""

from __future__ import annotations

from typing import Any

from plants.balancing_vehicle.motion import grip
from plants.balancing_vehicle.parameters import Numbers
from plants.balancing_vehicle.powers import ground_power
from plants.balancing_vehicle.wheels import dynamics
from plants.core.elementary import where
from plants.core.measures import Measure
from plants.friction.lugre import magnitude

TINY = 1e-12  # of a measure: none is ever 0


def _slid(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = Numbers(*p)
    now = dynamics(x, u, w, named)
    acting = grip(now, x, named)
    path = m[0]
    for wheel, load in enumerate(acting.loads):
        path = path + where(load, h * magnitude(now.slip(wheel)), 0.0)
    return (path,)


def _in_air(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = Numbers(*p)
    total = m[0]
    for load in grip(dynamics(x, u, w, named), x, named).loads:
        total = total + where(load, 0.0, h)
    return (total,)


def _hit(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = Numbers(*p)
    now = dynamics(x, u, w, named)
    return (m[0] - h * ground_power(now, grip(now, x, named), x, named)[0],)


def _leant(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    return (m[0] + h * x[5] * x[5],)


MEASURES = (
    Measure(
        "slip_distance",
        "m",
        _slid,
        lambda m, _: m[0] + TINY,
        "path over which the wheels slid on the ground, both added",
    ),
    Measure("time_in_air", "s", _in_air, lambda m, _: m[0] + TINY, "time in which wheels carried nothing, both added"),
    Measure(
        "impact_loss", "J", _hit, lambda m, _: m[0], "energy that normal forces took in impacts", less_is_better=None
    ),
    Measure(
        "lean", "rad", _leant, lambda m, time: (m[0] / time) ** 0.5, "root mean square of the pitch angle", scale=0.1
    ),
)
