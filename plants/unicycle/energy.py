"""Energies, powers and entropy production."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.unicycle.geometry import PITCH, ROLL, TABLE, WHEEL, YAW, pose
from plants.unicycle.motion import inertia, momentum

if TYPE_CHECKING:
    from plants.unicycle.geometry import Numbers, UnicyclePose

LOSSES = ("yaw", "bearing", "theta_1", "theta_2", "theta_3", "theta_4", "turntable", "rolling")


def kinetic(at: UnicyclePose) -> Any:
    """Return the kinetic energy [J]."""
    rows = zip(at.rates, inertia(at), strict=True)
    return 0.5 * sum(a * sum((m * b for m, b in zip(row, at.rates, strict=True)), 0.0) for a, row in rows)


def potential(at: UnicyclePose) -> Any:
    """Return the energy of all weights above the ground [J]."""
    lifted: Any = 0.0
    for part in at.parts:
        height = at.robot.Rw + part.place[1]
        lifted = lifted + part.mass * (at.sin_roll * part.y + at.cos_roll * height)
    return at.robot.g * lifted


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J]; on a slope as on level ground."""
    at = pose(x, p)
    return kinetic(at) + potential(at)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of motors, push and slope [W]."""
    at = pose(x, p)
    right, left = at.joint_rates[2:]
    ahead, sideways = momentum(at)
    slope = at.robot.g * (w[4] * ahead + w[5] * sideways)
    return u[0] * right - u[1] * left + u[2] * at.rates[TABLE] + _pushed(at, w) - slope


def _pushed(at: UnicyclePose, w: Numbers) -> Any:
    """Force times the velocity of the point that is pushed, both in axes that yaw [W]."""
    yaw, roll, pitch, wheel, _ = at.rates
    x, z = w[3] * at.sin_pitch, w[3] * at.cos_pitch
    height = at.robot.Rw + z
    ahead = at.robot.Rw * wheel + yaw * at.sin_roll * height + z * pitch
    across, upward = yaw * at.cos_roll * x - roll * height, -(yaw * at.sin_roll * x) - x * pitch
    left, up = at.cos_roll * across - at.sin_roll * upward, at.sin_roll * across + at.cos_roll * upward
    return w[0] * ahead + w[1] * left + w[2] * up


def losses(at: UnicyclePose) -> Numbers:
    """Return the heat of each friction of `LOSSES` [W]."""
    robot, rates = at.robot, at.rates
    turning = rates[PITCH] - rates[WHEEL]
    return (
        robot.Dcor * rates[YAW] * rates[YAW],
        2.0 * robot.Dg * turning * turning,
        *(damping * rate * rate for damping, rate in zip(robot.D, at.joint_rates, strict=True)),
        2.0 * robot.DTt * rates[TABLE] * rates[TABLE],
        robot.Droll * rates[WHEEL] * rates[WHEEL],
    )


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat of all frictions."""
    return sum(losses(pose(x, p)), 0.0)


def controller_entropy_rate(x: Numbers, k2: Any, k4: Any) -> Any:
    """Return the source's entropy production of the controller, K2 beta'^2 + K4 gamma'^2 [W]: no mechanical power."""
    return k2 * x[5 + PITCH] * x[5 + PITCH] + k4 * x[5 + ROLL] * x[5 + ROLL]
