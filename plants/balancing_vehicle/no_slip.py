"""The vehicle in ideal rolling: three velocities, wheels that neither slip nor leave the ground, for comparison.

Source: K. Pathak, J. Franch, S. K. Agrawal, Velocity and position control of a wheeled inverted pendulum by partial
feedback linearization, IEEE Trans. Robotics 21 (2005) 505-513; S. Kim, S. Kwon, Dynamic modeling of a two-wheeled
inverted pendulum balancing mobile robot, Int. J. Control, Automation and Systems 13 (2015) 926-933.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plants.balancing_vehicle.energy import limited
from plants.balancing_vehicle.model import BALANCING_VEHICLE, CHANNELS, FALLEN
from plants.balancing_vehicle.parameters import GRAVITY, PARAMETERS
from plants.balancing_vehicle.tasks import HORIZON, pushed
from plants.core.elementary import cos, sin
from plants.core.linear_solve import solve_symmetric
from plants.core.plant import Plant
from plants.core.quantities import ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register

_USED = (
    "m_p",
    "m_w",
    "r",
    "b",
    "l",
    "I_px",
    "I_py",
    "I_pz",
    "I_a",
    "I_d",
    "c_b",
    "tau_max",
    "no_load_speed",
    "push_height",
)
_PARAMETERS = tuple(q for name in _USED for q in PARAMETERS if q.name == name)


class _MotorLimits:
    """What the motors' limit reads."""

    def __init__(self, p: Any) -> None:
        *_, self.tau_max, self.no_load_speed, _push_height = p


def spins(x: Any, p: Any) -> tuple[Any, Any]:
    """Turning of the left and the right wheel against the platform [rad/s]."""
    _, _, radius, track, *_ = p
    _, _, _, _, v, pitching, yawing = x
    half = 0.5 * track * yawing
    return (v - half) / radius - pitching, (v + half) / radius - pitching


def accelerations(x: Any, u: Any, w: Any, p: Any) -> tuple[Any, Any, Any]:
    """v', theta'', psi''."""
    body, wheel, radius, track, high, i_x, i_y, i_z, i_a, i_d, bearing, _, _, above = p
    _, _, _, theta, v, pitching, yawing = x
    (push,) = w
    c, s = cos(theta), sin(theta)
    left, right = (torque - bearing * spin for torque, spin in zip(u, spins(x, p), strict=True))
    moment = body * high
    more = moment * high + i_x - i_z
    coupling = moment * c
    matrix = ((body + 2.0 * wheel + 2.0 * i_a / (radius * radius), coupling), (coupling, i_y + moment * high))
    force = moment * s * (pitching * pitching + yawing * yawing) + (left + right) / radius + push
    tilting = more * s * c * yawing * yawing + moment * GRAVITY * s - (left + right) + push * above * c
    ahead, pitch = solve_symmetric(matrix, (force, tilting))
    inertia = (i_x + moment * high) * s * s + i_z * c * c + 2.0 * i_d
    inertia = inertia + 0.5 * track * track * (wheel + i_a / (radius * radius))
    turning = (
        -2.0 * more * s * c * pitching * yawing - moment * s * yawing * v + track / (2.0 * radius) * (right - left)
    )
    return ahead, pitch, turning / inertia


def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Rates of x, y, psi, theta, v, theta', psi'."""
    _, _, psi, _, v, pitching, yawing = x
    return v * cos(psi), v * sin(psi), yawing, pitching, *accelerations(x, u, w, p)


def friction_demand(x: Any, u: Any, w: Any, p: Any) -> tuple[Any, Any]:
    """Longitudinal force and load of both wheels together that rolling needs [N], going straight.

    Slip is due where the first exceeds mu_s times the second.
    """
    body, wheel, _, _, high, *_ = p
    _, _, _, theta, _, pitching, _ = x
    (push,) = w
    ahead, pitch, _ = accelerations(x, u, w, p)
    total, moment = body + 2.0 * wheel, body * high
    c, s, square = cos(theta), sin(theta), pitching * pitching
    force = total * ahead + moment * (c * pitch - s * square) - push
    return force, total * GRAVITY - moment * (s * pitch + c * square)


def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Pitch, its rate, speed, yaw rate, and the friction that rolling needs."""
    _, _, _, theta, v, pitching, yawing = x
    return theta, pitching, v, yawing, *friction_demand(x, u, w, p)


def energy(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Stored energy [J], 0 of height at the axle."""
    body, wheel, radius, track, high, i_x, i_y, i_z, i_a, i_d, *_ = p
    _, _, _, theta, v, pitching, yawing = x
    c, s = cos(theta), sin(theta)
    moment, rim = body * high, i_a / (radius * radius)
    turning = (i_x + moment * high) * s * s + i_z * c * c + 2.0 * i_d + 0.5 * track * track * (wheel + rim)
    moving = (body + 2.0 * wheel + 2.0 * rim) * v * v + 2.0 * moment * c * v * pitching
    moving = moving + (i_y + moment * high) * pitching * pitching + turning * yawing * yawing
    return 0.5 * moving + moment * GRAVITY * c


def supplied_power(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Power of motors and push [W]."""
    _, _, _, theta, v, pitching, _ = x
    (left_torque, right_torque), (push,), push_height = u, w, p[-1]
    left, right = spins(x, p)
    return left_torque * left + right_torque * right + push * (v + push_height * cos(theta) * pitching)


def entropy_rate(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Entropy production rate times T0 [W]: the bearings'."""
    left, right = spins(x, p)
    bearing = p[10]
    return bearing * (left * left + right * right)


def allocate(t: Any, x: Any, commands: Any, p: Any) -> tuple[Any, Any]:
    """Torques from commands, as of the vehicle with slip."""
    pitch, speed, yaw = commands
    together, limits = -(pitch + speed), _MotorLimits(p)
    left, right = spins(x, p)
    return limited(0.5 * (together - yaw), left, limits), limited(0.5 * (together + yaw), right, limits)  # type: ignore[arg-type]


def _case(name: str, speed: float, turn: float, seed: int, *, pitch: float = 0.0, **more: Any) -> dict[str, Any]:
    """A situation from rest with commanded speed [m/s] and yaw rate [rad/s], the pitch [rad] away from upright."""
    return {
        "name": name,
        "reference": {"pitch": 0.0, "speed": speed, "yaw_rate": turn},
        "initial": {"theta": pitch},
        "seed": seed,
        "t_end": HORIZON,
        **more,
    }


_SITUATIONS = {
    "taught": [
        _case("upright again", 0.0, 0.0, 1, pitch=0.1),
        _case("drive", 0.8, 0.0, 2),
        _case("drive a curve", 0.5, 0.5, 3),
        _case("back, turning right", -0.5, -0.4, 4, pitch=-0.05),
    ],
    "validation": [
        _case("drive slowly", 0.4, -0.3, 6, pitch=0.05),
        _case("pushed", 0.5, 0.0, 7, excitation={"push": pushed(60.0, 2.0)}),
    ],
    "unforeseen": [
        _case("fast", 2.0, 0.0, 11),
        _case("hard turn", 1.0, 1.5, 12),
        _case("great tilt", 0.0, 0.0, 13, pitch=0.4),
        _case("heavy", 0.6, 0.2, 14, parameters={"m_p": 13.0, "l": 0.25}),
        _case("delay", 0.6, 0.3, 15, delay=0.01),
    ],
}
_RANGES = OperatingRanges(  # loads that also move the centre of mass, bearings
    parameters={"m_p": (9.0, 13.0), "l": (0.18, 0.25), "c_b": (0.007, 0.013)},
    initial={"theta": (-0.1, 0.1)},
    reference={"speed": (-0.5, 1.0), "yaw_rate": (-0.4, 0.5)},
    noise={"pitch": (0.0, 3e-3), "speed": (0.0, 0.015), "yaw_rate": (0.0, 0.015)},
    delay=(0.0, 5e-3),
    excitations_of=("drive", "pushed"),
)

BALANCING_VEHICLE_NO_SLIP = register(
    Plant(
        name="balancing_vehicle_no_slip",
        step=0.001,
        states=(
            Quantity("x", "m", 0.0, -1e3, 1e3, "of the axle's middle"),
            Quantity("y", "m", 0.0, -1e3, 1e3, "to the left"),
            Quantity("psi", "rad", 0.0, -1e3, 1e3, "yaw, positive to the left"),
            Quantity("theta", "rad", 0.0, -FALLEN, FALLEN, "pitch, positive where it leans forward"),
            Quantity("v", "m/s", 0.0, -50.0, 50.0, "speed along the heading"),
            Quantity("theta_rate", "rad/s", 0.0, -100.0, 100.0),
            Quantity("psi_rate", "rad/s", 0.0, -100.0, 100.0),
        ),
        parameters=_PARAMETERS,
        inputs=BALANCING_VEHICLE.inputs,
        disturbances=(Quantity("push", "N", 20.0, text="along the heading, at the push height"),),
        measurements=(
            *(Quantity(name, unit) for name, unit in (
                ("pitch", "rad"), ("pitch_rate", "rad/s"), ("speed", "m/s"), ("yaw_rate", "rad/s"),
            )),
            Quantity("needed_friction", "N", text="longitudinal force of both wheels that rolling needs"),
            Quantity("load", "N", text="normal force of both wheels"),
        ),
        channels=(*CHANNELS[:2], replace(CHANNELS[2], gains_high=(16.0, 120.0, 0.0))),  # grip without end
        derivative=derivative,
        outputs=outputs,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        task=ControlTask(
            operating_points=(OperatingPoint("upright", (0.0,) * 7),), situations=_SITUATIONS, ranges=_RANGES
        ),
        text="Platform on two driven wheels in ideal rolling; Pathak et al. (2005), Kim, Kwon (2015).",
    )
)  # fmt: skip
