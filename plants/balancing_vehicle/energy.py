"""Energy, power and loss of the vehicle.

The bristles belong to the ground: what bends them is power that the ground takes and gives back. So the energy is that
of the bodies alone, the ground's exchange stands among the supplied powers, and heat is what sliding, bristle damping,
viscosity and bearings make of the rest. The balance closes at every instant, on and off the ground.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plants.balancing_vehicle.bodies import equations, payload_place, pose, wheel_centres
from plants.balancing_vehicle.motion import SPIN, Grip, bristles, grip
from plants.balancing_vehicle.parameters import GRAVITY, VehicleParameters
from plants.balancing_vehicle.wheels import Dynamics, dynamics
from plants.core.elementary import where
from plants.friction.lugre import dot


class Losses(NamedTuple):
    """Heat [W] by sliding bristles, bristle damping, viscous friction at the wheels, and bearings."""

    sliding: Any
    bristle: Any
    viscous: Any
    joints: Any


def energy(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Kinetic and potential energy of the bodies [J], 0 of height at z = 0."""
    named, at = VehicleParameters(*p), pose(x)
    mass, rates = equations(at, u, named).mass, at.rates
    moving = sum(
        (0.5 if i == j else 1.0) * mass[i][j] * rates[i] * rates[j] for i in range(len(rates)) for j in range(i + 1)
    )
    lifted = named.m_p * x[2] + named.payload * (x[2] + payload_place(at, named)[2])
    for d in wheel_centres(at, named):
        lifted = lifted + named.m_w * (x[2] + d[2])
    return moving + GRAVITY * lifted


def motor_power(x: Any, u: Any) -> Any:
    """Power of the motors on the vehicle [W]."""
    return u[0] * x[SPIN][0] + u[1] * x[SPIN][1]


def push_power(now: Dynamics, w: Any, p: VehicleParameters) -> Any:
    """Power of the pushes [W]."""
    above = p.push_height - p.l
    at = now.at
    arm = (above * at.body[2][0], above * at.body[2][1], above * at.body[2][2])
    turning = at.turning
    ahead = at.velocity[0] + turning[1] * arm[2] - turning[2] * arm[1]
    aside = at.velocity[1] + turning[2] * arm[0] - turning[0] * arm[2]
    return w[2] * ahead + w[3] * aside


def ground_power(now: Dynamics, acting: Grip, x: Any, p: VehicleParameters) -> tuple[Any, Any]:
    """Power that the ground gives [W]: by loads on moving gaps, and by bristles that straighten.

    The first is below 0 when a wheel hits and above 0 while it is thrown back; the loss of an impact is what is missing
    in the end.
    """
    pressing, bending = 0.0, 0.0
    for wheel, z in enumerate(bristles(x)):
        pressing = pressing + acting.loads[wheel] * now.speeds[wheel]
        stiffness = p.sigma0 * now.touches[wheel].scale * acting.loads[wheel]
        bending = bending + stiffness * dot(z, acting.bristles[wheel])
    return pressing, -bending


def losses(now: Dynamics, acting: Grip, x: Any, p: VehicleParameters) -> Losses:
    """Return what becomes heat, for T0 in the unit W."""
    total = [0.0, 0.0, 0.0]
    for wheel, z in enumerate(bristles(x)):
        weight = acting.loads[wheel] * now.touches[wheel].scale
        parts = p.friction.losses(now.slip(wheel), z)
        total = [before + weight * part for before, part in zip(total, parts, strict=True)]
    left, right = x[SPIN]
    return Losses(total[0], total[1], total[2], p.c_b * (left * left + right * right))


def bristle_energy(now: Dynamics, acting: Grip, x: Any, p: VehicleParameters) -> Any:
    """Energy of the bent bristles under the present loads [J]."""
    parts = [
        load * touch.scale * p.friction.stored(z)
        for load, touch, z in zip(acting.loads, now.touches, bristles(x), strict=True)
    ]
    return parts[0] + parts[1]


def entropy_rate(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Entropy production rate times T0 [W]: sliding, bristle damping and viscous friction at the wheels, bearings."""
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    parts = losses(now, grip(now, x, named), x, named)
    return parts.sliding + parts.bristle + parts.viscous + parts.joints


def supplied_power(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Power of motors, pushes and ground on the bodies [W]."""
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    pressing, straightening = ground_power(now, grip(now, x, named), x, named)
    return motor_power(x, u) + push_power(now, w, named) + pressing + straightening


def limited(torque: Any, spin: Any, p: VehicleParameters) -> Any:
    """Return what a motor gives of a demanded torque [N m]: its limit, which falls with speed up to no load."""
    speed = where(p.no_load_speed, spin / where(p.no_load_speed, p.no_load_speed, 1.0), 0.0)
    high = p.tau_max * _share(1.0 - speed)
    low = p.tau_max * _share(1.0 + speed)
    return where(torque - high, high, where(-low - torque, -low, torque))


def _share(value: Any) -> Any:
    return where(value - 1.0, 1.0, where(value, value, 0.0))
