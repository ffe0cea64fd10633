"""One leg: a four-bar loop of body, thigh, shank and crank, closed in the wheel's plane.

Vectors of that plane are (x, z), forward and up, from the axle or from joint to joint: hip + thigh = crank + shank. One
that turns with the pitch phi of its part has the rate phi' (z, -x); so the loop, differentiated and turned back by a
quarter, reads hip beta' + thigh zu' = crank psi' + shank pr', with zu and pr the pitch of thigh and shank. All
directions come from the closed form by square roots alone; angles are needed by nobody but a reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.elementary import quotient, sqrt

Vector = tuple[Any, Any]


def cross(a: Vector, b: Vector) -> Any:
    """Return a_x b_z - a_z b_x."""
    return a[0] * b[1] - a[1] * b[0]


def dot(a: Vector, b: Vector) -> Any:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1]


@dataclass(frozen=True)
class Leg:
    """A leg at one pose.

    Attributes
    ----------
    hip, thigh, crank, shank : (x, z)
        From the axle to the hip, hip to knee, axle to pedal, pedal to knee [m].
    thigh_by, shank_by : (number, number)
        Slopes of their pitch by the body's pitch and by the wheel's angle.
    inverse : number
        1 / (thigh x shank) [1/m^2]: grows without bound only towards a straight knee.
    """

    hip: Vector
    thigh: Vector
    crank: Vector
    shank: Vector
    thigh_by: tuple[Any, Any]
    shank_by: tuple[Any, Any]
    inverse: Any

    def rates(self, pitch_rate: Any, wheel_rate: Any) -> tuple[Any, Any]:
        """Return the rates of the pitch of thigh and shank [rad/s]."""
        zu, pr = self.thigh_by, self.shank_by
        return zu[0] * pitch_rate + zu[1] * wheel_rate, pr[0] * pitch_rate + pr[1] * wheel_rate

    def bias(self, pitch_rate: Any, wheel_rate: Any) -> tuple[Any, Any]:
        """Return what the present rates alone add to both accelerations [rad/s^2]."""
        zu, pr = self.rates(pitch_rate, wheel_rate)
        squares = (pitch_rate * pitch_rate, zu * zu, wheel_rate * wheel_rate, pr * pr)
        left = [
            squares[0] * self.hip[i]
            + squares[1] * self.thigh[i]
            - squares[2] * self.crank[i]
            - squares[3] * self.shank[i]
            for i in range(2)
        ]
        open_by = (left[0], left[1])
        return -(dot(open_by, self.shank) * self.inverse), -(dot(open_by, self.thigh) * self.inverse)


def leg(hip: Vector, crank: Vector, thigh_length: Any, shank_length: Any) -> Leg:
    """Return the leg between hip and pedal [m], its knee in front."""
    away = (hip[0] - crank[0], hip[1] - crank[1])
    square = dot(away, away)
    shank_square = shank_length * shank_length
    share = 0.5 * (1.0 + quotient(shank_square - thigh_length * thigh_length, square))  # foot of the knee's height
    height = sqrt(quotient(shank_square, square) - share * share)
    shank = (share * away[0] + height * away[1], share * away[1] - height * away[0])
    thigh = (shank[0] - away[0], shank[1] - away[1])
    inverse = quotient(1.0, cross(thigh, shank))
    return Leg(
        hip, thigh, crank, shank,
        thigh_by=(-(cross(hip, shank) * inverse), cross(crank, shank) * inverse),
        shank_by=(-(cross(hip, thigh) * inverse), cross(crank, thigh) * inverse),
        inverse=inverse,
    )  # fmt: skip
