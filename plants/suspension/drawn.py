"""Where points of the car are in its picture: places in space, motion magnified, and the speed that the road tells.

A record holds heights of the road, no speed: the rear wheels meet what the front ones met a wheelbase before, so the
speed is read off that delay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.suspension.parameters import LEFT
from plants.suspension.pose import Pose, pose
from plants.suspension.roads import WHEELBASE
from plants.suspension.signals import REST

MAGNIFIED = 3.0
"""Motion from rest and heights of the road are drawn so many times as large; lengths of the car are not."""
_SPEEDS = np.arange(4.0, 60.25, 0.25)  # m/s
_UNKNOWN = 15.0  # m/s, where the road tells none


def speed(t: Any, w: Any) -> float:
    """Return the speed [m/s] at which rear wheels meet the road of the front wheels; 15 where the road tells none."""
    some = slice(None, None, max(len(t) // 1000, 1))
    late = t[some]
    best, found = 0.5, _UNKNOWN
    for candidate in _SPEEDS:
        met = late >= t[0] + WHEELBASE / candidate
        pairs = [(w[k + 2][some][met], np.interp(late[met] - WHEELBASE / candidate, t, w[k])) for k in (0, 1)]
        size = sum(float(np.square(rear).sum()) for rear, _ in pairs)
        off = sum(float(np.square(rear - front).sum()) for rear, front in pairs)
        if size > 0.0 and off / size < best:
            best, found = off / size, float(candidate)
    return found


def magnified(x: Any) -> tuple[Any, ...]:
    """Return the state with its motion from rest so much larger."""
    return tuple(rest + MAGNIFIED * (value - rest) for value, rest in zip(x, REST, strict=True))


def posed(x: Any, p: Any) -> Pose:
    """Return the car as it is drawn."""
    return pose(magnified(x), p)


def wheel(at: Pose, k: int) -> tuple[Any, Any, Any]:
    """Place of a wheel's centre: ahead, to the left, up [m]."""
    c, a1 = at.corners[k], at.car.axles[k].a1
    return in_space(at, a1, c.wheel_v if LEFT[k] else -c.wheel_v, c.wheel_u)


def in_space(at: Pose, along: float, across: Any, high: Any) -> tuple[Any, Any, Any]:
    """Turn a place in pitched axes by the pitch."""
    return (
        along * at.cos_pitch + high * at.sin_pitch,
        across,
        at.z0 - along * at.sin_pitch + high * at.cos_pitch,
    )


def strut_ends(at: Pose, k: int) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Hinge on the body and foot on the arm."""
    axle, c = at.car.axles[k], at.corners[k]
    side = 1.0 if LEFT[k] else -1.0
    sine, cosine = np.sin(axle.gam), np.cos(axle.gam)
    hinge = (axle.b2 - axle.c2 * sine, axle.c2 * cosine)
    ends = (
        (axle.b2 - axle.c1 * sine, axle.c1 * cosine),
        (hinge[0] + axle.e2 * c.cos_psi, hinge[1] + axle.e2 * c.sin_psi),
    )
    return tuple(in_space(at, axle.a1, *rolled(at, side * y, z)) for y, z in ends)  # type: ignore[return-value]


def rolled(at: Pose, y: Any, z: Any) -> tuple[Any, Any]:
    """Lateral place and height of a point of the body after roll."""
    return y * at.cos_roll - z * at.sin_roll, y * at.sin_roll + z * at.cos_roll


def radius_of(p: Any, k: int) -> float:
    """Height of the wheel's centre over level ground at the nominal rest."""
    at = pose(REST, p)
    return float(wheel(at, k)[2])
