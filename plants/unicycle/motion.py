"""Equations of motion in minimal coordinates, M(q) v' = f, with the wheel's rolling and both legs' loops built in.

Velocities are alpha', gamma', beta', theta_w', eta'; the rolling wheel adds no rate of its own, since its axle moves
with Rw theta_w'. By virtual power every part gives what its mass (`carried`) and its turning (`spin`) ask for. Gravity
and a ground that is not level are an acceleration of the frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, sin
from plants.unicycle.carried import carried_bias, carried_inertia, columns, rate_of, steady_acceleration
from plants.unicycle.pose import PITCH, ROLL, TABLE, WHEEL, YAW, pose
from plants.unicycle.spin import table_inertia, table_moments, turning_inertia, turning_moments

if TYPE_CHECKING:
    from plants.unicycle.pose import Numbers, Part, Pose

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


def inertia(at: Pose) -> tuple[Numbers, ...]:
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


def ground(at: Pose, slope: Numbers = (0.0, 0.0)) -> tuple[Any, Any, Any]:
    """Return what stands for gravity on a slope: an acceleration of the frame, in roll axes [m/s^2].

    The slope rises forward by `slope[0]` and to the left by `slope[1]`; to first order, as in the specification.
    """
    g, sx, sy = at.robot.g, slope[0], slope[1]
    return g * sx, g * (at.sin_roll + at.cos_roll * sy), g * (at.cos_roll - at.sin_roll * sy)


def bias(at: Pose, frame: tuple[Any, Any, Any]) -> Numbers:
    """Return what the present rates and the frame's acceleration demand [5]."""
    total: list[Any] = [0.0] * N
    for part in at.parts:
        carried = carried_bias(at, part, steady_acceleration(at, part, frame))
        turning = (0.0,) * N if part is at.parts[-1] else turning_moments(at, part)
        total = [a + b + c for a, b, c in zip(total, carried, turning, strict=True)]
    return tuple(a + b for a, b in zip(total, table_moments(at), strict=True))


def acceleration_of(at: Pose, part: Part, a: Numbers, slope: Numbers) -> tuple[Any, Any, Any]:
    """Return the acceleration of a mass centre in roll axes, less gravity, where the velocities change by `a` [5]."""
    x, height, across, forward = columns(at, part)
    (bx, bz), wz = part.by_pitch, part.by_wheel[1]
    ahead, left, upward = steady_acceleration(at, part, ground(at, slope))
    return (
        ahead + across * a[YAW] + bx * a[PITCH] + forward * a[WHEEL],
        left + at.cos_roll * x * a[YAW] - height * a[ROLL],
        upward - at.sin_roll * x * a[YAW] + part.y * a[ROLL] + bz * a[PITCH] + wz * a[WHEEL],
    )


def unheld(at: Pose) -> Numbers:
    """Return the terms that the source leaves out, as far as `nh` is not 1 [5].

    It puts the rolling condition into the kinetic energy before it differentiates. What is lost by that does no work:
    (1 - nh) Rw (theta_w', 0, 0, -alpha', 0) times the sideways momentum.
    """
    lost = (1.0 - at.robot.nh) * at.robot.Rw * momentum(at)[1]
    return lost * at.rates[WHEEL], 0.0, 0.0, -(lost * at.rates[YAW]), 0.0


def momentum(at: Pose) -> tuple[Any, Any]:
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


def motors(at: Pose, u: Numbers) -> Numbers:
    """Return what the pedal and turntable motors give [5]: tau1 on theta_3, -tau2 on theta_4, tau3 on eta."""
    right, left = at.joint_by[2:]
    return 0.0, 0.0, u[0] * right[0] - u[1] * left[0], u[0] * right[1] - u[1] * left[1], u[2]


def friction(at: Pose) -> Numbers:
    """Return what friction gives [5]."""
    robot, rates = at.robot, at.rates
    bearing = 2.0 * robot.Dg * (rates[PITCH] - rates[WHEEL])
    by_pitch: Any = -bearing
    by_wheel: Any = bearing - robot.Droll * rates[WHEEL]
    for damping, slopes, rate in zip(robot.D, at.joint_by, at.joint_rates, strict=True):
        by_pitch = by_pitch - damping * rate * slopes[0]
        by_wheel = by_wheel - damping * rate * slopes[1]
    return -(robot.Dcor * rates[YAW]), 0.0, by_pitch, by_wheel, -(2.0 * robot.DTt * rates[TABLE])


def push(at: Pose, w: Numbers) -> Numbers:
    """Return what a push on the body's axis gives [5]; forward, left and up in axes that yaw, `w[3]` above the axle."""
    ahead, left, up, place = w[:4]
    sine, cosine = at.sin_roll, at.cos_roll
    x, z = place * at.sin_pitch, place * at.cos_pitch
    height = at.robot.Rw + z
    across, along = cosine * left + sine * up, cosine * up - sine * left
    turning = sine * height * ahead + x * (cosine * across - sine * along)
    return turning, -(height * across), z * ahead - x * along, at.robot.Rw * ahead, 0.0
