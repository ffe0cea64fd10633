"""The unicycle as a user of the mechanics kit would declare it: places of points, rotations, energies, forces.

Third derivation beside the minimal and the redundant one. Eleven coordinates: those of the redundant form and the
contact point. Velocities are differentiated places, angular velocities differentiated rotations; the legs are closed as
points that coincide; rolling is two constraints on velocities. Only the equations of a rolling wheel come out of that,
so `nh` is none of the parameters here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.reproduce.vehicles.unicycle.redundant import ALPHA, BETA, ETA, GAMMA, THETA, WHEEL
from plants.core.elementary import cos, sin
from plants.core.tracing.gradients import along, gradient
from plants.mechanics import Mechanism
from plants.unicycle.geometry import leg
from plants.unicycle.parameters import PARAMETERS, Unicycle

if TYPE_CHECKING:
    from collections.abc import Sequence

Vector = tuple[Any, Any, Any]
Matrix = tuple[Vector, Vector, Vector]  # rows
X_P, Y_P, N = 9, 10, 11
NAMES = ("alpha", "gamma", "beta", "theta_w", "theta_1", "theta_2", "theta_3", "theta_4", "eta", "x_P", "y_P")


def about_y(angle: Any) -> Matrix:
    """Return a turn about y: positive angles move what is above forward."""
    s, c = sin(angle), cos(angle)
    return (c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)


def about_z(angle: Any) -> Matrix:
    """Return a turn about z."""
    s, c = sin(angle), cos(angle)
    return (c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)


def about_x(angle: Any) -> Matrix:
    """Return a turn about x."""
    s, c = sin(angle), cos(angle)
    return (1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)


def times(left: Matrix, right: Matrix) -> Matrix:
    """Return the product of two turns."""
    columns = list(zip(*right, strict=True))
    rows = [tuple(_dot(row, column) for column in columns) for row in left]
    return rows[0], rows[1], rows[2]


def turned(matrix: Matrix, vector: Sequence[Any]) -> Vector:
    """Return a turned vector."""
    return _dot(matrix[0], vector), _dot(matrix[1], vector), _dot(matrix[2], vector)


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _sum(*vectors: Sequence[Any]) -> Vector:
    return tuple(sum(values[1:], values[0]) for values in zip(*vectors, strict=True))


def mechanism(initial: Sequence[float] = ()) -> Mechanism:
    """Return the declaration, beginning at given coordinates and rates [22]."""
    mech = Mechanism("unicycle_by_the_kit", "Unicycle robot declared with the mechanics kit")
    start = tuple(initial) or (*_START, *(0.0,) * N)
    q = list(mech.coordinates(" ".join(NAMES), units=["rad"] * 9 + ["m"] * 2, initial=start[:N]))
    v = list(mech.rates(initial=start[N:]))
    # `nh` is none of this mechanism's numbers.
    p = [mech.parameter(x.name, x.nominal, x.unit, low=x.low, high=x.high) for x in PARAMETERS[:-1]]
    torques = mech.inputs("tau1 tau2 tau3", units=["N m"] * 3)
    w = mech.disturbances("Fx Fy Fz hF sx sy", units="N N N m 1 1")
    _DeclaredUnicycle(mech, q, v, Unicycle.of((*p, 1.0)), list(w)).all(list(torques))
    return mech


def _upright() -> tuple[float, ...]:
    r = Unicycle.of(tuple(x.nominal for x in PARAMETERS))
    from math import atan2

    angles: list[list[float]] = [[], []]
    for side in (1.0, -1.0):
        found = leg((0.0, r.e1), (side * r.e3x, 0.0), 2.0 * r.e2, r.e4L)
        angles[0].append(atan2(-found.thigh[1], found.thigh[0]))
        angles[1].append(atan2(found.shank[0], found.shank[1]))
    return (0.0, 0.0, 0.0, 0.0, *angles[0], *angles[1], 0.0, 0.0, 0.0)


_START = _upright()


class _DeclaredUnicycle:
    """A declaration as it grows."""

    def __init__(self, mech: Mechanism, q: list[Any], v: list[Any], robot: Unicycle, w: list[Any]) -> None:
        self.mech, self.q, self.v, self.robot, self.w = mech, q, v, robot, w
        self.yaw = about_z(q[ALPHA])
        self.frame = times(self.yaw, about_x(q[GAMMA]))
        self.axle = _sum((q[X_P], q[Y_P], 0.0), turned(self.frame, (0.0, 0.0, robot.Rw)))
        self.forces: list[Any] = [0.0] * N

    def all(self, torques: list[Any]) -> None:
        """Everything."""
        self.bodies()
        self.legs()
        self.rolling()
        self.push(turned(self.frame, self._pitched(self.q[BETA], (0.0, 0.0, self.w[3]))), self.w[:3])
        for k, torque in ((THETA + 2, torques[0]), (THETA + 3, -torques[1]), (ETA, torques[2])):
            self.forces[k] = self.forces[k] + torque
        self.mech.force(dict(zip(self.q, self.forces, strict=True)))
        self.friction()

    def _pitched(self, pitch: Any, place: Vector) -> Vector:
        return turned(about_y(pitch), place)

    def _pitches(self) -> tuple[Any, ...]:
        q = self.q
        psi = q[WHEEL] + self.robot.psi0
        thighs, shanks = (q[BETA] + q[THETA], q[BETA] + q[THETA + 1]), (psi + q[THETA + 2], psi + q[THETA + 3])
        return psi, *thighs, *shanks

    def bodies(self) -> None:
        """Seven bodies: masses, turns."""
        r, q = self.robot, self.q
        psi, *pitches = self._pitches()
        body = about_y(q[BETA])
        self.body(r.MW, r.IW, (0.0, 0.0, 0.0), about_y(q[WHEEL]))
        self.body(r.MB, r.IB, turned(body, (0.0, 0.0, r.e5)), body)
        offsets = (-r.k1, r.k1, -r.yk1, r.yk1)
        hip, pedal = turned(body, (0.0, 0.0, r.e1)), self._pitched(psi, (r.e3x, 0.0, 0.0))
        for k, (pitch, y) in enumerate(zip(pitches, offsets, strict=True)):
            turn = about_y(pitch)
            carrier = hip if k < 2 else pedal if k == 2 else tuple(-c for c in pedal)
            own = turned(turn, (r.e2, 0.0, 0.0) if k < 2 else (0.0, 0.0, r.dz))
            self.body(r.ML[k], r.IL[k], _sum(carrier, own, (0.0, y, 0.0)), turn)
        self.body(r.MTt, r.IT, turned(body, (0.0, 0.0, r.e6)), times(body, about_z(q[ETA])))

    def body(self, mass: Any, inertia: Sequence[Any], place: Vector, turn: Matrix) -> None:
        """One body: its centre relative to the axle and its turn, both in roll axes."""
        centre = turned(self.frame, place)
        self.mech.kinetic(mass / 2 * self._square(_sum(self.axle, centre)))
        self.mech.potential(mass * self.robot.g * (self.axle[2] + centre[2]))
        self.mech.kinetic(sum(i / 2 * o * o for i, o in zip(inertia, self._spin(times(self.frame, turn)), strict=True)))
        weight = mass * self.robot.g
        self.push(centre, [-(weight * self.w[4]), -(weight * self.w[5]), 0.0])

    def _rates(self, values: Sequence[Any]) -> list[Any]:
        """Rates of numbers, some of them plain."""
        return [0.0 if isinstance(value, float) else along([value], self.q, self.v)[0] for value in values]

    def _square(self, place: Vector) -> Any:
        return sum(rate * rate for rate in self._rates(place))

    def _spin(self, turn: Matrix) -> Vector:
        """Angular velocity in the body's own axes, from R' dR/dt."""
        columns = list(zip(*turn, strict=True))
        rates = [self._rates(column) for column in columns]
        return _dot(columns[2], rates[1]), _dot(columns[0], rates[2]), _dot(columns[1], rates[0])

    def legs(self) -> None:
        """Both knees: the thigh's end and the shank's end are one point of the wheel's plane."""
        r, q = self.robot, self.q
        psi, *pitches = self._pitches()
        hip = self._pitched(q[BETA], (0.0, 0.0, r.e1))
        for k, side in ((0, 1.0), (1, -1.0)):
            pedal = self._pitched(psi, (side * r.e3x, 0.0, 0.0))
            knee = _sum(hip, self._pitched(pitches[k], (2.0 * r.e2, 0.0, 0.0)))
            other = _sum(pedal, self._pitched(pitches[2 + k], (0.0, 0.0, r.e4L)))
            self.mech.position_constraint(knee[0] - other[0])
            self.mech.position_constraint(knee[2] - other[2])

    def rolling(self) -> None:
        """The wheel's lowest point stands still: rate of the axle less that of turning about it."""
        q, v, r = self.q, self.v, self.robot
        self.mech.velocity_constraint(v[X_P] - r.Rw * v[WHEEL] * cos(q[ALPHA]))
        self.mech.velocity_constraint(v[Y_P] - r.Rw * v[WHEEL] * sin(q[ALPHA]))

    def push(self, arm: Vector, force: Sequence[Any]) -> None:
        """A force in axes that yaw, on a point given from the axle: its power is force times the point's rate."""
        point, pushing = _sum(self.axle, arm), turned(self.yaw, force)
        for place, part in zip(point, pushing, strict=True):
            for i, slope in enumerate(gradient(place, self.q)):
                self.forces[i] = self.forces[i] + part * slope

    def friction(self) -> None:
        """What turns into heat."""
        q, v, r = self.q, self.v, self.robot
        bearing = 2.0 * r.Dg * (v[BETA] - v[WHEEL])
        lost = {ALPHA: r.Dcor * v[ALPHA], BETA: bearing, WHEEL: r.Droll * v[WHEEL] - bearing, ETA: 2.0 * r.DTt * v[ETA]}
        lost |= {THETA + k: r.D[k] * v[THETA + k] for k in range(4)}
        self.mech.force({q[k]: -value for k, value in lost.items()}, kind="dissipative")


def with_basis(mech: Mechanism) -> Mechanism:
    """Give a declaration the minimal form's velocities as quasi-velocities: they fulfil all six constraints."""
    q = [mech.symbol(name) for name in NAMES]
    robot = Unicycle.of((*(mech.symbol(x.name) for x in PARAMETERS[:-1]), 1.0))
    psi = q[WHEEL] + robot.psi0
    hip = (robot.e1 * sin(q[BETA]), robot.e1 * cos(q[BETA]))
    by_pitch: list[Any] = [0.0] * N
    by_wheel: list[Any] = [0.0] * N
    by_pitch[BETA] = by_wheel[WHEEL] = 1.0
    by_wheel[X_P], by_wheel[Y_P] = robot.Rw * cos(q[ALPHA]), robot.Rw * sin(q[ALPHA])
    for k, side in ((0, robot.e3x), (1, -robot.e3x)):
        thigh, shank = q[BETA] + q[THETA + k], psi + q[THETA + 2 + k]
        t = (2.0 * robot.e2 * cos(thigh), -2.0 * robot.e2 * sin(thigh))
        s = (robot.e4L * sin(shank), robot.e4L * cos(shank))
        c = (side * cos(psi), -side * sin(psi))
        scale = 1.0 / _across(t, s)
        by_pitch[THETA + k], by_wheel[THETA + k] = -_across(hip, s) * scale - 1.0, _across(c, s) * scale
        by_pitch[THETA + 2 + k], by_wheel[THETA + 2 + k] = -_across(hip, t) * scale, _across(c, t) * scale - 1.0
    ones = {name: [1.0 if k == place else 0.0 for k in range(N)] for name, place in _PLAIN.items()}
    mech.basis(
        alpha_rate=ones["alpha"],
        gamma_rate=ones["gamma"],
        beta_rate=by_pitch,
        theta_w_rate=by_wheel,
        eta_rate=ones["eta"],
    )
    return mech


_PLAIN = {"alpha": ALPHA, "gamma": GAMMA, "eta": ETA}


def _across(a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
    return a[0] * b[1] - a[1] * b[0]
