"""Where a corner's strut stands when its arm is at an angle: the closed form of the loop arm - strut - body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, quotient, sin, sqrt

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
