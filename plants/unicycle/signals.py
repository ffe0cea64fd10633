"""What is measured, reported and judged, and how commands become torques.

Sensors: pitch and roll with their rates, yaw with its rate, speed of the wheel, rate of the turntable. Reported: the
contact's path, the legs' angles, the forces that close them, and energies.

Measures are those of the motors: what they heat by, how much they travel, how long they are at a limit. The built-in
measures count commands, which are several for one motor where several channels steer; these count torques. Of the
pedals' motors, whose torques are equal and opposite, one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import atan2, clip, quotient, where
from plants.core.linear_solve import solve_symmetric
from plants.core.measures import Measure
from plants.core.quantities import Quantity
from plants.unicycle.energy import kinetic, potential
from plants.unicycle.geometry import PITCH, ROLL, TABLE, WHEEL, YAW, pose
from plants.unicycle.motion import acceleration_of, force, inertia, tensor, turning_bias

if TYPE_CHECKING:
    from plants.unicycle.geometry import Leg, Numbers, UnicyclePose


PEDAL_MAX = 12.5
"""N m, of either pedal motor: both give the wheel about twice that, and 17 kg on rubber (friction 1) slip at 25 N m."""
TABLE_MAX = 12.0
"""N m, of the turntable's motor: twice what the nominal upset asks for."""
_AT_LIMIT = 1.0 - 1e-9
_NEVER_0 = 1e-12  # of a measure that may be a limit's unit


def _squares(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    return (m[0] + h * (u[0] * u[0] + u[2] * u[2]),)


def _relative(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, Any]:
    pedal, table = u[0] / PEDAL_MAX, u[2] / TABLE_MAX
    return m[0] + h * pedal * pedal, m[1] + h * table * table


def _travelled(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, Any, Any]:
    return m[0] + magnitude(u[0] - m[1]) + magnitude(u[2] - m[2]), u[0], u[2]


def _held_up(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    pedal = where(magnitude(u[0]) - _AT_LIMIT * PEDAL_MAX, 1.0, 0.0)
    return (m[0] + h * where(magnitude(u[2]) - _AT_LIMIT * TABLE_MAX, 1.0, pedal),)


MEASURES = (
    Measure("motor_effort", "(N m)^2 s", _squares, lambda m, _: m[0] + _NEVER_0,
            "integral of squared torques, pedal and turntable", scale=100.0),
    Measure("motor_travel", "N m", _travelled, lambda m, _: m[0] + _NEVER_0, "total variation of the torques",
            ("travel", "pedal", "table"), memory=("pedal", "table"), scale=1000.0),
    Measure("motor_limit_time", "s", _held_up, lambda m, _: m[0] + _NEVER_0, "time with a motor at its limit"),
    Measure("motor_load", "1", _relative, lambda m, time: np.sqrt(np.maximum(m[0], m[1]) / time) + _NEVER_0,
            "root mean square of the more loaded motor's torque, as a share of its largest", ("pedal", "table"),
            scale=0.3),
)  # fmt: skip


K5 = 0.02
"""rad s/m: pitch asked for by each m/s that is missing, where speed is held."""
_PI = 3.141592653589793
_JOINTS = ("right hip", "left hip", "right pedal", "left pedal")

MEASUREMENTS = (
    Quantity("pitch", "rad", text="beta, positive forward"),
    Quantity("roll", "rad", text="gamma, positive to the right"),
    Quantity("pitch_rate", "rad/s"),
    Quantity("roll_rate", "rad/s"),
    Quantity("lean", "rad", text=f"pitch + {K5:g} rad s/m times speed: what is held where speed is held"),
    Quantity("yaw", "rad", text="alpha, positive to the left"),
    Quantity("yaw_rate", "rad/s"),
    Quantity("speed", "m/s", text="Rw theta_w'"),
    Quantity("table_rate", "rad/s", text="eta'"),
    Quantity("x_P", "m", text="contact point"),
    Quantity("y_P", "m", text="contact point, positive to the left"),
    *(Quantity(f"theta_{k + 1}", "rad", text=f"{joint}; the pedals' fall by a turn with each turn of the wheel")
      for k, joint in enumerate(_JOINTS)),
    *(Quantity(f"lambda_{k + 1}", "N", text=f"closes the {side} leg {way}; depends on the torques at once")
      for k, (side, way) in enumerate((s, w) for s in ("right", "left") for w in ("along x'", "along z'"))),
    Quantity("kinetic", "J"),
    Quantity("potential", "J", text="of all weights above the ground"),
)  # fmt: skip


def outputs(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Everything of `MEASUREMENTS`."""
    at = pose(x, p)
    speed = at.robot.Rw * x[5 + WHEEL]
    return (
        x[PITCH], x[ROLL], x[5 + PITCH], x[5 + ROLL], x[PITCH] + K5 * speed, x[YAW], x[5 + YAW], speed, x[5 + TABLE],
        x[10], x[11], *joint_angles(at, x), *closing_forces(at, x, u, w, p), kinetic(at), potential(at),
    )  # fmt: skip


def joint_angles(at: UnicyclePose, x: Numbers) -> Numbers:
    """Return theta_1 .. theta_4 [rad]; those of the hips lie in (-pi, pi]."""
    sides, psi = (at.right, at.left), x[WHEEL] + at.robot.psi0
    hips = (_wrapped(atan2(-side.thigh[1], side.thigh[0]) - x[PITCH]) for side in sides)
    return (*hips, *(atan2(side.shank[0], side.shank[1]) - psi for side in sides))


def _wrapped(angle: Any) -> Any:
    below = where(angle - _PI, angle - 2.0 * _PI, angle)
    return where(-_PI - below, below + 2.0 * _PI, below)


def closing_forces(at: UnicyclePose, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return lambda_1 .. lambda_4 [N]: x' and z' force of the right knee, then of the left one.

    Equations of theta_1 and theta_3 of a leg: its thigh about the hip and its shank about the pedal.
    """
    a = solve_symmetric(inertia(at), force(0.0, x, u, w, p))
    torques, frictions = (u[0], -u[1]), [-(d * rate) for d, rate in zip(at.robot.D, at.joint_rates, strict=True)]
    forces: list[Any] = []
    for k, side in enumerate((at.right, at.left)):
        hip = _moment(at, 2 + k, 0.5, side.thigh, a, w) - frictions[k]
        share = quotient(at.robot.dz, at.robot.e4L)
        pedal = _moment(at, 4 + k, share, side.shank, a, w) - frictions[2 + k] - torques[k]
        forces += _knee(side, hip, pedal)
    return tuple(forces)


def _moment(at: UnicyclePose, k: int, share: Any, vector: tuple[Any, Any], a: Numbers, w: Numbers) -> Any:
    """What part `k` demands by its own turning, its mass centre a share along a vector from its joint [N m]."""
    part = at.parts[k]
    ahead, _, upward = acceleration_of(at, part, a, w[4:])
    turned = turning_bias(at, part, tensor(part))[1] + part.inertia.y * (
        at.sin_roll * a[YAW] + part.turn_by[0] * a[PITCH] + part.turn_by[1] * a[WHEEL]
    )
    return part.mass * share * (vector[1] * ahead - vector[0] * upward) + turned


def _knee(side: Leg, hip: Any, pedal: Any) -> tuple[Any, Any]:
    """Force on the thigh's end: thigh_z fx - thigh_x fz = hip, shank_x fz - shank_z fx = pedal."""
    (tx, tz), (sx, sz) = side.thigh, side.shank
    return -((hip * sx + pedal * tx) * side.inverse), -((hip * sz + pedal * tz) * side.inverse)


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Torques [N m] of both pedals, equal and opposite, from the pitch command, and of the turntable from minus roll's.

    So all gains are positive: tau1 = -tau2 = K1 (reference - beta) - K2 beta', tau3 = K3 gamma + K4 gamma'.
    """
    return commands[0], -commands[0], -commands[1]


def allocate_balance(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """As :func:`allocate`, with commands that answer the speed, the yaw rate and the turntable's rate as well.

    Pitch and speed drive, the others steer, each sum within its motor's limits: tau1 = -tau2 = K1 (beta0 - beta)
    - K2 beta' + Kv (v_ref - v), tau3 = K3 gamma + K4 gamma' + Ka alpha' + Ke eta'.
    """
    pitch, roll, speed, yaw, table = commands
    pedal = clip(pitch + speed, -PEDAL_MAX, PEDAL_MAX)
    return pedal, -pedal, clip(-(roll + yaw + table), -TABLE_MAX, TABLE_MAX)
