"""The unicycle in motion by this derivation: loops closed, friction, motors, push. On floats, arrays, traced numbers.

State: alpha, gamma, beta, theta_w, eta [rad], their rates, x_P, y_P [m]. `nh` = 1 gives the equations of a rolling
wheel, 0 those of the source, which inserts the rolling condition into the energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.unicycle.geometry import BODIES, COORDINATES, VECTORS, N, expansion
from benchmarks.unicycle.legs import posture
from plants.core.elementary import cos, sin
from plants.core.linear_solve import solve_symmetric
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.unicycle.legs import Posture

    Numbers = Sequence[Any]


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
