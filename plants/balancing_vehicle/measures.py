"""Quality measures of the vehicle's own: how far wheels slid, how long they were in the air, what impacts cost.

Errors against what was asked for are those of the true speed, whatever the encoders tell.
"""

from __future__ import annotations

from typing import Any

from plants.balancing_vehicle.motion import grip
from plants.balancing_vehicle.parameters import Numbers
from plants.balancing_vehicle.powers import ground_power
from plants.balancing_vehicle.signals import true_speed
from plants.balancing_vehicle.wheels import dynamics
from plants.core.elementary import abs as absolute
from plants.core.elementary import maximum, minimum, where
from plants.core.measures import Measure
from plants.friction.lugre import magnitude

TINY = 1e-12  # of a measure: none is ever 0
FULL_GRIP = 0.9  # friction scale below which ground is slippery
SCALES = (0.1, 0.5, 0.5)  # of the errors of pitch [rad], speed [m/s] and yaw rate [rad/s]: those of the channels


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


def _off_speed(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float, r: Any) -> tuple[Any]:
    return (m[0] + h * absolute(r[1] - true_speed(x, Numbers(*p))),)


def _off_dry(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float, r: Any) -> tuple[Any, Any]:
    named = Numbers(*p)
    left, right = dynamics(x, u, w, named).touches
    met = maximum(m[1], where(FULL_GRIP - minimum(left.scale, right.scale), 1.0, 0.0))
    errors = zip(r, (x[5], true_speed(x, named), x[11]), SCALES, strict=True)
    size = sum(absolute(asked - found) / scale for asked, found, scale in errors)
    return m[0] + h * where(met, 0.0, size), met


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
    Measure(
        "speed_error", "m", _off_speed, lambda m, _: m[0] + TINY, "integral of the true speed's error", references=True
    ),
    Measure(
        "dry_error",
        "s",
        _off_dry,
        lambda m, _: m[0] + TINY,
        "integral of the errors of pitch, true speed and yaw rate until a wheel first meets slippery ground",
        states=("error", "met"),
        memory=("met",),
        references=True,
    ),
)
