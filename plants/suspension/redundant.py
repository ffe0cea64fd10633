"""The same car in redundant coordinates with multipliers: nothing is taken from the minimal form.

Coordinates z0, beta, alpha, eta_n, theta_n, z6_n; the loop arm - strut - body is closed by two constraints per wheel,

    e2 cos(theta) + s sin(eta) = 0,    e2 sin(theta) - s cos(eta) = h,    s = z6 - d1, h = c1 - c2,

with multipliers lambda1, lambda2. The contact's coordinate z12 has no mass and follows its first-order equation. Every
point mass gives M += m J'J and r -= m J'(b + g): its Jacobian and bias acceleration in pitched axes. The right side is
written with its own signs: b2, gam, e0, e1, e2, e3 are negative there.

State: 15 coordinates, z12_i .. z12_iv, 15 rates. Constraints differentiated twice drift; `kappa` of Baumgarte [1/s]
takes them back: c'' = -2 kappa c' - kappa^2 c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.suspension.parameters import Car
from plants.suspension.redundant_constraints import WHEELS, N, constraints, sided
from plants.suspension.redundant_sums import Sums

Numbers = tuple[Any, ...]


@dataclass(frozen=True)
class Saddle:
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


def saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers, kappa: Any = 0.0) -> Saddle:
    """Return the equations at a state [34]."""
    car = Car.of(p)
    system = Sums(car, x[:N], x[N + 4 :])
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
    return Saddle(system.mass, system.right, rows, target, gaps, speeds, z12_rates, loads)
