"""The same unicycle in nine coordinates with four multipliers: nothing is taken from the minimal form.

Coordinates alpha, gamma, beta, theta_w, theta_1 .. theta_4, eta; masses are added up in `redundant_sums`. Both legs are
closed by two constraints each, twice differentiated; `kappa` of Baumgarte [1/s] takes drift back:
c'' = -2 kappa c' - kappa^2 c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.mechanics.forms.solving import dot
from plants.unicycle.parameters import Unicycle
from plants.unicycle.redundant_sums import ALPHA, BETA, BODY, ETA, GAMMA, PL, PR, PSI, THETA, WHEEL, ZU, ZZ, N, Sums

__all__ = ["ALPHA", "BETA", "ETA", "GAMMA", "THETA", "WHEEL", "N", "Saddle", "saddle"]

Numbers = tuple[Any, ...]


@dataclass(frozen=True)
class Saddle:
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


def saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers, kappa: Any = 0.0) -> Saddle:
    """Return the equations at a state [20]."""
    system = _System(Unicycle.of(p), tuple(x[:N]), tuple(x[N : 2 * N]))
    system.parts()
    system.without_rolling_terms()
    system.motors_and_friction(u)
    system.push_and_slope(w)
    rows, target, gaps, speeds = system.closures(kappa)
    return Saddle(system.mass, system.bias, system.weight, system.given, rows, target, gaps, speeds)


class _System(Sums):
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
