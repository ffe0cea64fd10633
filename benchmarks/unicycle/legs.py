"""Both legs' loops closed: thighs and shanks, their rates and accelerations from pitch and wheel.

On floats, arrays and traced numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.unicycle.geometry import COORDINATES, expansion
from plants.core.elementary import atan2, cos, sin, sqrt
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
