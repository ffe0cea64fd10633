"""Where the wheels touch the ground: its height and grip, gaps, slip, and how the vehicle answers to forces there.

Six directions: normal, longitudinal and lateral, each for the left and the right wheel. With the responses of all of
them to one another (J M^-1 J', 6 x 6) loads and friction are found without the vehicle's eight equations. The ground
has slopes, a cosine bump under each wheel, and a patch of other friction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.bodies import (
    A_L,
    A_R,
    FORWARD,
    N_U,
    PSI,
    UP,
    Vector,
    VehiclePose,
    arms,
    dot,
    drawn,
    equations,
    place,
    plus,
    pose,
    times,
    wheel_centres,
)
from plants.balancing_vehicle.parameters import PATCH_EDGE
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, cos, minimum, sin, where
from plants.core.linear_solve import solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.balancing_vehicle.parameters import VehicleParameters


class Ground(NamedTuple):
    """The ground at a place: height [m], slopes along x and y, curvature along x [1/m], share of the patch."""

    height: Any
    slope_x: Any
    slope_y: Any
    curvature: Any
    friction: Any


def ground(x: Any, y: Any, height: Any, p: VehicleParameters) -> Ground:
    """Return the ground at (x, y) [m] under a wheel whose bump is `height` [m] high.

    The bump is (h/2) (1 - cos(2 pi (x - x_b) / L)) on [x_b, x_b + L]: height and slope are continuous.
    """
    rate = 2.0 * math.pi / p.bump_length
    along = x - p.bump_x
    on = minimum(along, p.bump_length - along)
    angle = rate * clip(along, 0.0, p.bump_length)
    half, turn = 0.5 * height, cos(angle)
    return Ground(
        height=p.slope_x * x + p.slope_y * y + half * (1.0 - turn),
        slope_x=p.slope_x + half * rate * sin(angle),
        slope_y=p.slope_y,
        curvature=where(on, half * rate * rate * turn, 0.0),
        friction=1.0 + (p.patch - 1.0) * on_patch(x, y, p),
    )


def on_patch(x: Any, y: Any, p: VehicleParameters) -> Any:
    """Share of the patch's ground at (x, y), 0 to 1."""
    half = 0.5 * p.patch_length
    along = half - magnitude(x - p.patch_x - half)
    across = 0.5 * p.patch_width - magnitude(y - p.patch_y)
    return clip(0.5 + minimum(along, across) / PATCH_EDGE, 0.0, 1.0)


NORMAL, ALONG, ACROSS = (0, 1), (2, 3), (4, 5)  # directions, each left and right
_ORDER = (A_L, A_R, 0, 1, 2, 3, 4, 5)  # of elimination: wheels and translation fill nothing in


class WheelContact(NamedTuple):
    """One wheel at the ground.

    Attributes
    ----------
    gap : delta [m]
    bias : part of delta'' that is there without accelerations [m/s^2]
    rows : Jacobian rows of normal, longitudinal and lateral direction [3][8]
    scale : friction scale of the ground
    """

    gap: Any
    bias: Any
    rows: tuple[list[Any], list[Any], list[Any]]
    scale: Any


class Dynamics(NamedTuple):
    """The vehicle on its contacts; directions in the order L R of normal, longitudinal, lateral.

    Attributes
    ----------
    at : VehiclePose
    touches : left, right
    rows : J [6][8]
    speeds : J U [6]
    free : U' without contact forces [8]
    answers : M^-1 J', each [8], [6]
    loop : J M^-1 J' [6][6]
    drift : accelerations along the directions without contact forces [6]
    """

    at: VehiclePose
    touches: tuple[WheelContact, WheelContact]
    rows: list[list[Any]]
    speeds: tuple[Any, ...]
    free: tuple[Any, ...]
    answers: list[tuple[Any, ...]]
    loop: list[list[Any]]
    drift: list[Any]

    def slip(self, wheel: int) -> tuple[Any, Any]:
        """Slip velocity of a wheel [m/s], longitudinal and lateral."""
        return self.speeds[2 + wheel], self.speeds[4 + wheel]


def dynamics(x: Any, u: Any, w: Any, p: VehicleParameters) -> Dynamics:
    """Return the vehicle's motion at a state, as far as it is known without contact forces."""
    at = pose(x)
    touches = _touches(x, at, w, p)
    rows = [touch.rows[direction] for direction in range(3) for touch in touches]
    mass, force = equations(at, u, p)
    total = [a + b for a, b in zip(force, _push(at, w, p), strict=True)]
    free, *answers = (_solve(mass, right) for right in (total, *rows))
    return Dynamics(
        at, touches, rows, tuple(_product(row, at.rates) for row in rows), free, answers,
        [[_product(row, answer) for answer in answers] for row in rows], [_product(row, free) for row in rows],
    )  # fmt: skip


def _touches(x: Any, at: VehiclePose, w: Any, p: VehicleParameters) -> tuple[WheelContact, WheelContact]:
    centres, heights = wheel_centres(at, p), (p.bump_L, p.bump_R)
    left, right = (
        _touch(x, at, wheel, d, below(x, at, d, height, p), w, p)
        for wheel, (d, height) in enumerate(zip(centres, heights, strict=True))
    )
    return left, right


def below(x: Any, at: VehiclePose, d: Vector, height: Any, p: VehicleParameters) -> Ground:
    """Return the ground under a wheel centre `d`."""
    c, s = at.heading
    return ground(x[0] + c * d[0] - s * d[1], x[1] + s * d[0] + c * d[1], height, p)


def gaps_of(x: Any, p: VehicleParameters) -> tuple[Any, Any]:
    """Return the gaps of both wheels [m]."""
    at = pose(x)
    left, right = (
        x[2] + d[2] - p.r * at.axle[1] - below(x, at, d, height, p).height
        for d, height in zip(wheel_centres(at, p), (p.bump_L, p.bump_R), strict=True)
    )
    return left, right


def _touch(x: Any, at: VehiclePose, wheel: int, d: Vector, floor: Ground, w: Any, p: VehicleParameters) -> WheelContact:
    (c, s), roll = at.heading, at.axle[1]
    lever, columns = plus(d, times(-p.r, at.upright)), arms(at, d)
    normal, along, across = (_row(at, e, lever, wheel, p) for e in (UP, FORWARD, (0.0, 1.0, 0.0)))
    rise = (c * floor.slope_x + s * floor.slope_y, c * floor.slope_y - s * floor.slope_x, 0.0)
    for k in range(3):
        normal[k] -= rise[k]
        normal[PSI + k] -= dot(rise, columns[k])
    phi = at.rates[4]
    moved = plus(at.velocity, *(times(rate, arm) for rate, arm in zip(at.rates[PSI:6], columns, strict=True)))
    ahead, drag = c * moved[0] - s * moved[1], drawn(at, d)
    bias = drag[2] + p.r * roll * phi * phi - dot(rise, drag) - floor.curvature * ahead * ahead
    gap = x[2] + d[2] - p.r * roll - floor.height
    return WheelContact(gap, bias, (normal, along, across), w[wheel] * floor.friction)


def _row(at: VehiclePose, direction: Vector, lever: Vector, wheel: int, p: VehicleParameters) -> list[Any]:
    """Jacobian row of the contact point along a direction; the wheel moves it by -r f a'."""
    row: list[Any] = [*direction, *(dot(direction, arm) for arm in arms(at, lever)), 0.0, 0.0]
    row[(A_L, A_R)[wheel]] = -p.r * direction[0]
    return row


def _push(at: VehiclePose, w: Any, p: VehicleParameters) -> list[Any]:
    force = (w[2], w[3], 0.0)
    columns = arms(at, place(at, 0.0, 0.0, p.push_height - p.l))
    return [*force, *(dot(column, force) for column in columns), 0.0, 0.0]


def _solve(mass: list[list[Any]], right: Sequence[Any]) -> tuple[Any, ...]:
    ordered = solve_symmetric([[mass[i][j] for j in _ORDER] for i in _ORDER], [right[i] for i in _ORDER])
    result: list[Any] = [0.0] * N_U
    for place_, value in zip(_ORDER, ordered, strict=True):
        result[place_] = value
    return tuple(result)


def _product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((left * right for left, right in zip(a[1:], b[1:], strict=True)), a[0] * b[0])
