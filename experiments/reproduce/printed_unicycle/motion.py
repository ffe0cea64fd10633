"""The unicycle in motion by this derivation: loops closed, friction, motors, push; on floats, arrays, traced numbers.

Thighs and shanks follow from pitch and wheel. Runs are under the control law of the source, compiled as any plant is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.reproduce.printed_unicycle import reference
from experiments.reproduce.printed_unicycle.geometry import BODIES, COORDINATES, VECTORS, N, expansion
from plants.core.elementary import atan2, cos, sin, sqrt
from plants.core.linear_solve import solve_symmetric
from plants.core.motion.trajectory import DivergedError
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Numbers = Sequence[Any]


MINIMAL = ("alpha", "gamma", "beta", "theta_w", "eta")
_AT = {name: COORDINATES.index(name) for name in COORDINATES}
_SIDES = ((1, 3, 1.0), (2, 4, -1.0))  # thigh, shank, side of the crank


@dataclass(frozen=True, eq=False)
class Posture:
    """Coordinates [10] that close the loops, rates u [10]; u = basis v and u' = basis v' + rest for minimal rates v."""

    q: list[Any]
    u: list[Any]
    basis: list[list[Any]]
    rest: list[Any]


def posture(y: Numbers, p: Mapping[str, Any]) -> Posture:
    """Close both loops, knees in front."""
    alpha, gamma, beta, wheel, eta = y[:5]
    psi = wheel + p["psi0"]
    legs = [_leg(beta, psi, side, p) for _, _, side in _SIDES]
    q = [alpha, gamma, beta, wheel, psi, *(thigh - beta for thigh, _ in legs), *(s - psi for _, s in legs), eta]
    _, slopes, second = expansion("closures", q, p)
    rates = dict(zip(MINIMAL, range(5), strict=True)) | {"psi": 3}
    basis = [[1.0 if rates.get(name) == k else 0.0 for k in range(5)] for name in COORDINATES]
    for number, (thigh, shank, _) in enumerate(_SIDES):
        for k in (2, 3):
            closing = [-dot(row, [line[k] for line in basis]) for row in slopes[2 * number : 2 * number + 2]]
            _put(basis, k, number, (thigh, shank), slopes, closing)
    u = [dot(row, y[5:10]) for row in basis]
    rest = [[0.0] for _ in COORDINATES]
    for number, (thigh, shank, _) in enumerate(_SIDES):
        closing = [-dot(u, [dot(row, u) for row in table]) for table in second[2 * number : 2 * number + 2]]
        _put(rest, 0, number, (thigh, shank), slopes, closing)
    return Posture(q, u, basis, [row[0] for row in rest])


def _put(
    table: list[list[Any]], column: int, number: int, pair: tuple[int, int], slopes: list[Any], right: list[Any]
) -> None:
    """Solve a side's two closure equations for its thigh and shank."""
    thigh, shank = (_AT[f"theta{k}"] for k in pair)
    (a, b), (c, d) = ([row[thigh], row[shank]] for row in slopes[2 * number : 2 * number + 2])
    area = a * d - b * c
    table[thigh][column] = (right[0] * d - right[1] * b) / area
    table[shank][column] = (right[1] * a - right[0] * c) / area


def _leg(beta: Any, psi: Any, side: float, p: Mapping[str, Any]) -> tuple[Any, Any]:
    """Absolute pitch of a thigh and its shank: where two circles around hip and pedal meet, on the front side."""
    hip = (p["e1"] * sin(beta), p["e1"] * cos(beta))
    pedal = (side * p["e3x"] * cos(psi), -side * p["e3x"] * sin(psi))
    dx, dz = hip[0] - pedal[0], hip[1] - pedal[1]
    square = dx * dx + dz * dz
    foot = 0.5 * (p["e4L"] * p["e4L"] - 4.0 * p["e2"] * p["e2"] + square) / square
    front = sqrt(p["e4L"] * p["e4L"] / square - foot * foot)
    shank = (foot * dx + front * dz, foot * dz - front * dx)
    thigh = (shank[0] - dx, shank[1] - dz)
    return atan2(-thigh[1], thigh[0]), atan2(shank[0], shank[1])


@dataclass(frozen=True)
class Inputs:
    """Pedal and rotor torques [N m]; push (forward, left, up) [N] on the body's axis at `height` above the axle [m].

    The ground rises by `slope` forward and to the left.
    """

    tau: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    push: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    height: Any = 0.0
    slope: tuple[Any, Any] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Balance:
    """Mass matrix [5][5] and velocity terms [5] (right ones, and what the source's have beside them), gravity [5]."""

    mass: list[list[Any]]
    velocity: list[Any]
    inserted: list[Any]
    gravity: list[Any]
    energy: Any


def balance(at: Posture, p: Mapping[str, Any], slope: tuple[Any, Any] = (0.0, 0.0)) -> Balance:
    """Sum over all weighted vectors, in minimal rates: each gives w P' P, and w P' (b + P rest)."""
    values, slopes, second = expansion("vectors", at.q, p)
    s, c = sin(at.q[0]), cos(at.q[0])
    heading, sideways = (c, s, 0.0), (-s, c, 0.0)
    yaw, roll = at.u[0], at.u[3]
    fall = [p["g"] * (slope[0] * heading[k] + slope[1] * sideways[k]) for k in range(2)] + [p["g"]]
    columns = [[row[k] for row in at.basis] for k in range(5)]
    found = Balance([[0.0] * 5 for _ in range(5)], [0.0] * 5, [0.0] * 5, [0.0] * 5, 0.0)
    energy: Any = 0.0
    momentum: Any = 0.0  # to the left, times the wheel's radius
    for n, (value, row, table) in enumerate(zip(values, slopes, second, strict=True)):
        body, vector, axis = BODIES[n // (3 * VECTORS)], n // 3 % VECTORS, n % 3
        weight = p[f"M{body}"] if vector == 0 else _weight(body, vector, p)
        along, bias = list(row), dot(at.u, [dot(line, at.u) for line in table])
        if vector == 0:
            along[3] = along[3] + p["Rw"] * heading[axis]
            bias = bias + p["Rw"] * sideways[axis] * yaw * roll
        bias = bias + dot(along, at.rest)
        reduced = [dot(along, column) for column in columns]
        speed = dot(along, at.u)
        _add(found, weight, reduced, bias)
        energy = energy + 0.5 * weight * speed * speed
        if vector == 0:
            momentum = momentum + weight * p["Rw"] * sideways[axis] * speed
            energy = energy + weight * fall[2] * value if axis == 2 else energy
            found.gravity[:] = [g + weight * fall[axis] * d for g, d in zip(found.gravity, reduced, strict=True)]
    inserted = [-roll * momentum, 0.0, 0.0, yaw * momentum, 0.0]
    return Balance(found.mass, found.velocity, inserted, found.gravity, energy)


def _weight(body: str, axis: int, p: Mapping[str, Any]) -> Any:
    """Weight of the unit vector of an axis (1, 2, 3)."""
    moments = [p[f"I{body}{name}"] for name in "xyz"]
    return 0.5 * (moments[0] + moments[1] + moments[2]) - moments[axis - 1]


def _add(found: Balance, weight: Any, reduced: Numbers, bias: Any) -> None:
    for i, one in enumerate(reduced):
        found.velocity[i] = found.velocity[i] + weight * one * bias
        for j in range(i + 1):
            found.mass[i][j] = found.mass[j][i] = found.mass[i][j] + weight * one * reduced[j]


def forces(at: Posture, p: Mapping[str, Any], given: Inputs) -> list[Any]:
    """Motors, friction and push on the minimal coordinates [5]."""
    rate = dict(zip(COORDINATES, at.u, strict=True))
    bearing = 2.0 * p["Dg"] * (rate["beta"] - rate["theta_w"])
    q: dict[str, Any] = dict.fromkeys(COORDINATES, 0.0)
    q |= {"alpha": -p["Dcor"] * rate["alpha"], "beta": -bearing}
    q["theta_w"] = bearing - p["Droll"] * rate["theta_w"]
    q |= {f"theta{k}": -p[f"D{k}"] * rate[f"theta{k}"] for k in range(1, 5)}
    q["theta3"] = q["theta3"] + given.tau[0]
    q["theta4"] = q["theta4"] - given.tau[1]
    q["eta"] = given.tau[2] - 2.0 * p["DTt"] * rate["eta"]
    every = [a + b for a, b in zip(q.values(), _push(at.q, p, given), strict=True)]
    return [dot(every, [row[k] for row in at.basis]) for k in range(5)]


def _push(q: Numbers, p: Mapping[str, Any], given: Inputs) -> list[Any]:
    """Work of the push along each coordinate: its point moves as the body's mass centre would at that height."""
    _, slopes, _ = expansion("vectors", q, {**p, "e5": given.height})
    first = 3 * VECTORS * BODIES.index("B")
    s, c = sin(q[0]), cos(q[0])
    fx, fy, fz = given.push
    force = (c * fx - s * fy, s * fx + c * fy, fz)
    work = [dot(force, [slopes[first + axis][k] for axis in range(3)]) for k in range(N)]
    return [w + p["Rw"] * fx if k == 3 else w for k, w in enumerate(work)]


def accelerations(y: Numbers, p: Mapping[str, Any], given: Inputs, nh: Any) -> tuple[Any, ...]:
    """Accelerations [5] of the minimal coordinates.

    Parameters
    ----------
    y : sequence [>= 10]
    p : mapping by name
        SI units.
    given : Inputs
    nh : number
        1 with the terms of the rolling wheel, 0 as the source has it.
    """
    at = posture(y, p)
    of = balance(at, p, given.slope)
    return solve_symmetric(of.mass, load(at, of, p, given, nh))


def load(at: Posture, of: Balance, p: Mapping[str, Any], given: Inputs, nh: Any) -> list[Any]:
    """All that carries no acceleration [5], N m."""
    every = zip(forces(at, p, given), of.velocity, of.inserted, of.gravity, strict=True)
    return [force - h - (1.0 - nh) * extra - g for force, h, extra, g in every]


STATES = (*MINIMAL, *(f"{name}_rate" for name in MINIMAL), "x_P", "y_P")
GAINS = {"K1": 110.0, "K2": 20.0, "K3": 100.0, "K4": 60.0, "K5": 0.02, "trim": reference.TRIM, "speed": 1.5}
"""Of the source's law with the specification's numbers: N m/rad and N m s/rad, then rad s/m, rad, m/s."""
FREE = dict.fromkeys((*reference.FRICTIONS, "K1", "K2", "K3", "K4"), 0.0)
"""Parameters without friction and control."""
_PARAMETERS = reference.NOMINAL | GAINS | {"nh": 1.0}


def _named(p: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_PARAMETERS, p, strict=True))


def torques(y: Sequence[Any], p: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Pedals from pitch, rotor from roll; the set pitch is the trim, less where the wheel is too slow."""
    lean = y[2] - p["trim"] - p["K5"] * (p["speed"] - p["Rw"] * y[8])
    pedal = -p["K1"] * lean - p["K2"] * y[7]
    return pedal, -pedal, p["K3"] * y[1] + p["K4"] * y[6]


def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Rates of coordinates, of their rates and of the point of contact."""
    named = _named(p)
    way = named["Rw"] * x[8]
    found = accelerations(x, named, Inputs(torques(x, named)), named["nh"])
    return (*x[5:10], *found, way * cos(x[0]), way * sin(x[0]))


def energy(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Kinetic and potential energy [J]."""
    named = _named(p)
    return balance(posture(x, named), named).energy


@cache
def plant() -> Plant:
    """Return the machine with its control law inside; it is not registered."""
    units = ("rad",) * 5 + ("rad/s",) * 5 + ("m", "m")
    return Plant(
        name="unicycle_by_weighted_vectors",
        states=tuple(
            Quantity(name, unit, 0.0, -1.2, 1.2) if name in {"gamma", "beta"} else Quantity(name, unit, 0.0)
            for name, unit in zip(STATES, units, strict=True)
        ),
        parameters=tuple(Quantity(name, "1", value) for name, value in _PARAMETERS.items()),
        derivative=derivative,
        energy=energy,
    )


def run(t_end: float, start: Sequence[float], *, step: float = 1e-3, **parameters: float) -> np.ndarray:
    """Run and return all states [n + 1, 12], up to the fall if it falls (roll or pitch beyond 1.2 rad)."""
    try:
        return plants.simulate(plant(), t_end, step, start, parameters).states
    except DivergedError:
        return np.empty((0, len(STATES)))
