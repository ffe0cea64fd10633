"""The car as it is seen from its left side and from behind its front axle, on the road that passes under its wheels.

Heights of the road and all motion from rest are drawn three times as large, lengths of the car are not. A record
holds heights of the road, no speed: the rear wheels meet what the front ones met a wheelbase before, so the speed is
read off that delay. Beside the picture: what a car's engineer looks at over time and over frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.presentation import Body, PlottedSignal, Scene, View
from plants.ride.weightings import WK
from plants.suspension.geometry import CarPose, contacts, pose
from plants.suspension.parameters import C_MAX, C_MIN, LEFT, Car
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


def posed(x: Any, p: Any) -> CarPose:
    """Return the car as it is drawn."""
    return pose(magnified(x), p)


def wheel(at: CarPose, k: int) -> tuple[Any, Any, Any]:
    """Place of a wheel's centre: ahead, to the left, up [m]."""
    c, a1 = at.corners[k], at.car.axles[k].a1
    return in_space(at, a1, c.wheel_v if LEFT[k] else -c.wheel_v, c.wheel_u)


def in_space(at: CarPose, along: float, across: Any, high: Any) -> tuple[Any, Any, Any]:
    """Turn a place in pitched axes by the pitch."""
    return (
        along * at.cos_pitch + high * at.sin_pitch,
        across,
        at.z0 - along * at.sin_pitch + high * at.cos_pitch,
    )


def strut_ends(at: CarPose, k: int) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
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


def rolled(at: CarPose, y: Any, z: Any) -> tuple[Any, Any]:
    """Lateral place and height of a point of the body after roll."""
    return y * at.cos_roll - z * at.sin_roll, y * at.sin_roll + z * at.cos_roll


def radius_of(p: Any, k: int) -> float:
    """Height of the wheel's centre over level ground at the nominal rest."""
    at = pose(REST, p)
    return float(wheel(at, k)[2])


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


_SPAN, _TOP = 2.0, 30.0  # s, Hz: above, neither body nor wheels move

SHOWN = (
    PlottedSignal("heave_acceleration", _SPAN, _TOP, WK.response, "Wk"),
    PlottedSignal("tyre_load_i", _SPAN, _TOP),
    PlottedSignal("c_i", _SPAN),
)
"""Body acceleration (felt: weighted by Wk of ISO 2631-1), load of the front left tyre, setting of its damper."""
