"""Energies, powers and entropy production.

Stored energy may depend on states alone, but a tyre's spring ends on the road, whose height is a disturbance. So the
plant's own energy counts each tyre as if it stood on level road; what a road that is not level changes of it is
supplied. On level road this is the energy of everything, and `stored` gives that on any road.
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import maximum
from plants.suspension.geometry import CarPose, Numbers, TyreContact, contacts, pose, strut_forces
from plants.suspension.motion import inertia

ENERGIES = ("kinetic", "weight", "struts", "tyres", "stabilisers")
_LEVEL = (0.0,) * 4


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], tyres as on level road."""
    return sum(_energies(x, (0.0,) * 8, p, unilateral=False), 0.0)


def energy_unilateral(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """The same with tyres that only push."""
    return sum(_energies(x, (0.0,) * 8, p, unilateral=True), 0.0)


def stored(x: Numbers, w: Numbers, p: Numbers, *, unilateral: bool = False) -> Numbers:
    """Return the energies of `ENERGIES` [J] on the road as it is."""
    return _energies(x, w, p, unilateral=unilateral)


def _energies(x: Numbers, w: Numbers, p: Numbers, *, unilateral: bool) -> Numbers:
    at = pose(x, p)
    car, axles, corners = at.car, at.car.axles, at.corners
    moving = (*x[10:], *x[7:10])
    matrix = inertia(at)
    kinetic = 0.5 * sum(
        a * sum((m * b for m, b in zip(row, moving, strict=True)), 0.0) for a, row in zip(moving, matrix, strict=True)
    )
    along = sum((axle.a1 * c.mass for axle, c in zip(axles, corners, strict=True)), car.mb * car.body_at)
    heights = sum((c.u for c in corners), car.mb * at.body_u)
    mass = sum((c.mass for c in corners), car.mb)
    weight = car.g * (mass * at.z0 - along * at.sin_pitch + heights * at.cos_pitch)
    struts = 0.5 * sum(
        (axle.ks * (c.link.z6 - axle.ls) * (c.link.z6 - axle.ls) for axle, c in zip(axles, corners, strict=True)), 0.0
    )
    tyres = 0.0
    for axle, tyre in zip(axles, contacts(at, w[:4], w[4:], unilateral=unilateral), strict=True):
        pressed = tyre.z12 - axle.lw
        tyres = tyres + 0.5 * tyre.spring * pressed
    bars = 0.0
    for k, rate in ((0, car.kzf), (2, car.kzr)):
        apart = axles[k].e0 * (corners[k].sin_psi - corners[k + 1].sin_psi)
        bars = bars + 0.5 * rate * apart * apart
    return kinetic, weight, struts, tyres, bars


def dissipation(x: Numbers, u: Numbers, w: Numbers, p: Numbers, *, unilateral: bool = False) -> tuple[Numbers, Numbers]:
    """Return the power that each damper and each tyre turns into heat [W]: two tuples of 4.

    A tyre that only pushes gives back what its spring holds while it stays on the road; the rest is counted as heat at
    once, also what is left in it when it lifts.
    """
    at = pose(x, p)
    dampers = tuple(c * worn * v * v for c, worn, v in zip(u[:4], at.car.worn, at.stroke_rates, strict=True))
    tyres = contacts(at, w[:4], w[4:], unilateral=unilateral)
    return dampers, tuple(_lost(at, k, tyre, unilateral=unilateral) for k, tyre in enumerate(tyres))


def _lost(at: CarPose, k: int, tyre: TyreContact, *, unilateral: bool) -> Any:
    if not unilateral:
        return at.car.axles[k].cw * tyre.z12_rate * tyre.z12_rate
    return maximum((tyre.push - tyre.spring) * tyre.z12_rate, 0.0)  # never negative but for rounding


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat of dampers and tyres."""
    dampers, tyres = dissipation(x, u, w, p)
    return sum(dampers, 0.0) + sum(tyres, 0.0)


def entropy_rate_unilateral(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """The same with tyres that only push."""
    dampers, tyres = dissipation(x, u, w, p, unilateral=True)
    return sum(dampers, 0.0) + sum(tyres, 0.0)


def _input(at: CarPose, u: Numbers, w: Numbers, tyres: tuple[TyreContact, ...]) -> Any:
    """Power of roads and active forces [W]: with `stored` and `dissipation` it closes the balance."""
    road = sum((tyre.load * rate for tyre, rate in zip(tyres, w[4:], strict=True)), 0.0)
    return road - sum((f * v for f, v in zip(u[4:], at.stroke_rates, strict=True)), 0.0)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of roads and active forces [W], less what goes into tyres because the road is not level."""
    return _supplied(x, u, w, p, unilateral=False)


def supplied_power_unilateral(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """The same with tyres that only push."""
    return _supplied(x, u, w, p, unilateral=True)


def _supplied(x: Numbers, u: Numbers, w: Numbers, p: Numbers, *, unilateral: bool) -> Any:
    at = pose(x, p)
    tyres = contacts(at, w[:4], w[4:], unilateral=unilateral)
    level = contacts(at, _LEVEL, _LEVEL, unilateral=unilateral)
    kept = sum((a.spring * a.z12_rate - b.spring * b.z12_rate for a, b in zip(tyres, level, strict=True)), 0.0)
    return _input(at, u, w, tyres) - kept


def strut_force(x: Numbers, u: Numbers, p: Numbers) -> Numbers:
    """Return the forces along the struts [N]."""
    return strut_forces(pose(x, p), u)
