"""The unicycle's picture: from its right side, from behind, and from above on the path that it leaves.

Places are sums of the legs' vectors in the wheel's plane; that plane rolls about the contact point. From the side it
is drawn along the way that the wheel has rolled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.presentation import Body, Scene, View
from plants.unicycle.geometry import PITCH, ROLL, TABLE, WHEEL, YAW, pose
from plants.unicycle.parameters import Unicycle

Points = Any
DISC, _THICK, TREAD = 0.22, 0.03, 0.02  # m: radius and height of the turntable, half the tyre's width
_METRES_PER_NEWTON = 0.01


def _way(x: Any, p: Any) -> Any:
    """Length that the wheel has rolled [m]."""
    return p[1] * x[WHEEL]


def rolled(x: Any, p: Any, y: Any, z: Any) -> Points:
    """To the right and up, of a point y to the left and z above the axle in the wheel's plane."""
    height = p[1] + z
    sine, cosine = np.sin(x[ROLL]), np.cos(x[ROLL])
    return sine * height - cosine * y, cosine * height + sine * y


def _side(x: Any, p: Any, ahead: Any, z: Any) -> Points:
    """Along the way and up, of a point in the wheel's plane given from the axle."""
    return _way(x, p) + ahead, np.cos(x[ROLL]) * (p[1] + z)


def _side_wheel(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    at = (np.sin(x[WHEEL] + p[11]), np.cos(x[WHEEL] + p[11]))
    return _side(x, p, 0.0, 0.0), _side(x, p, p[1] * at[1], -p[1] * at[0])


def _side_body(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    top = Unicycle.of(p).e6
    return _side(x, p, 0.0, 0.0), _side(x, p, top * np.sin(x[PITCH]), top * np.cos(x[PITCH]))


def _side_table(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The turntable's edge, and a mark on it that turns with it."""
    sine, cosine, top = np.sin(x[PITCH]), np.cos(x[PITCH]), Unicycle.of(p).e6
    corners = ((-DISC, 0.0), (DISC, 0.0), (DISC, _THICK), (-DISC, _THICK))
    return [_side(x, p, a * cosine + (top + b) * sine, (top + b) * cosine - a * sine) for a, b in corners]


def _side_mark(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    sine, cosine, top = np.sin(x[PITCH]), np.cos(x[PITCH]), Unicycle.of(p).e6 + _THICK
    ends = ((DISC * np.cos(x[TABLE]), top), (DISC * np.cos(x[TABLE]), top + _THICK))
    return [_side(x, p, a * cosine + b * sine, b * cosine - a * sine) for a, b in ends]


def _leg(right: bool) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        at = pose(x, p)
        leg = at.right if right else at.left
        knee = (leg.hip[0] + leg.thigh[0], leg.hip[1] + leg.thigh[1])
        return [_side(x, p, *place) for place in ((0.0, 0.0), leg.crank, knee, leg.hip)]

    return points


def _side_push(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    place = _side(x, p, w[3] * np.sin(x[PITCH]), w[3] * np.cos(x[PITCH]))
    return place, (place[0] + _METRES_PER_NEWTON * w[0], place[1] + _METRES_PER_NEWTON * w[2])


def _side_followed(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return _way(x, p), 0.0 * t


def _rear_wheel(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    corners = ((TREAD, -p[1]), (-TREAD, -p[1]), (-TREAD, p[1]), (TREAD, p[1]))
    return [rolled(x, p, y, z) for y, z in corners]


def _rear_body(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    top = Unicycle.of(p).e6 * np.cos(x[PITCH])
    return rolled(x, p, 0.0, 0.0), rolled(x, p, 0.0, top)


def _rear_leg(right: bool) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        at = pose(x, p)
        leg, side = (at.right, -1.0) if right else (at.left, 1.0)
        knee = leg.hip[1] + leg.thigh[1]
        near, far = side * at.robot.k1, side * at.robot.yk1
        places = ((0.0, 0.0), (far, leg.crank[1]), (far, knee), (near, knee), (near, leg.hip[1]), (0.0, leg.hip[1]))
        return [rolled(x, p, y, z) for y, z in places]

    return points


def _rear_table(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    top = Unicycle.of(p).e6 * np.cos(x[PITCH])
    corners = ((DISC, 0.0), (-DISC, 0.0), (-DISC, _THICK), (DISC, _THICK))
    return [rolled(x, p, y, top + z) for y, z in corners]


def _rear_mark(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    top, place = Unicycle.of(p).e6 * np.cos(x[PITCH]) + _THICK, DISC * np.sin(x[TABLE])
    return [rolled(x, p, place, z) for z in (top, top + _THICK)]


def _rear_push(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    place = rolled(x, p, 0.0, w[3] * np.cos(x[PITCH]))
    return place, (place[0] - _METRES_PER_NEWTON * w[1], place[1] + _METRES_PER_NEWTON * w[2])


_PUSH = "push, 1 cm for each newton"
SIDE = View(
    "from the right",
    (
        Body("ground", ((-1e3, 0.0), (1e3, 0.0)), "ground", "soft"),
        Body("line", _leg(right=False), "left leg", "soft"),
        Body("wheel", _side_wheel, "wheel"),
        Body("line", _side_body, "body"),
        Body("line", _leg(right=True), "right leg", "ink"),
        Body("polygon", _side_table, "turntable"),
        Body("line", _side_mark, "mark on the turntable", "ink"),
        Body("arrow", _side_push, _PUSH, "ink"),
    ),
    (-0.6, 0.6, -0.08, 1.05),
    follow=_side_followed,
    across="along the path",
)
REAR = View(
    "from behind",
    (
        Body("ground", ((-1e3, 0.0), (1e3, 0.0)), "ground", "soft"),
        Body("polygon", _rear_wheel, "wheel"),
        Body("line", _rear_body, "body"),
        Body("line", _rear_leg(right=True), "right leg", "ink"),
        Body("line", _rear_leg(right=False), "left leg", "soft"),
        Body("polygon", _rear_table, "turntable"),
        Body("line", _rear_mark, "mark on the turntable", "ink"),
        Body("arrow", _rear_push, _PUSH, "ink"),
    ),
    (-0.6, 0.6, -0.08, 1.05),
    across="to the right",
)


def _contact(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return ((x[10], x[11]),)


def _followed(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return x[10], x[11]


def _above(x: Any, ahead: Any, left: Any) -> Points:
    """On the ground, of a point given from the contact in axes that yaw."""
    sine, cosine = np.sin(x[YAW]), np.cos(x[YAW])
    return x[10] + cosine * ahead - sine * left, x[11] + sine * ahead + cosine * left


def _above_wheel(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    left = -p[1] * np.sin(x[ROLL])  # of the axle
    corners = ((-p[1], TREAD), (p[1], TREAD), (p[1], -TREAD), (-p[1], -TREAD))
    return [_above(x, a, left + b) for a, b in corners]


def _above_body(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """From the axle to the turntable."""
    return [_above(x, *place) for place in (_over(x, p, 0.0), _over(x, p, Unicycle.of(p).e6))]


def _over(x: Any, p: Any, height: float) -> Points:
    """Forward and left of the contact, of a point on the body's axis above the axle."""
    return height * np.sin(x[PITCH]), -np.sin(x[ROLL]) * (p[1] + height * np.cos(x[PITCH]))


def _above_table(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """Its middle, and a mark on its rim."""
    ahead, left = _over(x, p, Unicycle.of(p).e6)
    return (
        _above(x, ahead, left),
        _above(x, ahead + DISC * np.cos(x[TABLE]), left + DISC * np.sin(x[TABLE])),
    )


ABOVE = View(
    "from above",
    (
        Body("trace", _contact, "path of the contact point", "soft"),
        Body("polygon", _above_wheel, "wheel"),
        Body("line", _above_body, "body"),
        Body("wheel", _above_table, "turntable with a mark"),
    ),
    (-1.5, 1.5, -1.0, 1.0),
    follow=_followed,
    up="y",
)
SCENE = Scene(
    (SIDE, REAR, ABOVE),
    text="A robot rides one wheel: its legs pedal, its body pitches and rolls, the turntable on its top steers it.",
    rate=40.0,
    pace=0.5,
)
