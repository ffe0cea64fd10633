"""What the masses of the parts give to the equations of motion.

J is the velocity of a mass centre in roll axes by the five velocities:

    by alpha' (A, X cos g, -X sin g), by gamma' (0, -H, y), by beta' (X_b, 0, Z_b), by theta_w' (Rw + X_w, 0, Z_w)

with g the roll, H = Rw + Z the height in the wheel's plane and A = H sin g - y cos g. A mass gives J' m J to M and
J' m b to what the present rates demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.unicycle.pose import PITCH, ROLL, WHEEL, YAW

if TYPE_CHECKING:
    from plants.unicycle.pose import Numbers, Part, Pose


def carried_inertia(at: Pose, part: Part) -> dict[tuple[int, int], Any]:
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


def columns(at: Pose, part: Part) -> tuple[Any, Any, Any, Any]:
    """Return X, H, A, and Rw + X_w [m]."""
    height = at.robot.Rw + part.place[1]
    return part.place[0], height, at.sin_roll * height - at.cos_roll * part.y, at.robot.Rw + part.by_wheel[0]


def steady_acceleration(at: Pose, part: Part, frame: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
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


def rate_of(at: Pose, part: Part) -> tuple[Any, Any]:
    """Return the rates of X and Z [m/s]."""
    pitch, wheel = at.rates[PITCH], at.rates[WHEEL]
    (bx, bz), (wx, wz) = part.by_pitch, part.by_wheel
    return bx * pitch + wx * wheel, bz * pitch + wz * wheel


def carried_bias(at: Pose, part: Part, a: tuple[Any, Any, Any]) -> Numbers:
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
