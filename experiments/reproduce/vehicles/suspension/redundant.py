"""The same car in redundant coordinates with multipliers: nothing is taken from the minimal form.

Coordinates z0, beta, alpha, eta_n, theta_n, z6_n; the loop arm - strut - body is closed by two constraints per wheel,

    e2 cos(theta) + s sin(eta) = 0,    e2 sin(theta) - s cos(eta) = h,    s = z6 - d1, h = c1 - c2,

with multipliers lambda1, lambda2. The contact's coordinate z12 has no mass and follows its first-order equation.
Masses and forces are added up point by point: every point mass gives M += m J'J and r -= m J'(b + g), its Jacobian
and bias acceleration in pitched axes. The right side is written with its own signs: b2, gam, e0, e1, e2, e3 are
negative there.

State: 15 coordinates, z12_i .. z12_iv, 15 rates. Constraints differentiated twice drift; `kappa` of Baumgarte [1/s]
takes them back: c'' = -2 kappa c' - kappa^2 c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from plants.core.elementary import cos, sin
from plants.mechanics.forms.solving import dot
from plants.suspension.parameters import LEFT, Axle, Car

Numbers = tuple[Any, ...]
N, WHEELS = 15, 4
ETA, THETA, Z6 = 3, 7, 11  # first of each kind among the coordinates


def sided(car: Car, k: int) -> Axle:
    """Return the numbers of one corner with the signs of its side."""
    axle = car.axles[k]
    if LEFT[k]:
        return axle
    return replace(axle, **{name: -getattr(axle, name) for name in ("b2", "gam", "e0", "e1", "e2", "e3")})


def constraints(
    car: Car, q: Numbers, v: Numbers, kappa: Any
) -> tuple[list[list[Any]], list[Any], list[Any], list[Any]]:
    """Return rows, targets, residuals and their rates: the first constraint of all wheels, then the second."""
    both: tuple[list[Any], list[Any]] = ([], [])
    for k in range(WHEELS):
        axle = sided(car, k)
        s, h = q[Z6 + k] - axle.d1, axle.c1 - axle.c2
        st, ct = axle.e2 * sin(q[THETA + k]), axle.e2 * cos(q[THETA + k])
        se, ce = sin(q[ETA + k]), cos(q[ETA + k])
        theta, eta, slide = v[THETA + k], v[ETA + k], v[Z6 + k]
        places = (ETA + k, THETA + k, Z6 + k)
        first = -(theta * theta * ct) + 2.0 * eta * slide * ce - eta * eta * s * se
        second = theta * theta * st - 2.0 * eta * slide * se - eta * eta * s * ce
        both[0].append((places, (-s * ce, st, -se), first, -(ct + s * se)))
        both[1].append((places, (s * se, ct, -ce), second, st - s * ce - h))
    rows, target, gaps, speeds = [], [], [], []
    for places, slopes, wanted, gap in (*both[0], *both[1]):
        row: list[Any] = [0.0] * N
        for place, slope in zip(places, slopes, strict=True):
            row[place] = slope
        speed = sum((slope * v[place] for place, slope in zip(places, slopes, strict=True)), 0.0)
        rows.append(row)
        target.append(wanted - 2.0 * kappa * speed - kappa * kappa * gap)
        gaps.append(gap)
        speeds.append(speed)
    return rows, target, gaps, speeds


class CarSums:
    """Sums over the point masses."""

    def __init__(self, car: Car, q: Numbers, v: Numbers) -> None:
        self.q, self.v, self.g = q, v, car.g
        self.mass: list[list[Any]] = [[0.0] * N for _ in range(N)]
        self.right: list[Any] = [0.0] * N
        self.car = car
        self.sb, self.cb, self.sa, self.ca = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])

    def body(self) -> None:
        """Mass and both inertias of the body."""
        car = self.car
        u, v = car.b0 * self.sa + car.c0 * self.ca, car.b0 * self.ca - car.c0 * self.sa
        self._point(car.mb, car.body_at, u, v, {}, 0.0, 0.0, 0.0, 0.0)
        self.mass[1][1] = self.mass[1][1] + car.Iby
        self.mass[2][2] = self.mass[2][2] + car.Ibx

    def corner(self, k: int, axle: Axle) -> None:
        """Masses of strut, arm and wheel, inertia of the arm."""
        hinged, tilt = self.q[2] + axle.gam, axle.b2
        strut, arm = hinged + self.q[ETA + k], hinged + self.q[THETA + k]
        ss, cs, sg, cg = sin(strut), cos(strut), sin(hinged), cos(hinged)
        z6, z6_rate, eta_rate = self.q[Z6 + k], self.v[Z6 + k], self.v[ETA + k]
        u = z6 * cs + axle.c1 * cg + tilt * self.sa
        v = tilt * self.ca - axle.c1 * sg - z6 * ss
        slopes = {ETA + k: (-z6 * ss, -z6 * cs), Z6 + k: (cs, -ss)}
        u_rate, v_rate = -z6 * ss * eta_rate + cs * z6_rate, -z6 * cs * eta_rate - ss * z6_rate
        turn = eta_rate * eta_rate
        u2 = -z6 * cs * turn - 2.0 * ss * eta_rate * z6_rate
        v2 = z6 * ss * turn - 2.0 * cs * eta_rate * z6_rate
        self._point(axle.ms, axle.a1, u, v, slopes, u_rate, v_rate, u2, v2)
        sw, cw, rate = sin(arm), cos(arm), self.v[THETA + k]
        for m, e in ((axle.ma, axle.e1), (axle.mw, axle.e3)):
            u, v = e * sw + axle.c2 * cg + tilt * self.sa, e * cw - axle.c2 * sg + tilt * self.ca
            slope = (e * cw, -e * sw)
            moved = (slope[0] * rate, slope[1] * rate)
            self._point(m, axle.a1, u, v, {THETA + k: slope}, *moved, -e * sw * rate * rate, -e * cw * rate * rate)
        for i in (2, THETA + k):
            for j in (2, THETA + k):
                self.mass[i][j] = self.mass[i][j] + axle.Iax

    def _point(
        self, m: Any, a: Any, u: Any, v: Any, slopes: dict[int, Numbers], u_own: Any, v_own: Any, u2: Any, v2: Any
    ) -> None:
        """One point mass: place (a, u, v), slopes (u, v) by its own coordinates, rates and accelerations from these."""
        beta, alpha = self.v[1], self.v[2]
        columns: dict[int, Numbers] = {0: (-self.sb, 0.0, self.cb), 1: (u, 0.0, -a), 2: (0.0, -u, v)}
        columns |= {j: (0.0, by[1], by[0]) for j, by in slopes.items()}
        u_rate = v * alpha + u_own
        bias = (
            2.0 * u_rate * beta - a * beta * beta - self.g * self.sb,
            -v * alpha * alpha - 2.0 * u_own * alpha + v2,
            -u * alpha * alpha + 2.0 * v_own * alpha + u2 - u * beta * beta + self.g * self.cb,
        )
        for i, left in columns.items():
            self.right[i] = self.right[i] - m * dot(left, bias)
            for j, right in columns.items():
                self.mass[i][j] = self.mass[i][j] + m * dot(left, right)

    def tyre(self, k: int, axle: Axle, z12: Any, rate: Any) -> tuple[Any, Any]:
        """Force of the road and rate of z12, in which the road's height is contained."""
        arm, hinged = self.q[2] + axle.gam + self.q[THETA + k], self.q[2] + axle.gam
        u = axle.e3 * sin(arm) + axle.c2 * cos(hinged) + axle.b2 * self.sa
        v = axle.e3 * cos(arm) - axle.c2 * sin(hinged) + axle.b2 * self.ca
        slopes = {
            0: 1.0,
            1: -((u + z12 * self.ca) * self.sb + axle.a1 * self.cb),
            2: (v - z12 * self.sa) * self.cb,
            THETA + k: axle.e3 * cos(arm) * self.cb,
        }
        upright = self.ca * self.cb
        z12_rate = (rate - sum((by * self.v[j] for j, by in slopes.items()), 0.0)) / upright
        load = (axle.kw * (z12 - axle.lw) + axle.cw * z12_rate) / upright
        for j, by in slopes.items():
            self.right[j] = self.right[j] + load * by
        return load, z12_rate

    def strut_force(self, k: int, axle: Axle, damping: Any, active: Any) -> None:
        """Spring, damper and active force along the strut."""
        force = axle.ks * (self.q[Z6 + k] - axle.ls) + damping * self.v[Z6 + k] + active
        self.right[Z6 + k] = self.right[Z6 + k] - force

    def stabilisers(self, car: Car) -> None:
        """Springs between the heights of the links, front and rear."""
        for first, rate in ((0, car.kzf), (2, car.kzr)):
            sides = [(k, sided(car, k)) for k in (first, first + 1)]
            heights = [s.e0 * sin(s.gam + self.q[THETA + k]) + s.c2 * cos(s.gam) for k, s in sides]
            pull = rate * (heights[0] - heights[1])
            for sign, (k, s) in zip((-1.0, 1.0), sides, strict=True):
                moment = sign * pull * s.e0 * cos(s.gam + self.q[THETA + k])
                self.right[THETA + k] = self.right[THETA + k] + moment


@dataclass(frozen=True)
class RedundantCar:
    """M a - A' lam = r, A a = g: everything about the accelerations.

    Attributes
    ----------
    mass : [15][15]
    right : [15]
    rows : [8][15]
        First constraints of all wheels, then the second ones.
    target : [8]
    gaps, speeds : [8]
        Constraints and their rates.
    z12_rates, loads : [4]
    """

    mass: list[list[Any]]
    right: list[Any]
    rows: list[list[Any]]
    target: list[Any]
    gaps: list[Any]
    speeds: list[Any]
    z12_rates: list[Any]
    loads: list[Any]


def saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers, kappa: Any = 0.0) -> RedundantCar:
    """Return the equations at a state [34]."""
    car = Car.of(p)
    system = CarSums(car, x[:N], x[N + 4 :])
    system.body()
    loads, z12_rates = [], []
    for k in range(WHEELS):
        axle = sided(car, k)
        system.corner(k, axle)
        load, rate = system.tyre(k, axle, x[N + k], w[4 + k])
        loads.append(load)
        z12_rates.append(rate)
        system.strut_force(k, axle, u[k] * car.worn[k], u[4 + k])
    system.stabilisers(car)
    rows, target, gaps, speeds = constraints(car, x[:N], x[N + 4 :], kappa)
    return RedundantCar(system.mass, system.right, rows, target, gaps, speeds, z12_rates, loads)
