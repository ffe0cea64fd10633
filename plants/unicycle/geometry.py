"""The unicycle at one state: its legs, its moving parts as points with slopes, and how they are turned.

A leg is a four-bar loop of body, thigh, shank and crank, closed in the wheel's plane. Vectors of that plane are (x,
z), forward and up, from the axle or from joint to joint: hip + thigh = crank + shank. One that turns with the pitch
phi of its part has the rate phi' (z, -x); so the loop, differentiated and turned back by a quarter, reads hip beta' +
thigh zu' = crank psi' + shank pr', with zu and pr the pitch of thigh and shank. All directions come from the closed
form by square roots alone; angles are needed by nobody but a reader.

Axes of the roll frame: x forward, y along the axle to the left, z in the wheel's plane upwards. Places are those of
mass centres, relative to the axle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.elementary import cos, quotient, sin, sqrt
from plants.unicycle.parameters import Inertia, Unicycle

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


Numbers = tuple[Any, ...]
YAW, ROLL, PITCH, WHEEL, TABLE = range(5)
"""Order of coordinates, of velocities and of the equations: alpha, gamma, beta, theta_w, eta."""


@dataclass(frozen=True)
class PlanarPart:
    """A part that moves in the wheel's plane with the body's pitch and the wheel's angle.

    Attributes
    ----------
    mass, y : number
    place, by_pitch, by_wheel, bias : (x, z)
        Mass centre, its slopes by pitch and wheel angle [m, m/rad], and what the present rates alone add to its
        acceleration [m/s^2].
    inertia : Inertia
    sine, cosine : number
        Of its own pitch phi.
    turn_by : (number, number)
        Slopes of phi by pitch and wheel angle.
    turn, turn_bias : number
        phi' [rad/s], and what the present rates alone add to phi'' [rad/s^2].
    """

    mass: Any
    y: Any
    place: tuple[Any, Any]
    by_pitch: tuple[Any, Any]
    by_wheel: tuple[Any, Any]
    bias: tuple[Any, Any]
    inertia: Inertia
    sine: Any
    cosine: Any
    turn_by: tuple[Any, Any]
    turn: Any
    turn_bias: Any


@dataclass(frozen=True)
class UnicyclePose:
    """The unicycle at one state.

    Attributes
    ----------
    robot : Unicycle
    sin_roll, cos_roll, sin_pitch, cos_pitch, sin_table, cos_table : number
    rates : tuple of 5
        alpha', gamma', beta', theta_w', eta' [rad/s].
    right, left : Leg
    parts : tuple of 7 Part
        Wheel, body, right and left thigh, right and left shank, turntable; the turntable's turn about its own axis is
        not in its part.
    """

    robot: Unicycle
    sin_roll: Any
    cos_roll: Any
    sin_pitch: Any
    cos_pitch: Any
    sin_table: Any
    cos_table: Any
    rates: Numbers
    right: Leg
    left: Leg
    parts: tuple[PlanarPart, ...]

    @property
    def joint_by(self) -> tuple[tuple[Any, Any], ...]:
        """Slopes of theta_1 .. theta_4 by pitch and wheel angle."""
        thighs = ((side.thigh_by[0] - 1.0, side.thigh_by[1]) for side in (self.right, self.left))
        shanks = ((side.shank_by[0], side.shank_by[1] - 1.0) for side in (self.right, self.left))
        return (*thighs, *shanks)

    @property
    def joint_rates(self) -> Numbers:
        """Rates of theta_1 .. theta_4 [rad/s]."""
        return tuple(a * self.rates[PITCH] + b * self.rates[WHEEL] for a, b in self.joint_by)


def pose(x: Numbers, p: Numbers) -> UnicyclePose:
    """Return the unicycle at state `x`."""
    robot = Unicycle.of(p)
    beta, wheel_angle, rates = x[PITCH], x[WHEEL], tuple(x[5:10])
    sine, cosine = sin(beta), cos(beta)
    psi = wheel_angle + robot.psi0
    hip = (robot.e1 * sine, robot.e1 * cosine)
    crank = (robot.e3x * cos(psi), -(robot.e3x * sin(psi)))
    length = 2.0 * robot.e2
    right, left = leg(hip, crank, length, robot.e4L), leg(hip, (-crank[0], -crank[1]), length, robot.e4L)
    parts = (
        _wheel(robot, wheel_angle, rates),
        _on_axis(robot.MB, robot.e5, robot.IB, sine, cosine, rates),
        *(_thigh(robot, k, side, rates) for k, side in ((0, right), (1, left))),
        *(_shank(robot, k, side, rates) for k, side in ((2, right), (3, left))),
        _on_axis(robot.MTt, robot.e6, robot.IT, sine, cosine, rates),
    )
    return UnicyclePose(
        robot, sin(x[ROLL]), cos(x[ROLL]), sine, cosine, sin(x[TABLE]), cos(x[TABLE]), rates, right, left, parts
    )  # fmt: skip


def _wheel(robot: Unicycle, angle: Any, rates: Numbers) -> PlanarPart:
    still = (0.0, 0.0)
    return PlanarPart(
        robot.MW, 0.0, still, still, still, still, robot.IW, sin(angle), cos(angle), (0.0, 1.0), rates[WHEEL], 0.0
    )  # fmt: skip


def _on_axis(mass: Any, height: Any, inertia: Inertia, sine: Any, cosine: Any, rates: Numbers) -> PlanarPart:
    """A part on the body's axis."""
    x, z, square = height * sine, height * cosine, rates[PITCH] * rates[PITCH]
    return PlanarPart(
        mass, 0.0, (x, z), (z, -x), (0.0, 0.0), (-(square * x), -(square * z)), inertia, sine, cosine, (1.0, 0.0),
        rates[PITCH], 0.0,
    )  # fmt: skip


def _thigh(robot: Unicycle, k: int, side: Leg, rates: Numbers) -> PlanarPart:
    """Carried by the hip."""
    (hx, hz), (tx, tz) = side.hip, (0.5 * side.thigh[0], 0.5 * side.thigh[1])
    turn, _ = side.rates(rates[PITCH], rates[WHEEL])
    bias, _ = side.bias(rates[PITCH], rates[WHEEL])
    (a, b), body, own = side.thigh_by, rates[PITCH] * rates[PITCH], turn * turn
    unit = quotient(0.5, robot.e2)
    return PlanarPart(
        robot.ML[k], -robot.k1 if k == 0 else robot.k1,
        (hx + tx, hz + tz), (hz + tz * a, -(hx + tx * a)), (tz * b, -(tx * b)),
        (tz * bias - body * hx - own * tx, -(tx * bias) - body * hz - own * tz),
        robot.IL[k], -(side.thigh[1] * unit), side.thigh[0] * unit, (a, b), turn, bias,
    )  # fmt: skip


def _shank(robot: Unicycle, k: int, side: Leg, rates: Numbers) -> PlanarPart:
    """Carried by the pedal."""
    share, unit = quotient(robot.dz, robot.e4L), quotient(1.0, robot.e4L)
    (cx, cz), (sx, sz) = side.crank, (share * side.shank[0], share * side.shank[1])
    _, turn = side.rates(rates[PITCH], rates[WHEEL])
    _, bias = side.bias(rates[PITCH], rates[WHEEL])
    (a, b), wheel, own = side.shank_by, rates[WHEEL] * rates[WHEEL], turn * turn
    return PlanarPart(
        robot.ML[k], -robot.yk1 if k == 2 else robot.yk1,
        (cx + sx, cz + sz), (sz * a, -(sx * a)), (cz + sz * b, -(cx + sx * b)),
        (sz * bias - wheel * cx - own * sx, -(sx * bias) - wheel * cz - own * sz),
        robot.IL[k], side.shank[0] * unit, side.shank[1] * unit, (a, b), turn, bias,
    )  # fmt: skip
