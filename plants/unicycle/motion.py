"""Equations of motion in minimal coordinates, M(q) v' = f, with the wheel's rolling and both legs' loops built in.

Velocities are alpha', gamma', beta', theta_w', eta'; the rolling wheel adds no rate of its own, since its axle moves
with Rw theta_w'. By virtual power every part gives what its mass and its turning ask for. Gravity and a ground that
is not level are an acceleration of the frame.

Masses: J is the velocity of a mass centre in roll axes by the five velocities:

    by alpha' (A, X cos g, -X sin g), by gamma' (0, -H, y), by beta' (X_b, 0, Z_b), by theta_w' (Rw + X_w, 0, Z_w)

with g the roll, H = Rw + Z the height in the wheel's plane and A = H sin g - y cos g. A mass gives J' m J to M and J'
m b to what the present rates demand. The parts' own turning has its inertia in roll axes, the turntable's in body
axes.

Where the unicycle balances: its thighs are in front of the axle, so it leans back a little.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.core.elementary import cos, sin
from plants.core.names import pick_values
from plants.unicycle.geometry import PITCH, ROLL, TABLE, WHEEL, YAW, pose
from plants.unicycle.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.unicycle.geometry import Numbers, PlanarPart, UnicyclePose


def carried_inertia(at: UnicyclePose, part: PlanarPart) -> dict[tuple[int, int], Any]:
    """Return what the mass of a part gives to M, by pairs of equations."""
    sine, m, y = at.sin_roll, part.mass, part.y
    x, height, across, forward = columns(at, part)
    (bx, bz), wz = part.by_pitch, part.by_wheel[1]
    sx = sine * x
    return {
        (YAW, YAW): m * (across * across + x * x),
        (YAW, ROLL): -(m * (at.cos_roll * x * height + sx * y)),
        (YAW, PITCH): m * (across * bx - sx * bz),
        (YAW, WHEEL): m * (across * forward - sx * wz),
        (ROLL, ROLL): m * (height * height + y * y),
        (ROLL, PITCH): m * (y * bz),
        (ROLL, WHEEL): m * (y * wz),
        (PITCH, PITCH): m * (bx * bx + bz * bz),
        (PITCH, WHEEL): m * (bx * forward + bz * wz),
        (WHEEL, WHEEL): m * (forward * forward + wz * wz),
    }


def columns(at: UnicyclePose, part: PlanarPart) -> tuple[Any, Any, Any, Any]:
    """Return X, H, A, and Rw + X_w [m]."""
    height = at.robot.Rw + part.place[1]
    return part.place[0], height, at.sin_roll * height - at.cos_roll * part.y, at.robot.Rw + part.by_wheel[0]


def steady_acceleration(at: UnicyclePose, part: PlanarPart, frame: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return the acceleration of a mass centre at rates that stay, in roll axes, less gravity [m/s^2]."""
    yaw, roll, _, wheel, _ = at.rates
    sine, cosine, y = at.sin_roll, at.cos_roll, part.y
    x, height, across, _ = columns(at, part)
    along, upward = rate_of(at, part)
    lateral = 2.0 * along + at.robot.Rw * wheel + yaw * across
    return (
        part.bias[0] + 2.0 * yaw * (cosine * roll * height + sine * (upward + roll * y)) - yaw * yaw * x + frame[0],
        yaw * cosine * lateral - roll * (2.0 * upward + roll * y) + frame[1],
        part.bias[1] - roll * roll * height - yaw * sine * lateral + frame[2],
    )


def rate_of(at: UnicyclePose, part: PlanarPart) -> tuple[Any, Any]:
    """Return the rates of X and Z [m/s]."""
    pitch, wheel = at.rates[PITCH], at.rates[WHEEL]
    (bx, bz), (wx, wz) = part.by_pitch, part.by_wheel
    return bx * pitch + wx * wheel, bz * pitch + wz * wheel


def carried_bias(at: UnicyclePose, part: PlanarPart, a: tuple[Any, Any, Any]) -> Numbers:
    """Return what the mass of a part asks for that accelerates by `a`, in roll axes [5]."""
    x, height, across, forward = columns(at, part)
    (bx, bz), wz = part.by_pitch, part.by_wheel[1]
    m = part.mass
    return (
        m * (across * a[0] + x * (at.cos_roll * a[1] - at.sin_roll * a[2])),
        m * (part.y * a[2] - height * a[1]),
        m * (bx * a[0] + bz * a[2]),
        m * (forward * a[0] + wz * a[2]),
        0.0,
    )


class Tensor(NamedTuple):
    """Inertia about the roll axes x and z, and its product; about y it is the part's own."""

    x: Any
    z: Any
    xz: Any


def tensor(part: PlanarPart) -> Tensor:
    """Return the inertia of a part in roll axes: its own, turned by its pitch."""
    sine, cosine, own = part.sine, part.cosine, part.inertia
    ss, cc = sine * sine, cosine * cosine
    return Tensor(cc * own.x + ss * own.z, ss * own.x + cc * own.z, (own.z - own.x) * (sine * cosine))


def turning_inertia(at: UnicyclePose, part: PlanarPart) -> dict[tuple[int, int], Any]:
    """What the turning of a part gives to M: angular velocity (gamma', alpha' sin g + phi', alpha' cos g)."""
    moments, own = tensor(part), part.inertia.y
    sine, cosine, (by_pitch, by_wheel) = at.sin_roll, at.cos_roll, part.turn_by
    return {
        (YAW, YAW): cosine * cosine * moments.z + sine * sine * own,
        (YAW, ROLL): cosine * moments.xz,
        (YAW, PITCH): sine * (own * by_pitch),
        (YAW, WHEEL): sine * (own * by_wheel),
        (ROLL, ROLL): moments.x,
        (PITCH, PITCH): own * by_pitch * by_pitch,
        (PITCH, WHEEL): own * by_pitch * by_wheel,
        (WHEEL, WHEEL): own * by_wheel * by_wheel,
    }


def turning_bias(at: UnicyclePose, part: PlanarPart, moments: Tensor) -> tuple[Any, Any, Any]:
    """What the turning of a part demands at rates that stay, about roll axes: dL/dt + omega x L, the axes' omega."""
    own, yaw, roll = part.inertia.y, at.rates[YAW], at.rates[ROLL]
    up, about = yaw * at.cos_roll, yaw * at.sin_roll
    down = -(about * roll)
    first = moments.x * roll + moments.xz * up
    second = own * (about + part.turn)
    third = moments.xz * roll + moments.z * up
    swing, stretch = 2.0 * moments.xz * part.turn, (moments.z - moments.x) * part.turn
    along = swing * roll + stretch * up + moments.xz * down + about * third - up * second
    across = own * (roll * up + part.turn_bias) + up * first - roll * third
    upward = stretch * roll - swing * up + moments.z * down + roll * second - about * first
    return along, across, upward


def turning_moments(at: UnicyclePose, part: PlanarPart) -> Numbers:
    """What the turning of a part demands at rates that stay [5]."""
    along, across, upward = turning_bias(at, part, tensor(part))
    by_pitch, by_wheel = part.turn_by
    return at.sin_roll * across + at.cos_roll * upward, along, by_pitch * across, by_wheel * across, 0.0


class Table(NamedTuple):
    """The turntable's inertia in body axes, and what its columns of angular velocity are there."""

    x: Any
    y: Any
    xy: Any
    yaw: tuple[Any, Any, Any]
    roll: tuple[Any, Any]


def _table(at: UnicyclePose) -> Table:
    sine, cosine, own = at.sin_table, at.cos_table, at.robot.IT
    ss, cc = sine * sine, cosine * cosine
    yaw = (-(at.sin_pitch * at.cos_roll), at.sin_roll, at.cos_pitch * at.cos_roll)
    return Table(
        cc * own.x + ss * own.y, ss * own.x + cc * own.y, (own.x - own.y) * (sine * cosine), yaw,
        (at.cos_pitch, at.sin_pitch),
    )  # fmt: skip


def table_inertia(at: UnicyclePose) -> dict[tuple[int, int], Any]:
    """What the turning of the turntable gives to M."""
    table, axis = _table(at), at.robot.IT.z
    (a, b, c), (rx, rz) = table.yaw, table.roll
    x, y = table.x * a + table.xy * b, table.xy * a + table.y * b
    return {
        (YAW, YAW): x * a + y * b + axis * c * c,
        (YAW, ROLL): x * rx + axis * c * rz,
        (YAW, PITCH): y,
        (YAW, TABLE): axis * c,
        (ROLL, ROLL): table.x * rx * rx + axis * rz * rz,
        (ROLL, PITCH): table.xy * rx,
        (ROLL, TABLE): axis * rz,
        (PITCH, PITCH): table.y,
        (TABLE, TABLE): axis,
    }


def table_moments(at: UnicyclePose) -> Numbers:
    """What the turning of the turntable demands at rates that stay [5]; its inertia turns with eta."""
    table, axis, spin = _table(at), at.robot.IT.z, at.rates[TABLE]
    yaw, roll, pitch = at.rates[YAW], at.rates[ROLL], at.rates[PITCH]
    (ya, yb, yc), (rx, rz) = table.yaw, table.roll
    a, b, c = ya * yaw + rx * roll, yb * yaw + pitch, yc * yaw + rz * roll
    down = -(yaw * at.sin_roll * roll)
    a_rate, b_rate, c_rate = -(pitch * c) - rz * down, roll * yaw * at.cos_roll, pitch * a + rx * down
    first, second, third = table.x * a + table.xy * b, table.xy * a + table.y * b, axis * (c + spin)
    apart = table.x - table.y
    along = table.x * a_rate + table.xy * b_rate + spin * (apart * b - 2.0 * table.xy * a) + b * third - c * second
    across = table.xy * a_rate + table.y * b_rate + spin * (apart * a + 2.0 * table.xy * b) + c * first - a * third
    upward = axis * c_rate + a * second - b * first
    return ya * along + yb * across + yc * upward, rx * along + rz * upward, across, 0.0, upward


VELOCITIES = ("alpha_rate", "gamma_rate", "beta_rate", "theta_w_rate", "eta_rate")
"""Order of the equations."""
N = 5


def kinematics(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of the five angles [rad/s] and of the contact point [m/s]."""
    speed = p[1] * x[5 + WHEEL]
    return (*x[5:10], speed * cos(x[YAW]), speed * sin(x[YAW]))


def mass_matrix(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[Numbers, ...]:
    """Inertia [5][5]."""
    return inertia(pose(x, p))


def inertia(at: UnicyclePose) -> tuple[Numbers, ...]:
    """Inertia [5][5] at a pose."""
    upper: dict[tuple[int, int], Any] = {}
    for part in at.parts:
        _add(upper, carried_inertia(at, part))
        if part is not at.parts[-1]:
            _add(upper, turning_inertia(at, part))
    _add(upper, table_inertia(at))
    return tuple(tuple(upper.get((min(i, j), max(i, j)), 0.0) for j in range(N)) for i in range(N))


def _add(upper: dict[tuple[int, int], Any], more: dict[tuple[int, int], Any]) -> None:
    for place, value in more.items():
        upper[place] = upper[place] + value if place in upper else value


def force(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """All that carries no acceleration [5]: moments about the five axes [N m]."""
    at = pose(x, p)
    demanded = bias(at, ground(at, w[4:]))
    given = zip(motors(at, u), friction(at), push(at, w), unheld(at), demanded, strict=True)
    return tuple(a + b + c + d - e for a, b, c, d, e in given)


def ground(at: UnicyclePose, slope: Numbers = (0.0, 0.0)) -> tuple[Any, Any, Any]:
    """Return what stands for gravity on a slope: an acceleration of the frame, in roll axes [m/s^2].

    The slope rises forward by `slope[0]` and to the left by `slope[1]`; to first order, as in the specification.
    """
    g, sx, sy = at.robot.g, slope[0], slope[1]
    return g * sx, g * (at.sin_roll + at.cos_roll * sy), g * (at.cos_roll - at.sin_roll * sy)


def bias(at: UnicyclePose, frame: tuple[Any, Any, Any]) -> Numbers:
    """Return what the present rates and the frame's acceleration demand [5]."""
    total: list[Any] = [0.0] * N
    for part in at.parts:
        carried = carried_bias(at, part, steady_acceleration(at, part, frame))
        turning = (0.0,) * N if part is at.parts[-1] else turning_moments(at, part)
        total = [a + b + c for a, b, c in zip(total, carried, turning, strict=True)]
    return tuple(a + b for a, b in zip(total, table_moments(at), strict=True))


def acceleration_of(at: UnicyclePose, part: PlanarPart, a: Numbers, slope: Numbers) -> tuple[Any, Any, Any]:
    """Return the acceleration of a mass centre in roll axes, less gravity, where the velocities change by `a` [5]."""
    x, height, across, forward = columns(at, part)
    (bx, bz), wz = part.by_pitch, part.by_wheel[1]
    ahead, left, upward = steady_acceleration(at, part, ground(at, slope))
    return (
        ahead + across * a[YAW] + bx * a[PITCH] + forward * a[WHEEL],
        left + at.cos_roll * x * a[YAW] - height * a[ROLL],
        upward - at.sin_roll * x * a[YAW] + part.y * a[ROLL] + bz * a[PITCH] + wz * a[WHEEL],
    )


def unheld(at: UnicyclePose) -> Numbers:
    """Return the terms that the source leaves out, as far as `nh` is not 1 [5].

    It puts the rolling condition into the kinetic energy before it differentiates. What is lost by that does no work:
    (1 - nh) Rw (theta_w', 0, 0, -alpha', 0) times the sideways momentum.
    """
    lost = (1.0 - at.robot.nh) * at.robot.Rw * momentum(at)[1]
    return lost * at.rates[WHEEL], 0.0, 0.0, -(lost * at.rates[YAW]), 0.0


def momentum(at: UnicyclePose) -> tuple[Any, Any]:
    """Horizontal momentum forward and to the left [kg m/s]."""
    yaw, roll, _, wheel, _ = at.rates
    ahead: Any = 0.0
    left: Any = 0.0
    for part in at.parts:
        x, height, across, _ = columns(at, part)
        along, upward = rate_of(at, part)
        ahead = ahead + part.mass * (at.robot.Rw * wheel + yaw * across + along)
        lifted = at.cos_roll * (-(roll * height)) - at.sin_roll * (roll * part.y + upward)
        left = left + part.mass * (yaw * x + lifted)
    return ahead, left


def motors(at: UnicyclePose, u: Numbers) -> Numbers:
    """Return what the pedal and turntable motors give [5]: tau1 on theta_3, -tau2 on theta_4, tau3 on eta."""
    right, left = at.joint_by[2:]
    return 0.0, 0.0, u[0] * right[0] - u[1] * left[0], u[0] * right[1] - u[1] * left[1], u[2]


def friction(at: UnicyclePose) -> Numbers:
    """Return what friction gives [5]."""
    robot, rates = at.robot, at.rates
    bearing = 2.0 * robot.Dg * (rates[PITCH] - rates[WHEEL])
    by_pitch: Any = -bearing
    by_wheel: Any = bearing - robot.Droll * rates[WHEEL]
    for damping, slopes, rate in zip(robot.D, at.joint_by, at.joint_rates, strict=True):
        by_pitch = by_pitch - damping * rate * slopes[0]
        by_wheel = by_wheel - damping * rate * slopes[1]
    return -(robot.Dcor * rates[YAW]), 0.0, by_pitch, by_wheel, -(2.0 * robot.DTt * rates[TABLE])


def push(at: UnicyclePose, w: Numbers) -> Numbers:
    """Return what a push on the body's axis gives [5]; forward, left and up in axes that yaw, `w[3]` above the axle."""
    ahead, left, up, place = w[:4]
    sine, cosine = at.sin_roll, at.cos_roll
    x, z = place * at.sin_pitch, place * at.cos_pitch
    height = at.robot.Rw + z
    across, along = cosine * left + sine * up, cosine * up - sine * left
    turning = sine * height * ahead + x * (cosine * across - sine * along)
    return turning, -(height * across), z * ahead - x * along, at.robot.Rw * ahead, 0.0


_ANGLES = 64  # of the wheel, over a turn: the legs' shares are smooth and periodic, so their mean is right to rounding
_WIDEST = 0.5  # rad


def trim(parameters: Mapping[str, float] | Sequence[float] | None = None) -> float:
    """Return the pitch [rad] at which all weights stand above the contact point, on average over a turn of the wheel.

    Raises
    ------
    ValueError
        For unknown parameters, or where it does not balance within half a radian.
    """
    return _trim(tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters)))


@lru_cache(maxsize=64)
def _trim(p: tuple[float, ...]) -> float:
    from scipy.optimize import brentq

    def forward(pitch: float) -> float:
        """Mean moment of all masses about the axle [kg m]."""
        turns = (2.0 * pi * k / _ANGLES for k in range(_ANGLES))
        poses = (pose((0.0, 0.0, pitch, turn, *(0.0,) * 8), p) for turn in turns)
        return sum(part.mass * part.place[0] for at in poses for part in at.parts) / _ANGLES

    if forward(-_WIDEST) * forward(_WIDEST) >= 0.0:
        raise ValueError(f"the unicycle does not balance at any pitch within {_WIDEST} rad; check masses and places")
    return float(brentq(forward, -_WIDEST, _WIDEST, xtol=1e-15))


BETA0 = -0.017116331871972545
"""Of the nominal unicycle [rad]; written down, so that importing plants does not load a solver."""
