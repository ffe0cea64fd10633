"""The car's six collected equations of motion as the source prints them, with its misprints or with them mended.

Source: US 2004/0039555 A1, equations (2.89) to (2.111), in its own abbreviations. Each is a residual, left side less
right side, linear in accelerations and multipliers: where it is mended it is the row M a - A' lambda - r of the
equations that are added up point by point (`redundant.saddle`). A misprint is a name of :data:`MISPRINTS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.vehicles.suspension.redundant import ETA, THETA, Z6, N, saddle, sided
from plants.suspension.parameters import Car

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.suspension.parameters import Axle

    Array = np.ndarray[Any, Any]

MISPRINTS = {
    "H1, H2": "sign of c2 in H1 = c2 sin θ - ..., H2 = c2 cos θ + ...: it must be -c2 in both",
    "a3 beta": "a3_β = -{...} sin β + a1 cos β: the minus belongs to both terms",
    "z0 lost": "ms z0″ cos(α+γ+η) cos β is lost on the way from (2.109) to λ2",
    "z0 rate": "z0′ (1 - β′)(mba + Σ msawa) sin β must vanish",
    "eta for theta": "maw1 sin(α+γ+η) in the bracket of z0″ must have θ",
    "sin for cos": "mw B3 {(α′+θ′) e3 sin(α+γ+θ)} must have cos",
    "coupling lost": "2 α′ β′ mb A2 sin β is missing",
    "A1": "b0 sin α - c0 cos α for b0 sin α + c0 cos α",
    "centrifugal": "β′² mb A1 cos β has the wrong sign",
    "theta for eta": "(α″+θ″) z6 and (α′+θ′)² z6 must have η",
    "eta rate": "η′ z6 in ms (2 α′ z6′ + η′ z6 + 2 η′ z6′) must be η″ z6",
    "stabiliser": "factor cos(γi+θi) + cos(γii+θii) must be cos(γn+θn) of the wheel's own arm",
    "difference": "{sin(γi+θi) - sin(γii+θii)} must be a sum",
}
"""Errors of substance by name, in the order of the printed list; what is wrong."""
PLACES = {
    "H1, H2": "(2.44), (2.48), (2.56), (2.62), (2.71), (2.95), (2.96), (2.104)-(2.106)",
    "a3 beta": "(2.86), (2.91), (2.92)",
    "z0 lost": "(2.110), (2.111)",
    "z0 rate": "(2.91), (2.92), (2.122)",
    "eta for theta": "(2.91)",
    "sin for cos": "(2.91), (2.70), (2.90)",
    "coupling lost": "(2.89) and its expanded form",
    "A1": "expanded form before (2.89), three times",
    "centrifugal": "expanded form before (2.89)",
    "theta for eta": "expanded form before (2.89)",
    "eta rate": "(2.96)",
    "stabiliser": "(2.66)",
    "difference": "(2.104)",
}
EQUATIONS = ("z0", "beta", "alpha", "eta", "theta", "z6")


@dataclass(frozen=True)
class _Corner:
    """A wheel's abbreviations: names as in the source, S and C with the letters of the angles that are added."""

    axle: Axle
    z6: float
    z6_rate: float
    z6_acc: float
    eta_rate: float
    eta_acc: float
    theta_rate: float
    theta_acc: float
    Sag: float
    Cag: float
    Sage: float
    Cage: float
    Sagt: float
    Cagt: float
    B1: float
    B2: float
    B3: float
    A4: float
    A6: float
    E1: float
    E2: float
    H1: float
    H2: float

    @property
    def msaw(self) -> float:
        return float(self.axle.ms + self.axle.ma + self.axle.mw)

    @property
    def msawc(self) -> float:
        return float(self.axle.ms * self.axle.c1 + (self.axle.ma + self.axle.mw) * self.axle.c2)

    @property
    def maw1(self) -> float:
        return float(self.axle.ma * self.axle.e1 + self.axle.mw * self.axle.e3)

    @property
    def maw2I(self) -> float:
        return float(self.axle.ma * self.axle.e1**2 + self.axle.mw * self.axle.e3**2 + self.axle.Iax)

    @property
    def msawI(self) -> float:
        x, s = self.axle, sin(self.axle.gam)
        upper = x.ms * (x.c1**2 + x.b2**2 - 2.0 * x.c1 * x.b2 * s)
        return float(self.maw2I + upper + (x.ma + x.mw) * (x.c2**2 + x.b2**2 - 2.0 * x.c2 * x.b2 * s))


def _corner(axle: Axle, alpha: float, k: int, q: Any, v: Any, a: Any, misprint: str) -> _Corner:
    eta, theta, z6 = q[ETA + k], q[THETA + k], q[Z6 + k]
    ag = alpha + axle.gam
    age, agt, gt, ge = ag + eta, ag + theta, axle.gam + theta, axle.gam + eta
    low = axle.b2 * sin(alpha)
    sign = 1.0 if misprint == "H1, H2" else -1.0
    return _Corner(
        axle,
        z6,
        v[Z6 + k],
        a[Z6 + k],
        v[ETA + k],
        a[ETA + k],
        v[THETA + k],
        a[THETA + k],
        Sag=sin(ag),
        Cag=cos(ag),
        Sage=sin(age),
        Cage=cos(age),
        Sagt=sin(agt),
        Cagt=cos(agt),
        B1=z6 * cos(age) + axle.c1 * cos(ag) + low,
        B2=axle.e1 * sin(agt) + axle.c2 * cos(ag) + low,
        B3=axle.e3 * sin(agt) + axle.c2 * cos(ag) + low,
        A4=axle.c1 * sin(ag) - axle.b2 * cos(alpha),
        A6=axle.c2 * sin(ag) - axle.b2 * cos(alpha),
        E1=axle.c1 * cos(eta) - axle.b2 * sin(ge),
        E2=axle.c1 * sin(eta) + axle.b2 * cos(ge),
        H1=sign * axle.c2 * sin(theta) - axle.b2 * cos(gt),
        H2=sign * axle.c2 * cos(theta) + axle.b2 * sin(gt),
    )


class CollectedCar:
    """The six equations at a state, for given accelerations and multipliers.

    Parameters
    ----------
    p : parameters of the plant
    x : [34]
        State in redundant coordinates.
    u, w : inputs and roads
    a, multipliers : [15], [8]
        Anything: the residuals are linear in them.
    misprint : str
        A name of :data:`MISPRINTS`; empty: all mended.
    """

    def __init__(self, p: Any, x: Any, u: Any, w: Any, a: Any, multipliers: Any, misprint: str = "") -> None:
        self.car, self.misprint = Car.of(p), misprint
        self.q, self.v, self.a, self.lam, self.u = x[:N], x[N + 4 :], a, multipliers, u
        self.z12, self.loads = x[N : N + 4], saddle(x, u, w, p).loads
        self.z0_acc, self.beta_acc, self.alpha_acc = a[:3]
        self.z0, self.beta, self.alpha = self.v[:3]
        angle = self.q[2]
        self.corners = [_corner(sided(self.car, k), angle, k, self.q, self.v, a, misprint) for k in range(4)]
        self.Sa, self.Ca, self.Sb, self.Cb = sin(angle), cos(angle), sin(self.q[1]), cos(self.q[1])
        minus = -1.0 if misprint == "A1" else 1.0
        self.A1 = self.car.b0 * self.Sa + self.car.c0 * self.Ca
        self.A1z = self.car.b0 * self.Sa + minus * self.car.c0 * self.Ca  # as it stands in the equation of z0
        self.A2 = self.car.b0 * self.Ca - self.car.c0 * self.Sa
        self.lift = self.z0_acc + self.car.g
        self.mba = self.car.mb * self.car.body_at

    def residuals(self) -> Array:
        """Return left less right side: z0, beta, alpha, eta_n, theta_n, z6_n [15]."""
        return np.array(
            [self._z0(), self._beta(), self._alpha(), *self._each(self._eta), *self._thetas(), *self._z6s()]
        )

    def _each(self, equation: Callable[[int, _Corner], float]) -> list[float]:
        return [equation(k, one) for k, one in enumerate(self.corners)]

    def _z0(self) -> float:
        mb, Sb, Cb, al, be = self.car.mb, self.Sb, self.Cb, self.alpha, self.beta
        coupled = 0.0 if self.misprint == "coupling lost" else 2.0 * al * be * mb * self.A2 * Sb
        turned = -1.0 if self.misprint == "centrifugal" else 1.0
        total = (mb + sum(c.msaw for c in self.corners)) * self.lift
        total += mb * Cb * self.A2 * self.alpha_acc - mb * Cb * self.A1z * al**2 - coupled
        total -= self.beta_acc * (self.mba * Cb + mb * self.A1z * Sb)
        total += be**2 * (self.mba * Sb - turned * mb * self.A1z * Cb)
        return float(total + sum(self._each(self._z0_of)) - sum(self.loads))

    def _z0_of(self, _: int, c: _Corner) -> float:
        x, al, be, Sb, Cb = c.axle, self.alpha, self.beta, self.Sb, self.Cb
        swing, acc = al + c.theta_rate, self.alpha_acc + c.theta_acc
        slid = self.misprint == "theta for eta"
        strut, strut_acc = (swing, acc) if slid else (al + c.eta_rate, self.alpha_acc + c.eta_acc)
        first = x.ms * c.Cage * c.z6_acc - 2.0 * (al + c.eta_rate) * c.z6_rate * x.ms * c.Sage
        first += acc * c.maw1 * c.Cagt - swing**2 * c.maw1 * c.Sagt
        first -= strut_acc * c.z6 * x.ms * c.Sage + strut**2 * c.z6 * x.ms * c.Cage
        first -= self.alpha_acc * c.msawc * c.Sag + al**2 * c.msawc * c.Cag
        first += self.alpha_acc * c.msaw * x.b2 * self.Ca - al**2 * c.msaw * x.b2 * self.Sa
        first -= self.beta_acc * c.msaw * x.a1
        second = c.z6_rate * x.ms * c.Cage + swing * c.maw1 * c.Cagt - (al + c.eta_rate) * c.z6 * x.ms * c.Sage
        second += -al * c.msawc * c.Sag + al * c.msaw * x.b2 * self.Ca - 0.5 * be * c.msaw * x.a1
        height = self._height(c)
        return float(first * Cb - 2.0 * be * second * Sb - (self.beta_acc * Sb + be**2 * Cb) * height)

    def _height(self, c: _Corner) -> float:
        x = c.axle
        return float(c.maw1 * c.Sagt + c.z6 * x.ms * c.Cage + c.msawc * c.Cag + c.msaw * x.b2 * self.Sa)

    def _beta(self) -> float:
        mb, al, be = self.car.mb, self.alpha, self.beta
        mbaI = mb * self.car.body_at**2 + self.car.Iby
        total = self.beta_acc * (mbaI + mb * self.A1**2) + 2.0 * be * al * mb * self.A1 * self.A2
        total += -self.alpha_acc * self.mba * self.A2 + al**2 * self.mba * self.A1
        total -= self.lift * (mb * self.A1 * self.Sb + self.mba * self.Cb)
        if self.misprint == "z0 rate":
            total += self.z0 * (1.0 - be) * (self.mba + sum(c.msaw * c.axle.a1 for c in self.corners)) * self.Sb
        return float(total + sum(self._each(self._beta_of)))

    def _beta_of(self, k: int, c: _Corner) -> float:
        x, al, be = c.axle, self.alpha, self.beta
        swing, turn = al + c.theta_rate, al + c.eta_rate
        wheel = c.Sagt if self.misprint == "sin for cos" else c.Cagt
        total = self.beta_acc * (c.msaw * x.a1**2 + x.ms * c.B1**2 + x.ma * c.B2**2 + x.mw * c.B3**2)
        rising = x.ms * c.B1 * (c.z6_rate * c.Cage - turn * c.z6 * c.Sage - al * c.A4)
        rising += x.ma * c.B2 * (swing * x.e1 * c.Cagt - al * c.A6) + x.mw * c.B3 * (swing * x.e3 * wheel - al * c.A6)
        total += 2.0 * be * rising
        total += -c.z6_acc * x.ms * x.a1 * c.Cage + 2.0 * c.z6_rate * turn * x.ms * x.a1 * c.Sage
        total += c.eta_acc * x.ms * c.z6 * x.a1 * c.Sage
        total += c.eta_rate * (2.0 * al + c.eta_rate) * x.ms * c.z6 * x.a1 * c.Cage
        total += -c.theta_acc * c.maw1 * x.a1 * c.Cagt
        total += c.theta_rate * (2.0 * al + c.theta_rate) * c.maw1 * x.a1 * c.Sagt
        slope = c.msawc * c.Sag - c.msaw * x.b2 * self.Ca + x.ms * c.z6 * c.Sage - c.maw1 * c.Cagt
        total += self.alpha_acc * x.a1 * slope + al**2 * x.a1 * self._height(c)
        wrong = c.maw1 * (c.Sage - c.Sagt) if self.misprint == "eta for theta" else 0.0
        total -= self.lift * self._height(c) * self.Sb + self.z0_acc * wrong * self.Sb
        total -= self.lift * c.msaw * x.a1 * self.Cb
        lean = (self.z12[k] * self.Ca + c.B3) * self.Sb
        arm = x.a1 * self.Cb
        return float(total + self.loads[k] * (lean - arm if self.misprint == "a3 beta" else lean + arm))

    def _alpha(self) -> float:
        car, be = self.car, self.beta
        inertia = car.mb * (car.b0**2 + car.c0**2) + car.Ibx
        total = self.lift * car.mb * self.A2 * self.Cb - self.beta_acc * self.mba * self.A2
        total += self.alpha_acc * inertia - be**2 * car.mb * self.A1 * self.A2
        return float(total + sum(self._each(self._alpha_of)))

    def _alpha_of(self, k: int, c: _Corner) -> float:
        x, al, be = c.axle, self.alpha, self.beta
        slope = c.maw1 * c.Cagt - c.z6 * x.ms * c.Sage - c.msawc * c.Sag + c.msaw * x.b2 * self.Ca
        total = self.lift * slope * self.Cb
        total += self.alpha_acc * (c.msawI + x.ms * c.z6 * (c.z6 + 2.0 * c.E1) - 2.0 * c.maw1 * c.H1)
        turning = c.eta_rate if self.misprint == "eta rate" else c.eta_acc
        total += x.ms * (2.0 * al * c.z6_rate + turning * c.z6 + 2.0 * c.eta_rate * c.z6_rate) * (c.z6 + c.E1)
        total -= 2.0 * al * (x.ms * c.z6 * c.eta_rate * c.E2 + c.theta_rate * c.maw1 * c.H2)
        total += c.z6_acc * x.ms * c.E2 - c.eta_rate**2 * x.ms * c.z6 * c.E2
        total += c.theta_acc * (c.maw2I - c.maw1 * c.H1) - c.theta_rate**2 * c.maw1 * c.H2
        total -= self.beta_acc * x.a1 * slope
        leaned = -x.ms * c.B1 * (c.z6 * c.Sage + c.A4) + x.ma * c.B2 * (x.e1 * c.Cagt - c.A6)
        total -= be**2 * (leaned + x.mw * c.B3 * (x.e3 * c.Cagt - c.A6))
        moved = -self.z12[k] * self.Sa + x.e3 * c.Cagt - x.c2 * c.Sag + x.b2 * self.Ca
        return float(total - self.loads[k] * moved * self.Cb)

    def _eta(self, k: int, c: _Corner) -> float:
        x, al = c.axle, self.alpha
        s, eta = c.z6 - x.d1, self.q[ETA + k]
        inside = c.eta_acc * c.z6 + 2.0 * c.eta_rate * c.z6_rate + self.alpha_acc * (c.z6 + c.E1)
        inside += 2.0 * al * c.z6_rate + self.beta_acc * x.a1 * c.Sage - self.lift * c.Sage * self.Cb
        inside += al**2 * c.E2 + self.beta**2 * c.B1 * c.Sage
        closing = -self.lam[k] * s * cos(eta) + self.lam[4 + k] * s * sin(eta)
        return float(x.ms * c.z6 * inside - closing)

    def _thetas(self) -> list[float]:
        return self._each(self._theta)

    def _theta(self, k: int, c: _Corner) -> float:
        x, theta = c.axle, self.q[THETA + k]
        total = c.theta_acc * c.maw2I + self.alpha_acc * (c.maw2I - c.maw1 * c.H1)
        total += -self.beta_acc * c.maw1 * x.a1 * c.Cagt + self.lift * c.maw1 * c.Cagt * self.Cb
        total += self.alpha**2 * c.maw1 * c.H2
        total -= self.beta**2 * (x.ma * c.B2 * x.e1 + x.mw * c.B3 * x.e3) * c.Cagt
        total += self._stabiliser(k)
        closing = self.lam[k] * x.e2 * sin(theta) + self.lam[4 + k] * x.e2 * cos(theta)
        return float(total - closing - self.loads[k] * x.e3 * c.Cagt * self.Cb)

    def _stabiliser(self, k: int) -> float:
        """The source's form, for mirrored sides: D = e0 {sin(left) + sin(right)}."""
        first = k - k % 2
        pair = [(self.corners[j].axle, self.q[THETA + j]) for j in (first, first + 1)]
        sines = [sin(x.gam + theta) for x, theta in pair]
        cosines = [cos(x.gam + theta) for x, theta in pair]
        e0, rate = pair[0][0].e0, self.car.kzf if first == 0 else self.car.kzr
        stretched = e0 * (sines[0] - sines[1] if self.misprint == "difference" else sines[0] + sines[1])
        factor = sum(cosines) if self.misprint == "stabiliser" else cosines[k - first]
        return float(rate * stretched * e0 * factor)

    def _z6s(self) -> list[float]:
        return self._each(self._z6)

    def _z6(self, k: int, c: _Corner) -> float:
        x, al, eta = c.axle, self.alpha, self.q[ETA + k]
        inside = c.z6_acc + self.alpha_acc * c.E2 - self.beta_acc * x.a1 * c.Cage - c.eta_rate**2 * c.z6
        inside += -(al**2) * (c.z6 + c.E1) - self.beta**2 * c.B1 * c.Cage - 2.0 * c.eta_rate * al * c.z6
        lift = self.car.g if self.misprint == "z0 lost" else self.lift
        inside += lift * c.Cage * self.Cb
        force = x.ks * (c.z6 - x.ls) + self.u[k] * self.car.worn[k] * c.z6_rate + self.u[4 + k]
        return float(x.ms * inside + force + self.lam[k] * sin(eta) + self.lam[4 + k] * cos(eta))


def exact(p: Any, x: Any, u: Any, w: Any, a: Sequence[float], multipliers: Sequence[float]) -> Array:
    """Return the same residuals [15] of the equations added up point by point: M a - A' lambda - r."""
    system = saddle(x, u, w, p)
    mass, rows = np.array(system.mass, float), np.array(system.rows, float)
    return np.asarray(mass @ np.array(a) - rows.T @ np.array(multipliers) - np.array(system.right, float))
