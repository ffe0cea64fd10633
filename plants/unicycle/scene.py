"""The unicycle's picture: from its side, from behind, and from above on the path that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.scene import Body, Scene, View
from plants.unicycle.parameters import Unicycle
from plants.unicycle.pose import PITCH, ROLL, TABLE, YAW
from plants.unicycle.views import DISC, REAR, SIDE, TREAD, Points


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
