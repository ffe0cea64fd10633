"""The car as it is seen from its left side and from behind its front axle, on the road that passes under its wheels.

Heights of the road and all motion from rest are drawn three times as large, lengths of the car are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.scene import Body, Scene, View
from plants.suspension.drawn import MAGNIFIED, in_space, posed, radius_of, rolled, speed, strut_ends, wheel
from plants.suspension.parameters import C_MAX, C_MIN, LEFT, Car
from plants.suspension.pose import contacts, pose
from plants.suspension.signals import REST

Points = Any
_NOTE = f"motion and heights of the road {MAGNIFIED:g} times as large"
_SIDE = (
    (-2.0, 0.05), (-2.05, 0.42), (-1.55, 0.5), (-1.05, 0.92), (0.25, 0.92), (0.85, 0.52), (1.75, 0.4), (1.95, 0.1),
    (1.9, 0.0), (-1.95, 0.0),
)  # fmt: skip
_FRONT = ((-0.62, 0.0), (-0.68, 0.4), (-0.52, 0.9), (0.52, 0.9), (0.68, 0.4), (0.62, 0.0), (0.3, -0.2), (-0.3, -0.2))
_METRES_PER_NEWTON = 5e-5
_TREAD = 0.075  # m, half the width of a tyre


def _side_body(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    at, moved = posed(x, p), speed(t, w) * t
    return [(moved + a, h) for a, _, h in (in_space(at, along, 0.0, high) for along, high in _SIDE)]


def _side_wheel(k: int) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        ahead, _, high = wheel(posed(x, p), k)
        moved, radius = speed(t, w) * t, radius_of(p, k)
        turned = moved / radius
        centre = moved + ahead
        return (centre, high), (centre + radius * np.sin(turned), high + radius * np.cos(turned))

    return points


def _side_strut(k: int) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        at, moved = posed(x, p), speed(t, w) * t
        (top, _, high), _ = strut_ends(at, k)
        ahead, _, low = wheel(at, k)
        return (moved + top, high), (moved + ahead, low)

    return points


def _side_road(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The road of the left wheels over its length: before the front wheel's start it is the rear wheel's."""
    v, front, rear = speed(t, w), Car.of(p).front.a1, Car.of(p).rear.a1
    place = np.linspace(rear - 2.0, front + v * (t[-1] - t[0]), len(t))
    ahead, behind = (np.interp(place, a + v * (t - t[0]), w[k]) for k, a in ((0, front), (2, rear)))
    return ((v * t[0] + place, MAGNIFIED * np.where(place < front, behind, ahead)),)


def _tyre_load(k: int, *, unilateral: bool) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        load = contacts(pose(x, p), w[:4], w[4:], unilateral=unilateral)[k].load
        place = speed(t, w) * t + wheel(posed(x, p), k)[0]
        return (place, MAGNIFIED * w[k]), (place, MAGNIFIED * w[k] + _METRES_PER_NEWTON * load)

    return points


def _followed(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    return speed(t, w) * t, 0.0 * t


def _rear_view_body(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    at = posed(x, p)
    front = at.car.front.a1
    corners = (rolled(at, y, z) for y, z in _FRONT)
    return [(-across, in_space(at, front, across, high)[2]) for across, high in corners]


def _rear_view_wheel(k: int) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        _, across, high = wheel(posed(x, p), k)
        radius = radius_of(p, k)
        return [
            (-across + a, high + b) for a in (-_TREAD, _TREAD) for b in ((-radius, radius), (radius, -radius))[a > 0]
        ]

    return points


def _rear_view_link(k: int, *, strut: bool) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        at = posed(x, p)
        top, foot = strut_ends(at, k)
        if strut:
            return (-top[1], top[2]), (-foot[1], foot[2])
        axle, side = at.car.axles[k], 1.0 if LEFT[k] else -1.0
        y, z = side * (axle.b2 - axle.c2 * np.sin(axle.gam)), axle.c2 * np.cos(axle.gam)
        hinge = in_space(at, axle.a1, *rolled(at, y, z))
        _, across, high = wheel(at, k)
        return (-hinge[1], hinge[2]), (-across, high)

    return points


def _rear_view_road(k: int) -> Any:
    """The road across one wheel's track."""

    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        at = pose(REST, p)
        middle, height = -wheel(at, k)[1], MAGNIFIED * w[k]
        return (middle - 0.2, height), (middle + 0.2, height)

    return points


def _setting(k: int) -> Any:
    def level(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        return u[k]

    return level


def _strut(points: Any, k: int) -> Body:
    """A strut that carries the colour of its damper's setting."""
    return Body(
        "line", points, "struts coloured by the setting of their dampers", "ink",
        level=_setting(k), levels=(C_MIN, C_MAX), level_text="damper, N s/m",
    )  # fmt: skip


def scene(*, unilateral: bool) -> Scene:
    """Return the car's picture, with tyres that only push or that also pull."""
    loads = "load of the tyre, 5 cm for each kN"
    side = (
        Body("ground", _side_road, "road of the left wheels", "soft"),
        Body("polygon", _side_body, "body"),
        *(Body("wheel", _side_wheel(k), "left wheels") for k in (0, 2)),
        *(_strut(_side_strut(k), k) for k in (0, 2)),
        *(Body("arrow", _tyre_load(k, unilateral=unilateral), loads, "ink") for k in (0, 2)),
    )
    rear = (
        *(Body("ground", _rear_view_road(k), "road under the front wheels", "soft") for k in (0, 1)),
        Body("polygon", _rear_view_body, "body"),
        *(Body("polygon", _rear_view_wheel(k), "front wheels") for k in (0, 1)),
        *(Body("line", _rear_view_link(k, strut=False), "arms") for k in (0, 1)),
        *(_strut(_rear_view_link(k, strut=True), k) for k in (0, 1)),
    )
    return Scene(
        (
            View("from the left", side, (-2.6, 2.6, -0.3, 1.8), follow=_followed, note=_NOTE),
            View("front axle from behind", rear, (-1.15, 1.15, -0.3, 1.95), across="to the right", note=_NOTE),
        ),
        text="The car drives on its road; its body heaves, pitches and rolls on four struts with adjustable dampers.",
        rate=40.0,
        pace=0.2,
    )
