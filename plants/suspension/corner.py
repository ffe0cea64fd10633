"""One corner of the car: arm, strut and wheel in the plane of their axle.

A right corner is the left one in a mirror: with roll and arm angles of the other sign everything here is the same, but
for the lateral direction. So all formulas are those of a left corner, in its own angles.

Points of the plane have body coordinates (y, z); `u` is the height in pitched axes, `v` the lateral place after roll,
u = y sin(alpha) + z cos(alpha), v = y cos(alpha) - z sin(alpha).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, sin
from plants.suspension.linkage import Linkage, linkage

if TYPE_CHECKING:
    from plants.suspension.parameters import Axle


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
