"""The vehicle as it is seen from above and from its right side, with the ground under its wheels."""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.balancing_vehicle.bodies import VehiclePose, place, pose, wheel_centres
from plants.balancing_vehicle.motion import grip, turned
from plants.balancing_vehicle.parameters import LENGTH, WHEEL_WIDTH, VehicleParameters
from plants.balancing_vehicle.wheels import dynamics, ground
from plants.core.presentation import Body, Scene, View

Points = Any
_ABOVE = 0.2  # m, from the centre of mass to the platform's top and bottom
_METRES_PER_NEWTON = 5e-3
_BEYOND = 1.5  # m of ground before and behind the run


def _level(at: VehiclePose, x: Any, point: Any) -> tuple[Any, Any]:
    """A point from the centre of mass as it is seen from above."""
    c, s = at.heading
    return x[0] + c * point[0] - s * point[1], x[1] + s * point[0] + c * point[1]


def _corners(at: VehiclePose, x: Any, middle: Any, along: Any, across: Any) -> Points:
    """A rectangle in the plane about a point, in the heading frame."""
    around = ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0))
    return [_level(at, x, (middle[0] + a * along, middle[1] + b * across, 0.0)) for a, b in around]


def _platform_above(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    named, at = VehicleParameters(*p), pose(x)
    half = 0.5 * LENGTH * np.abs(np.cos(x[5])) + _ABOVE * np.abs(np.sin(x[5]))
    return _corners(at, x, (0.0 * x[0], 0.0 * x[0], 0.0), half, 0.5 * named.b - WHEEL_WIDTH)


def _wheel_above(k: int) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        named, at = VehicleParameters(*p), pose(x)
        return _corners(at, x, wheel_centres(at, named)[k], named.r, 0.5 * WHEEL_WIDTH)

    return points


def _friction(k: int) -> Any:
    """Friction force on a wheel."""

    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        named = VehicleParameters(*p)
        now = dynamics(x, u, w, named)
        acting = grip(now, x, named)
        push = [-_METRES_PER_NEWTON * acting.loads[k] * share for share in acting.friction[k]]
        start = _level(now.at, x, wheel_centres(now.at, named)[k])
        ahead = turned(now, *push)
        return start, (start[0] + ahead[0], start[1] + ahead[1])

    return points


def _middle(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    named, at = VehicleParameters(*p), pose(x)
    return (_level(at, x, place(at, 0.0, 0.0, -named.l)),)


def _patch(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The patch of other ground, without size where there is none."""
    named, still = VehicleParameters(*p), 0.0 * x[0]
    there = 1.0 if named.patch != 1.0 else 0.0
    length, half = there * named.patch_length, 0.5 * there * named.patch_width
    return [
        (still + named.patch_x + a * length, still + named.patch_y + b * half)
        for a, b in ((0.0, 1.0), (1.0, 1.0), (1.0, -1.0), (0.0, -1.0))
    ]


def _followed(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return x[0], x[1]


def _platform_beside(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    at = pose(x)
    found = []
    for along, above in ((0.5, 1.0), (0.5, -1.0), (-0.5, -1.0), (-0.5, 1.0)):
        point = place(at, along * 0.4 * LENGTH, 0.0, above * _ABOVE)
        found.append((_level(at, x, point)[0], x[2] + point[2]))
    return found


def _wheel_beside(k: int) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        named, at = VehicleParameters(*p), pose(x)
        d = wheel_centres(at, named)[k]
        across, up = _level(at, x, d)[0], x[2] + d[2]
        turn = x[5] + x[6 + k]
        return (across, up), (across + named.r * np.sin(turn), up + named.r * np.cos(turn))

    return points


def _ground_beside(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The ground of the right wheel along the middle line, over the length of the run and a little more."""
    named = VehicleParameters(*p)
    along = np.linspace(np.min(x[0]) - _BEYOND, np.max(x[0]) + _BEYOND, len(t))
    return ((along, ground(along, 0.0 * along, named.bump_R, named).height),)


def _followed_beside(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return x[0], 0.0 * x[0]


_ARROWS = "friction on a wheel, 5 cm for each 10 N"
SCENE = Scene(
    (
        View(
            "from above",
            (
                Body("polygon", _patch, "patch of other ground", "soft"),
                Body("trace", _middle, "way of the axle"),
                Body("polygon", _platform_above, "platform"),
                *(Body("polygon", _wheel_above(k), "wheels", "ink") for k in (0, 1)),
                *(Body("arrow", _friction(k), _ARROWS, "ink") for k in (0, 1)),
            ),
            (-1.2, 1.2, -0.9, 0.9),
            follow=_followed,
            up="y",
        ),
        View(
            "from the right",
            (
                Body("ground", _ground_beside, "ground under the right wheel", "soft"),
                *(Body("wheel", _wheel_beside(k), "wheels") for k in (0, 1)),
                Body("polygon", _platform_beside, "platform"),
            ),
            (-0.9, 0.9, -0.15, 0.9),
            follow=_followed_beside,
        ),
    ),
    text="The vehicle balances on its two wheels and drives; wheels spin where the ground gives too little friction.",
    rate=30.0,
    pace=0.5,
)
