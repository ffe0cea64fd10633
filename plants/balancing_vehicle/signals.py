"""What is measured, reported and judged, and how commands become torques.

The cascade of the source, T = kp (theta - theta_ref) + kd theta' with theta_ref from the speed loop, is two parallel
channels: with kp theta_ref as the speed channel's command, T = -(pitch command + speed command). Its limit is the
lean that it may ask for times kp. Yaw commands the difference of the torques.

Measures of the vehicle's own: how far wheels slid, how long they were in the air, what impacts cost. Errors against
what was asked for are those of the true speed, whatever the encoders tell.
"""

from __future__ import annotations

from typing import Any

from plants.balancing_vehicle.energy import bristle_energy, ground_power, limited, losses, motor_power, push_power
from plants.balancing_vehicle.motion import SPIN, Grip, accelerations, grip
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.wheels import Dynamics, dynamics
from plants.core.elementary import abs as absolute
from plants.core.elementary import cos, maximum, minimum, sin, where
from plants.core.measures import Measure
from plants.core.quantities import Quantity
from plants.friction.lugre import magnitude

SEEN_TURN, SEEN_GROWTH = 0.5, 2.0  # rad/s, m/s^2: of which half is seen; rolling gives less than a tenth
MEASUREMENTS = (
    Quantity("pitch", "rad", text="theta, positive where it leans forward"),
    Quantity("pitch_rate", "rad/s"),
    Quantity("speed", "m/s", text="the speed that is controlled: true, or from the encoders (parameter encoder)"),
    Quantity("yaw_rate", "rad/s", text="positive to the left"),
    Quantity("yaw", "rad"),
    Quantity("roll", "rad", text="positive where the left wheel is higher"),
    Quantity("true_speed", "m/s", text="of the axle's middle along the heading"),
    Quantity(
        "encoder_speed", "m/s", text="r times the mean turning of the wheels: what the vehicle would do in rolling"
    ),
    Quantity("axle_x", "m", text="middle of the axle"),
    Quantity("axle_y", "m"),
    Quantity("slip_turn", "rad/s", text="yaw rate by the encoders less the gyro's: one wheel slips more"),
    Quantity(
        "slip_growth",
        "m/s^2",
        text="acceleration by the encoders less the axle's by an accelerometer: both wheels' slip",
    ),
    Quantity(
        "slip_seen", "1", low=0.0, high=1.0, text="0 in rolling, near 1 where encoders and inertial sensors disagree"
    ),
    *(Quantity(f"slip_t_{n}", "m/s", text="slip along the heading, below 0 where the wheel spins") for n in "LR"),
    *(Quantity(f"slip_s_{n}", "m/s", text="slip to the left") for n in "LR"),
    *(Quantity(f"f_n_{n}", "N", text="normal force; depends on the torques at once") for n in "LR"),
    *(Quantity(f"F_t_{n}", "N", text="friction force along the heading") for n in "LR"),
    *(Quantity(f"F_s_{n}", "N", text="friction force to the left") for n in "LR"),
    *(Quantity(f"gap_{n}", "m", text="between wheel and ground") for n in "LR"),
    Quantity("heat_sliding", "W", text="of sliding bristles"),
    Quantity("heat_bristle", "W", text="of bristle damping"),
    Quantity("heat_viscous", "W", text="of viscous friction at the wheels"),
    Quantity("heat_joints", "W", text="of the bearings"),
    Quantity("motor_power", "W"),
    Quantity("push_power", "W"),
    Quantity("contact_power", "W", text="of normal forces: below 0 in an impact, above 0 in its rebound"),
    Quantity("bristle_energy", "J"),
)


def true_speed(x: Any, p: VehicleParameters) -> Any:
    """Speed of the axle's middle along the heading [m/s], for phi = 0."""
    _x, _y, _z, psi, _phi, theta, _a_left, _a_right, x_rate, y_rate, _z_rate, _psi_rate, _phi_rate, theta_rate, *_ = x
    return x_rate * cos(psi) + y_rate * sin(psi) - p.l * cos(theta) * theta_rate


def encoder_speed(x: Any, p: VehicleParameters) -> Any:
    """Speed of ideal rolling with the wheels' turning [m/s]."""
    left, right = x[SPIN]
    return p.r * (x[13] + 0.5 * (left + right))


def slip_turn(x: Any, p: VehicleParameters) -> Any:
    """Yaw rate of ideal rolling with the wheels' turning less the true one [rad/s]: encoders against the gyro."""
    left, right = x[SPIN]
    return p.r * (right - left) / p.b - x[11]


def slip_growth(now: Dynamics, acting: Grip, x: Any, p: VehicleParameters) -> Any:
    """Growth of the mean slip speed [m/s^2], above 0 where the wheels gain: encoders against an accelerometer."""
    ahead, _, _, _, _, pitching, *spins = accelerations(now, acting.loads, acting.friction)
    axle = ahead - p.l * (cos(x[5]) * pitching - sin(x[5]) * (x[13] * x[13] + x[11] * x[11]))
    return p.r * (pitching + 0.5 * (spins[0] + spins[1])) - axle


def slip_seen(turn: Any, growth: Any) -> Any:
    """Return how surely a wheel slips, 0 to 1, from what encoders and inertial sensors disagree by."""
    square = (turn / SEEN_TURN) * (turn / SEEN_TURN) + (growth / SEEN_GROWTH) * (growth / SEEN_GROWTH)
    return square / (1.0 + square)


def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Everything of `MEASUREMENTS`."""
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    acting = grip(now, x, named)
    forces = [[-load * pair[k] for load, pair in zip(acting.loads, acting.friction, strict=True)] for k in range(2)]
    behind = named.l * sin(x[5])
    turn, growth = slip_turn(x, named), slip_growth(now, acting, x, named)
    true, measured = true_speed(x, named), encoder_speed(x, named)
    return (
        x[5], x[13], true + named.encoder * (measured - true), x[11], x[3], x[4], true, measured,
        x[0] - behind * cos(x[3]), x[1] - behind * sin(x[3]),
        turn, growth, slip_seen(turn, growth),
        *now.speeds[2:], *acting.loads, *forces[0], *forces[1], *(touch.gap for touch in now.touches),
        *losses(now, acting, x, named), motor_power(x, u), push_power(now, w, named),
        ground_power(now, acting, x, named)[0], bristle_energy(now, acting, x, named),
    )  # fmt: skip


def allocate(t: Any, x: Any, commands: Any, p: Any) -> tuple[Any, Any]:
    """Torques of the left and the right motor [N m] from pitch, speed and yaw commands [N m], within their limits."""
    named = VehicleParameters(*p)
    pitch, speed, yaw = commands
    together = -(pitch + speed)
    left, right = x[SPIN]
    return limited(0.5 * (together - yaw), left, named), limited(0.5 * (together + yaw), right, named)


TINY = 1e-12  # of a measure: none is ever 0
FULL_GRIP = 0.9  # friction scale below which ground is slippery
SCALES = (0.1, 0.5, 0.5)  # of the errors of pitch [rad], speed [m/s] and yaw rate [rad/s]: those of the channels


def _slid(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    acting = grip(now, x, named)
    path = m[0]
    for wheel, load in enumerate(acting.loads):
        path = path + where(load, h * magnitude(now.slip(wheel)), 0.0)
    return (path,)


def _in_air(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = VehicleParameters(*p)
    total = m[0]
    for load in grip(dynamics(x, u, w, named), x, named).loads:
        total = total + where(load, 0.0, h)
    return (total,)


def _hit(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    return (m[0] - h * ground_power(now, grip(now, x, named), x, named)[0],)


def _leant(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    return (m[0] + h * x[5] * x[5],)


def _off_speed(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float, r: Any) -> tuple[Any]:
    return (m[0] + h * absolute(r[1] - true_speed(x, VehicleParameters(*p))),)


def _off_dry(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float, r: Any) -> tuple[Any, Any]:
    named = VehicleParameters(*p)
    left, right = dynamics(x, u, w, named).touches
    met = maximum(m[1], where(FULL_GRIP - minimum(left.scale, right.scale), 1.0, 0.0))
    errors = zip(r, (x[5], true_speed(x, named), x[11]), SCALES, strict=True)
    size = sum(absolute(asked - found) / scale for asked, found, scale in errors)
    return m[0] + h * where(met, 0.0, size), met


MEASURES = (
    Measure(
        "slip_distance",
        "m",
        _slid,
        lambda m, _: m[0] + TINY,
        "path over which the wheels slid on the ground, both added",
    ),
    Measure("time_in_air", "s", _in_air, lambda m, _: m[0] + TINY, "time in which wheels carried nothing, both added"),
    Measure(
        "impact_loss", "J", _hit, lambda m, _: m[0], "energy that normal forces took in impacts", less_is_better=None
    ),
    Measure(
        "lean", "rad", _leant, lambda m, time: (m[0] / time) ** 0.5, "root mean square of the pitch angle", scale=0.1
    ),
    Measure(
        "speed_error", "m", _off_speed, lambda m, _: m[0] + TINY, "integral of the true speed's error", references=True
    ),
    Measure(
        "dry_error",
        "s",
        _off_dry,
        lambda m, _: m[0] + TINY,
        "integral of the errors of pitch, true speed and yaw rate until a wheel first meets slippery ground",
        states=("error", "met"),
        memory=("met",),
        references=True,
    ),
)
