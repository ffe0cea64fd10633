"""Entropy production split by coordinate, and the printed rates of the source, which are something else.

The source takes the equation solved for an acceleration, keeps the part that carries the coordinate's own velocity and
multiplies it by that velocity (US 2004/0039555, eqs. 2.122 to 2.126, here with their misprints repaired). In this model
what is left are geometric terms: they contain no damper coefficient, change sign, and do not vanish without dampers.
Their units are rad^2/s^3 and m^2/s^3, a power per inertia: do not add those of different kinds without weights.
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import atan2
from plants.suspension.motion import inertia
from plants.suspension.parameters import LEFT
from plants.suspension.pose import Numbers, contacts, mirrored, pose

AMBIENT = 293.15  # K, by which W become W/K
PRINTED = ("beta", "alpha", *(f"{name}_{n}" for name in ("eta", "z6", "z12") for n in ("i", "ii", "iii", "iv")))


def eta(x: Numbers, p: Numbers) -> Numbers:
    """Return the angles of the struts in their corner frames [rad]."""
    at = pose(x, p)
    return tuple(
        mirrored(left, atan2(c.link.sin_eta, c.link.cos_eta)) for left, c in zip(LEFT, at.corners, strict=True)
    )


def eta_rates(x: Numbers, p: Numbers) -> Numbers:
    """Return their rates [rad/s]."""
    at = pose(x, p)
    pairs = zip(LEFT, at.corners, at.theta_rates, strict=True)
    return tuple(mirrored(left, c.link.turn * rate) for left, c, rate in pairs)


def printed_rates(x: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return the source's printed entropy rates, in the order of `PRINTED` [rad^2/s^3, m^2/s^3]."""
    at, tyres = pose(x, p), contacts(pose(x, p), w[:4], w[4:], unilateral=False)
    matrix = inertia(at)
    pitch = at.car.mb * at.body_u * at.body_v * at.roll_rate  # half the rate of the pitch inertia
    roll: Any = 0.0
    etas, strokes, contact = [], [], []
    for k, c in enumerate(at.corners):
        _, roll_rate = at.roll_of(k)
        rate = at.theta_rates[k]
        pitch = pitch + c.uv * roll_rate + c.u_u * rate
        roll = roll + c.dot * rate
        turning, sliding, lean = c.link.turn * rate, c.link.slope * rate, c.link.sin_eta / c.link.cos_eta
        arm = at.car.axles[k].d1 - c.link.z6
        etas.append(turning * turning * (turning * lean + 2.0 * sliding / arm))
        strokes.append(2.0 * turning * sliding * sliding * lean)
        tilting = at.roll_rate * at.sin_roll / at.cos_roll + at.pitch_rate * at.sin_pitch / at.cos_pitch
        contact.append(2.0 * tyres[k].z12_rate * tyres[k].z12_rate * tilting)
    beta = -2.0 * at.pitch_rate * at.pitch_rate * pitch / matrix[5][5]
    alpha = -2.0 * at.roll_rate * at.roll_rate * roll / matrix[6][6]
    return (beta, alpha, *etas, *strokes, *contact)


def entropy_by_coordinate(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return T0 dS/dt [W] split by coordinate z0, beta, alpha, theta_i .. theta_iv, as on a road that stands still.

    The parts add up to all that is lost there; single parts may be negative.
    """
    at = pose(x, p)
    parts: list[Any] = [0.0] * 7
    for k, tyre in enumerate(contacts(at, w[:4], (0.0,) * 4, unilateral=False)):
        axle, c = at.car.axles[k], at.corners[k]
        _, roll = at.roll_of(k)
        rate = at.theta_rates[k]
        drag = -axle.cw * tyre.z12_rate / (at.cos_roll * at.cos_pitch)  # slopes of z12 are those of the contact
        damper = u[k] * at.car.worn[k] * c.link.slope * c.link.slope
        parts[0] = parts[0] + drag * at.z0_rate
        parts[1] = parts[1] + drag * tyre.by_pitch * at.pitch_rate
        parts[2] = parts[2] + drag * tyre.by_roll * roll
        parts[3 + k] = damper * rate * rate + drag * tyre.by_theta * rate
    return tuple(parts)
