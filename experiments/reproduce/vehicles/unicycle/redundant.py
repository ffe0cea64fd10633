"""The same unicycle in nine coordinates with four multipliers: nothing is taken from the minimal form.

Coordinates alpha, gamma, beta, theta_w, theta_1 .. theta_4, eta. Masses and forces are added up part by part: places
are sums of segments (lx, lz), each carried at a pitch that is a sum of coordinates; each part adds m J'J + J_w' I J_w
to M and m J'b + J_w' (I c + w x I w) to h, with the angular velocity in the part's own axes.

Both legs are closed by two constraints each, twice differentiated; `kappa` of Baumgarte [1/s] takes drift back: c'' =
-2 kappa c' - kappa^2 c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, sin
from plants.mechanics.forms.solving import dot
from plants.unicycle.parameters import Unicycle

if TYPE_CHECKING:
    from plants.unicycle.parameters import Inertia


Numbers = tuple[Any, ...]
N = 9
ALPHA, GAMMA, BETA, WHEEL, THETA, ETA = 0, 1, 2, 3, 4, 8
BODY, ZU, ZZ = (BETA,), (BETA, THETA), (BETA, THETA + 1)
PSI, PR, PL = (WHEEL,), (WHEEL, THETA + 2), (WHEEL, THETA + 3)
"""Coordinates that add up to the pitch of body, right and left thigh, crank, right and left shank."""
Segment = tuple[Any, Any, tuple[int, ...]]


@dataclass(frozen=True)
class _LegChain:
    """A sum of segments: place, slopes by coordinate, and acceleration at rates that stay."""

    x: Any
    z: Any
    slopes: dict[int, tuple[Any, Any]]
    bias: tuple[Any, Any]


class UnicycleSums:
    """Sums over the parts: mass matrix, h, slopes of the potential energy, rows of horizontal momentum."""

    def __init__(self, robot: Unicycle, q: Numbers, v: Numbers) -> None:
        self.robot, self.q, self.v = robot, q, v
        self.sg, self.cg = sin(q[GAMMA]), cos(q[GAMMA])
        self.mass: list[list[Any]] = [[0.0] * N for _ in range(N)]
        self.bias: list[Any] = [0.0] * N
        self.weight: list[Any] = [0.0] * N
        self.given: list[Any] = [0.0] * N
        self.ahead: list[Any] = [0.0] * N  # rows of horizontal momentum
        self.left: list[Any] = [0.0] * N

    def _pitch(self, angles: tuple[int, ...]) -> tuple[Any, Any]:
        pitch, rate = sum(self.q[k] for k in angles), sum(self.v[k] for k in angles)
        return (pitch + self.robot.psi0 if angles[0] == WHEEL else pitch), rate

    def chain(self, *segments: Segment) -> _LegChain:
        """Return a sum of segments from the axle."""
        x: Any = 0.0
        z: Any = 0.0
        bx: Any = 0.0
        bz: Any = 0.0
        slopes: dict[int, tuple[Any, Any]] = {}
        for lx, lz, angles in segments:
            pitch, rate = self._pitch(angles)
            sx, sz = lx * cos(pitch) + lz * sin(pitch), lz * cos(pitch) - lx * sin(pitch)
            x, z, bx, bz = x + sx, z + sz, bx - sx * rate * rate, bz - sz * rate * rate
            for k in angles:
                a, b = slopes.get(k, (0.0, 0.0))
                slopes[k] = (a + sz, b - sx)
        return _LegChain(x, z, slopes, (bx, bz))

    def parts(self) -> None:
        """All seven."""
        r = self.robot
        self._part(r.MW, 0.0, self.chain(), r.IW, None)
        self._part(r.MB, 0.0, self.chain((0.0, r.e5, BODY)), r.IB, BODY)
        for k, (y, angles) in enumerate(((-r.k1, ZU), (r.k1, ZZ))):
            self._part(r.ML[k], y, self.chain((0.0, r.e1, BODY), (r.e2, 0.0, angles)), r.IL[k], angles)
        for k, (y, side, angles) in enumerate(((-r.yk1, 1.0, PR), (r.yk1, -1.0, PL)), 2):
            self._part(r.ML[k], y, self.chain((side * r.e3x, 0.0, PSI), (0.0, r.dz, angles)), r.IL[k], angles)
        self._part(r.MTt, 0.0, self.chain((0.0, r.e6, BODY)), r.IT, BODY, table=True)

    def _part(
        self, m: Any, y: Any, chain: _LegChain, inertia: Inertia, angles: tuple[int, ...] | None, *, table: bool = False
    ) -> None:
        slopes, b = self.velocity(y, chain)
        for i, left in slopes.items():
            self.bias[i] = self.bias[i] + m * dot(left, b)
            self.weight[i] = self.weight[i] + m * self.robot.g * (self.sg * left[1] + self.cg * left[2])
            self.ahead[i] = self.ahead[i] + m * left[0]
            self.left[i] = self.left[i] + m * (self.cg * left[1] - self.sg * left[2])
            for j, right in slopes.items():
                self.mass[i][j] = self.mass[i][j] + m * dot(left, right)
        if angles is None:
            self._turning(inertia, self.q[WHEEL], self.v[WHEEL], (WHEEL,), table=False)
        else:
            self._turning(inertia, *self._pitch(angles), angles, table=table)

    def velocity(self, y: Any, chain: _LegChain) -> tuple[dict[int, Numbers], Numbers]:
        """Columns of the velocity by the rates, and acceleration at rates that stay: dJ/dt v + omega x v."""
        sg, cg, radius = self.sg, self.cg, self.robot.Rw
        yaw, roll = self.v[ALPHA], self.v[GAMMA]
        x, high = chain.x, radius + chain.z
        columns: dict[int, Numbers] = {ALPHA: (sg * high - cg * y, cg * x, -sg * x), GAMMA: (0.0, -high, y)}
        columns |= {k: (a, 0.0, b) for k, (a, b) in chain.slopes.items()}
        ahead, _, up = columns.get(WHEEL, (0.0, 0.0, 0.0))
        columns[WHEEL] = (ahead + radius, 0.0, up)
        velocity = [sum((column[i] * self.v[k] for k, column in columns.items()), 0.0) for i in range(3)]
        moved = [sum((slope[i] * self.v[k] for k, slope in chain.slopes.items()), 0.0) for i in range(2)]
        turned = (
            chain.bias[0] + yaw * (cg * roll * high + sg * moved[1] + sg * roll * y),
            yaw * (cg * moved[0] - sg * roll * x) - roll * moved[1],
            chain.bias[1] - yaw * (cg * roll * x + sg * moved[0]),
        )
        spun = _crossed((roll, yaw * sg, yaw * cg), tuple(velocity))
        return columns, tuple(a + b for a, b in zip(turned, spun, strict=True))

    def _turning(self, inertia: Inertia, pitch: Any, rate: Any, angles: tuple[int, ...], *, table: bool) -> None:
        """Angular velocity and its bias in the part's axes."""
        s, c, sg, cg, yaw, roll = sin(pitch), cos(pitch), self.sg, self.cg, self.v[ALPHA], self.v[GAMMA]
        columns: dict[int, Numbers] = {ALPHA: (-s * cg, sg, c * cg), GAMMA: (c, 0.0, s)}
        columns |= dict.fromkeys(angles, (0.0, 1.0, 0.0))
        bias: Numbers = (
            -s * rate * roll - c * rate * cg * yaw + s * sg * roll * yaw,
            cg * roll * yaw,
            c * rate * roll - s * rate * cg * yaw - c * sg * roll * yaw,
        )
        if table:
            columns, bias = self._on_table(columns, bias)
        omega = [sum((column[i] * self.v[k] for k, column in columns.items()), 0.0) for i in range(3)]
        spun = _crossed(tuple(omega), tuple(i * o for i, o in zip(inertia, omega, strict=True)))
        demanded = tuple(i * b + e for i, b, e in zip(inertia, bias, spun, strict=True))
        for i, left in columns.items():
            self.bias[i] = self.bias[i] + dot(left, demanded)
            for j, right in columns.items():
                turned = sum((moment * a * b for moment, a, b in zip(inertia, left, right, strict=True)), 0.0)
                self.mass[i][j] = self.mass[i][j] + turned

    def _on_table(self, columns: dict[int, Numbers], bias: Numbers) -> tuple[dict[int, Numbers], Numbers]:
        """Turn all by eta about the body's axis, and add the table's own turn."""
        s, c, spin = sin(self.q[ETA]), cos(self.q[ETA]), self.v[ETA]
        body = [sum((column[i] * self.v[k] for k, column in columns.items()), 0.0) for i in range(2)]

        def turned(v: Numbers) -> Numbers:
            return (c * v[0] + s * v[1], c * v[1] - s * v[0], v[2])

        more = (spin * (c * body[1] - s * body[0]), -spin * (c * body[0] + s * body[1]), 0.0)
        fresh = {k: turned(column) for k, column in columns.items()} | {ETA: (0.0, 0.0, 1.0)}
        return fresh, tuple(a + b for a, b in zip(turned(bias), more, strict=True))


def _crossed(a: Numbers, b: Numbers) -> Numbers:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@dataclass(frozen=True)
class RedundantUnicycle:
    """M a - A' lam = r, A a = g: everything about the accelerations.

    Attributes
    ----------
    mass : [9][9]
    bias, weight, given : [9]
        h, slopes of the potential energy, and generalised forces: r = given - bias - weight.
    rows : [4][9]
    target : [4]
    gaps, speeds : [4]
        Constraints [m] and their rates.
    """

    mass: list[list[Any]]
    bias: list[Any]
    weight: list[Any]
    given: list[Any]
    rows: list[list[Any]]
    target: list[Any]
    gaps: list[Any]
    speeds: list[Any]

    @property
    def right(self) -> list[Any]:
        """r."""
        return [q - h - g for q, h, g in zip(self.given, self.bias, self.weight, strict=True)]


def saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers, kappa: Any = 0.0) -> RedundantUnicycle:
    """Return the equations at a state [20]."""
    system = _ForcedSums(Unicycle.of(p), tuple(x[:N]), tuple(x[N : 2 * N]))
    system.parts()
    system.without_rolling_terms()
    system.motors_and_friction(u)
    system.push_and_slope(w)
    rows, target, gaps, speeds = system.closures(kappa)
    return RedundantUnicycle(system.mass, system.bias, system.weight, system.given, rows, target, gaps, speeds)


class _ForcedSums(UnicycleSums):
    """The sums, with forces and closures."""

    def without_rolling_terms(self) -> None:
        """Take from h, as far as `nh` is not 1, what the source leaves out."""
        r = self.robot
        sideways = sum((a * b for a, b in zip(self.left, self.v, strict=True)), 0.0)
        lost = (1.0 - r.nh) * r.Rw * sideways
        self.bias[ALPHA] = self.bias[ALPHA] - lost * self.v[WHEEL]
        self.bias[WHEEL] = self.bias[WHEEL] + lost * self.v[ALPHA]

    def motors_and_friction(self, u: Numbers) -> None:
        """As the source has them: tau1 on theta_3, -tau2 on theta_4, tau3 on eta."""
        r, v, q = self.robot, self.v, self.given
        bearing = 2.0 * r.Dg * (v[BETA] - v[WHEEL])
        q[ALPHA] = q[ALPHA] - r.Dcor * v[ALPHA]
        q[BETA] = q[BETA] - bearing
        q[WHEEL] = q[WHEEL] + bearing - r.Droll * v[WHEEL]
        for k, torque in enumerate((0.0, 0.0, u[0], -u[1])):
            q[THETA + k] = q[THETA + k] + torque - r.D[k] * v[THETA + k]
        q[ETA] = q[ETA] + u[2] - 2.0 * r.DTt * v[ETA]

    def push_and_slope(self, w: Numbers) -> None:
        """A force on the body's axis, and a frame that is accelerated as on a slope."""
        columns, _ = self.velocity(0.0, self.chain((0.0, w[3], BODY)))
        force = (w[0], self.cg * w[1] + self.sg * w[2], self.cg * w[2] - self.sg * w[1])
        for k, column in columns.items():
            self.given[k] = self.given[k] + dot(column, force)
        for k in range(N):
            self.given[k] = self.given[k] - self.robot.g * (w[4] * self.ahead[k] + w[5] * self.left[k])

    def closures(self, kappa: Any) -> tuple[list[list[Any]], list[Any], list[Any], list[Any]]:
        """Rows, targets, residuals and their rates: right leg along x' and z', then the left one."""
        r = self.robot
        rows, target, gaps, speeds = [], [], [], []
        for side, thigh, shank in ((-1.0, ZU, PR), (1.0, ZZ, PL)):
            chain = self.chain(
                (0.0, r.e1, BODY), (2.0 * r.e2, 0.0, thigh), (side * r.e3x, 0.0, PSI), (0.0, -r.e4L, shank)
            )
            for i, gap in enumerate((chain.x, chain.z)):
                row = [chain.slopes[k][i] if k in chain.slopes else 0.0 for k in range(N)]
                speed = sum((slope * rate for slope, rate in zip(row, self.v, strict=True)), 0.0)
                rows.append(row)
                target.append(-chain.bias[i] - 2.0 * kappa * speed - kappa * kappa * gap)
                gaps.append(gap)
                speeds.append(speed)
        return rows, target, gaps, speeds
