"""The car at one state: body, corners, struts and contacts, as every block needs them.

A right corner is the left one in a mirror: with roll and arm angles of the other sign everything there is the same,
but for the lateral direction. So all formulas are those of a left corner, in its own angles. Where its strut stands
when its arm is at an angle is the closed form of the loop arm - strut - body.

Points of the plane of an axle have body coordinates (y, z); `u` is the height in pitched axes, `v` the lateral place
after roll, u = y sin(alpha) + z cos(alpha), v = y cos(alpha) - z sin(alpha).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, maximum, quotient, sin, sqrt
from plants.suspension.parameters import LEFT, Car

if TYPE_CHECKING:
    from plants.suspension.parameters import Axle


@dataclass(frozen=True)
class Linkage:
    """Strut on its arm at one angle theta of the arm, with slopes by theta.

    Attributes
    ----------
    sin_theta, cos_theta, sin_eta, cos_eta : number
    z6 : number
        Coordinate of the strut's mass along the strut [m], negative.
    slope, bend : number
        First and second slope of z6 [m/rad, m/rad^2].
    turn, twist : number
        First and second slope of eta.
    """

    sin_theta: Any
    cos_theta: Any
    sin_eta: Any
    cos_eta: Any
    z6: Any
    slope: Any
    bend: Any
    turn: Any
    twist: Any


def linkage(axle: Axle, theta: Any) -> Linkage:
    """Return where the strut is at an arm's angle [rad]: the closed form of the loop arm - strut - body."""
    sine, cosine = sin(theta), cos(theta)
    high = axle.c1 - axle.c2
    length = sqrt(axle.e2 * axle.e2 + high * high - 2.0 * axle.e2 * high * sine)
    inverse = quotient(1.0, length)
    sin_eta, cos_eta = axle.e2 * cosine * inverse, (high - axle.e2 * sine) * inverse
    slope = high * sin_eta
    turn = axle.e2 * (axle.e2 - high * sine) * (inverse * inverse)
    return Linkage(
        sine, cosine, sin_eta, cos_eta, axle.d1 - length,
        slope=slope, bend=high * cos_eta * turn, turn=turn, twist=slope * (turn + turn - 1.0) * inverse,
    )  # fmt: skip


@dataclass(frozen=True)
class Corner:
    """Sums over the masses m of a corner, at a point p of each, for the equations of motion; and its contact.

    Attributes
    ----------
    mass : number
        sum m [kg].
    u, v, u_theta, v_theta, u_theta2 : number
        sum m u, m v and slopes by theta [kg m].
    uu, uv, u_u : number
        sum m u^2, m u v, m u u_theta [kg m^2].
    inertia, cross, own : number
        sum m p^2, m p x p_theta, m p_theta^2 [kg m^2].
    dot, cross2, dot2 : number
        sum m p . p_theta, m p x p_theta2, m p_theta . p_theta2 [kg m^2].
    wheel_u, wheel_v, wheel_slope : number
        Centre of the wheel, and slope of its height by theta [m].
    sin_psi, cos_psi : number
        Of the arm's angle in the body, gam + theta.
    link : Linkage
    """

    mass: Any
    u: Any
    v: Any
    u_theta: Any
    v_theta: Any
    u_theta2: Any
    uu: Any
    uv: Any
    u_u: Any
    inertia: Any
    cross: Any
    own: Any
    dot: Any
    cross2: Any
    dot2: Any
    wheel_u: Any
    wheel_v: Any
    wheel_slope: Any
    sin_psi: Any
    cos_psi: Any
    link: Linkage


@dataclass(frozen=True)
class Tilt:
    """Sine and cosine of the tilt of an axle's corner frames."""

    sine: Any
    cosine: Any


def tilt(axle: Axle) -> Tilt:
    """Return the tilt of an axle."""
    return Tilt(sin(axle.gam), cos(axle.gam))


def corner(axle: Axle, gam: Tilt, theta: Any, sin_roll: Any, cos_roll: Any) -> Corner:
    """Return the corner at an arm's angle and a roll [rad]."""
    link = linkage(axle, theta)
    psi = _turned(gam.sine, gam.cosine, link.sin_theta, link.cos_theta)
    chi = _turned(gam.sine, gam.cosine, link.sin_eta, link.cos_eta)
    arm = _arm(axle, gam, link, psi, sin_roll, cos_roll)
    strut = _strut(axle, gam, link, chi, sin_roll, cos_roll)
    sums = {name: arm[name] + strut[name] for name in strut}
    sine, cosine = _turned(sin_roll, cos_roll, *psi)
    hinge_u, hinge_v = _rolled(axle.b2 - axle.c2 * gam.sine, axle.c2 * gam.cosine, sin_roll, cos_roll)
    return Corner(
        **sums,
        wheel_u=hinge_u + axle.e3 * sine,
        wheel_v=hinge_v + axle.e3 * cosine,
        wheel_slope=axle.e3 * cosine,
        sin_psi=psi[0],
        cos_psi=psi[1],
        link=link,
    )


def _turned(sin_a: Any, cos_a: Any, sin_b: Any, cos_b: Any) -> tuple[Any, Any]:
    """Sine and cosine of a + b."""
    return sin_a * cos_b + cos_a * sin_b, cos_a * cos_b - sin_a * sin_b


def _rolled(y: Any, z: Any, sin_roll: Any, cos_roll: Any) -> tuple[Any, Any]:
    """Height u and lateral place v of a point of the body."""
    return y * sin_roll + z * cos_roll, y * cos_roll - z * sin_roll


def _arm(axle: Axle, gam: Tilt, link: Linkage, psi: Any, sin_roll: Any, cos_roll: Any) -> dict[str, Any]:
    """Arm and wheel: two masses on one ray from the arm's hinge."""
    m0 = axle.ma + axle.mw
    m1 = axle.ma * axle.e1 + axle.mw * axle.e3
    m2 = axle.ma * axle.e1 * axle.e1 + axle.mw * axle.e3 * axle.e3
    hinge_u, hinge_v = _rolled(axle.b2 - axle.c2 * gam.sine, axle.c2 * gam.cosine, sin_roll, cos_roll)
    sine, cosine = _turned(sin_roll, cos_roll, *psi)
    across = axle.b2 * psi[1] + axle.c2 * link.sin_theta  # hinge x ray
    along = axle.c2 * link.cos_theta - axle.b2 * psi[0]  # hinge . (ray by theta)
    hinge = axle.b2 * axle.b2 + axle.c2 * axle.c2 - 2.0 * axle.b2 * axle.c2 * gam.sine
    u, lever = m0 * hinge_u + m1 * sine, m1 * hinge_u + m2 * sine
    m1_along, m1_across = m1 * along, m1 * across
    return {
        "mass": m0, "u": u, "v": m0 * hinge_v + m1 * cosine,
        "u_theta": m1 * cosine, "v_theta": -(m1 * sine), "u_theta2": -(m1 * sine),
        "uu": hinge_u * u + sine * lever, "uv": hinge_v * u + cosine * lever, "u_u": cosine * lever,
        "inertia": m0 * hinge + 2.0 * m1_across + m2, "cross": m1_across + m2, "own": m2,
        "dot": m1_along, "cross2": m1_along, "dot2": 0.0,
    }  # fmt: skip


def _strut(axle: Axle, gam: Tilt, link: Linkage, chi: Any, sin_roll: Any, cos_roll: Any) -> dict[str, Any]:
    """Mass of the strut: z6 along d = (-sin chi, cos chi) from its hinge; n = dd/dchi."""
    m, z6 = axle.ms, link.z6
    hinge_u, hinge_v = _rolled(axle.b2 - axle.c1 * gam.sine, axle.c1 * gam.cosine, sin_roll, cos_roll)
    low, high = _turned(sin_roll, cos_roll, *chi)  # d is (high, -low) in (u, v), n is (-low, -high)
    g1, g2 = link.slope, z6 * link.turn
    h1, h2 = link.bend - g2 * link.turn, 2.0 * g1 * link.turn + z6 * link.twist
    along = axle.c1 * link.cos_eta - axle.b2 * chi[0] + z6  # p . d
    across = -(axle.b2 * chi[1] + axle.c1 * link.sin_eta)  # p . n
    u, v = hinge_u + z6 * high, hinge_v - z6 * low
    u_theta, v_theta = g1 * high - g2 * low, -(g1 * low + g2 * high)
    mu = m * u
    return {
        "mass": m, "u": mu, "v": m * v,
        "u_theta": m * u_theta, "v_theta": m * v_theta, "u_theta2": m * (h1 * high - h2 * low),
        "uu": mu * u, "uv": mu * v, "u_u": mu * u_theta,
        "inertia": m * (along * along + across * across), "cross": m * (along * g2 - across * g1),
        "own": m * (g1 * g1 + g2 * g2),
        "dot": m * (along * g1 + across * g2), "cross2": m * (along * h2 - across * h1),
        "dot2": m * (g1 * h1 + g2 * h2),
    }  # fmt: skip


Numbers = tuple[Any, ...]


def mirrored(left: bool, value: Any) -> Any:
    """Return an angle, a moment or a lateral length of a right corner as its mirror image has it, and back."""
    return value if left else -value


@dataclass(frozen=True)
class CarPose:
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


def pose(x: Numbers, p: Numbers) -> CarPose:
    """Return the car at state `x`."""
    car = Car.of(p)
    z0, beta, alpha, z0_rate, beta_rate, alpha_rate = (*x[:3], *x[7:10])
    sine, cosine = sin(alpha), cos(alpha)
    tilts = (tilt(car.front),) * 2 + (tilt(car.rear),) * 2
    corners = tuple(
        corner(axle, tilts[k], mirrored(LEFT[k], x[3 + k]), mirrored(LEFT[k], sine), cosine)
        for k, axle in enumerate(car.axles)
    )
    return CarPose(
        car, z0, sin(beta), cos(beta), sine, cosine, z0_rate, beta_rate, alpha_rate,
        theta_rates=tuple(mirrored(LEFT[k], x[10 + k]) for k in range(4)),
        corners=corners,
        body_u=car.b0 * sine + car.c0 * cosine, body_v=car.b0 * cosine - car.c0 * sine,
    )  # fmt: skip


@dataclass(frozen=True)
class TyreContact:
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


def contacts(at: CarPose, heights: Numbers, rates: Numbers, *, unilateral: bool) -> tuple[TyreContact, ...]:
    """Return the contacts on a road of given heights [m] and rates [m/s]; a unilateral tyre only pushes."""
    upright = quotient(1.0, at.cos_roll * at.cos_pitch)
    return tuple(_contact(at, k, heights[k], rates[k], upright, unilateral=unilateral) for k in range(4))


def _contact(at: CarPose, k: int, height: Any, rate: Any, upright: Any, *, unilateral: bool) -> TyreContact:
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
    return TyreContact(z12, z12_rate, by_pitch, by_roll, by_theta, spring, push, push * upright)


def strut_forces(at: CarPose, u: Numbers) -> Numbers:
    """Return the forces along the struts [N], positive where they push body and wheel apart."""
    coefficients = tuple(c * worn for c, worn in zip(u[:4], at.car.worn, strict=True))
    return tuple(
        axle.ks * (c.link.z6 - axle.ls) + damping * rate + active
        for axle, c, damping, rate, active in zip(
            at.car.axles, at.corners, coefficients, at.stroke_rates, u[4:], strict=True
        )
    )


def stabiliser_moments(at: CarPose) -> Numbers:
    """Return the moments of the stabilisers about the arms' hinges [N m], in each corner's mirror."""
    moments: list[Any] = []
    for k, rate in ((0, at.car.kzf), (2, at.car.kzr)):
        left, right, e0 = at.corners[k], at.corners[k + 1], at.car.axles[k].e0
        pull = rate * e0 * e0 * (left.sin_psi - right.sin_psi)
        moments += [-(pull * left.cos_psi), pull * right.cos_psi]
    return tuple(moments)
