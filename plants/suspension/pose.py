"""The car at one state: body, corners, struts and contacts, as every block needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.elementary import cos, maximum, quotient, sin
from plants.suspension.corner import Corner, corner, tilt
from plants.suspension.parameters import LEFT, Car

Numbers = tuple[Any, ...]


def mirrored(left: bool, value: Any) -> Any:
    """Return an angle, a moment or a lateral length of a right corner as its mirror image has it, and back."""
    return value if left else -value


@dataclass(frozen=True)
class Pose:
    """The car at one state.

    Attributes
    ----------
    car : Car
    sin_pitch, cos_pitch, sin_roll, cos_roll : number
    z0, pitch_rate, roll_rate, z0_rate : number
    theta_rates : tuple of 4
        In each corner's own mirror.
    corners : tuple of 4 Corner
    body_u, body_v : number
        Centre of mass of the body.
    """

    car: Car
    z0: Any
    sin_pitch: Any
    cos_pitch: Any
    sin_roll: Any
    cos_roll: Any
    z0_rate: Any
    pitch_rate: Any
    roll_rate: Any
    theta_rates: Numbers
    corners: tuple[Corner, ...]
    body_u: Any
    body_v: Any

    def roll_of(self, k: int) -> tuple[Any, Any]:
        """Return sine of the roll and its rate in the mirror of corner `k`."""
        return mirrored(LEFT[k], self.sin_roll), mirrored(LEFT[k], self.roll_rate)

    @property
    def stroke_rates(self) -> Numbers:
        """Rates of the struts' coordinates z6 [m/s]."""
        return tuple(c.link.slope * rate for c, rate in zip(self.corners, self.theta_rates, strict=True))


def pose(x: Numbers, p: Numbers) -> Pose:
    """Return the car at state `x`."""
    car = Car.of(p)
    z0, beta, alpha, z0_rate, beta_rate, alpha_rate = (*x[:3], *x[7:10])
    sine, cosine = sin(alpha), cos(alpha)
    tilts = (tilt(car.front),) * 2 + (tilt(car.rear),) * 2
    corners = tuple(
        corner(axle, tilts[k], mirrored(LEFT[k], x[3 + k]), mirrored(LEFT[k], sine), cosine)
        for k, axle in enumerate(car.axles)
    )
    return Pose(
        car, z0, sin(beta), cos(beta), sine, cosine, z0_rate, beta_rate, alpha_rate,
        theta_rates=tuple(mirrored(LEFT[k], x[10 + k]) for k in range(4)),
        corners=corners,
        body_u=car.b0 * sine + car.c0 * cosine, body_v=car.b0 * cosine - car.c0 * sine,
    )  # fmt: skip


@dataclass(frozen=True)
class Contact:
    """A tyre on its road, in the mirror of its corner.

    Attributes
    ----------
    z12, z12_rate : number
        Coordinate of the contact below the wheel's centre, negative [m], and its rate.
    by_pitch, by_roll, by_theta : number
        Slopes of the contact's height by pitch, roll and arm.
    spring, push : number
        Force of the tyre's spring, and of spring and damping, along the body's own vertical [N].
    load : number
        Force of the road, upwards [N].
    """

    z12: Any
    z12_rate: Any
    by_pitch: Any
    by_roll: Any
    by_theta: Any
    spring: Any
    push: Any
    load: Any


def contacts(at: Pose, heights: Numbers, rates: Numbers, *, unilateral: bool) -> tuple[Contact, ...]:
    """Return the contacts on a road of given heights [m] and rates [m/s]; a unilateral tyre only pushes."""
    upright = quotient(1.0, at.cos_roll * at.cos_pitch)
    return tuple(_contact(at, k, heights[k], rates[k], upright, unilateral=unilateral) for k in range(4))


def _contact(at: Pose, k: int, height: Any, rate: Any, upright: Any, *, unilateral: bool) -> Contact:
    axle, c = at.car.axles[k], at.corners[k]
    sin_roll, roll_rate = at.roll_of(k)
    centre = at.z0 - axle.a1 * at.sin_pitch + c.wheel_u * at.cos_pitch
    z12 = (height - centre) * upright
    by_pitch = -((c.wheel_u + z12 * at.cos_roll) * at.sin_pitch + axle.a1 * at.cos_pitch)
    by_roll = (c.wheel_v - z12 * sin_roll) * at.cos_pitch
    by_theta = c.wheel_slope * at.cos_pitch
    lifted = at.z0_rate + by_pitch * at.pitch_rate + by_roll * roll_rate + by_theta * at.theta_rates[k]
    z12_rate = (rate - lifted) * upright
    spring = axle.kw * (z12 - axle.lw)
    push = spring + axle.cw * z12_rate
    if unilateral:
        spring, push = maximum(spring, 0.0), maximum(push, 0.0)
    return Contact(z12, z12_rate, by_pitch, by_roll, by_theta, spring, push, push * upright)


def strut_forces(at: Pose, u: Numbers) -> Numbers:
    """Return the forces along the struts [N], positive where they push body and wheel apart."""
    coefficients = tuple(c * worn for c, worn in zip(u[:4], at.car.worn, strict=True))
    return tuple(
        axle.ks * (c.link.z6 - axle.ls) + damping * rate + active
        for axle, c, damping, rate, active in zip(
            at.car.axles, at.corners, coefficients, at.stroke_rates, u[4:], strict=True
        )
    )


def stabiliser_moments(at: Pose) -> Numbers:
    """Return the moments of the stabilisers about the arms' hinges [N m], in each corner's mirror."""
    moments: list[Any] = []
    for k, rate in ((0, at.car.kzf), (2, at.car.kzr)):
        left, right, e0 = at.corners[k], at.corners[k + 1], at.car.axles[k].e0
        pull = rate * e0 * e0 * (left.sin_psi - right.sin_psi)
        moments += [-(pull * left.cos_psi), pull * right.cos_psi]
    return tuple(moments)
