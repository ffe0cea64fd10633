"""Where the unicycle's mass is, and what the coefficients of its equations are by it: sums over weighted vectors.

The places of masses are the one thing about it that this derivation takes from the figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import cos, sin
from plants.core.replay import replay
from plants.core.tracing.trace import Program, differentiate, trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.tracing.tape import Traced


COORDINATES = ("alpha", "gamma", "beta", "theta_w", "psi", "theta1", "theta2", "theta3", "theta4", "eta")
LENGTHS = ("Rw", "e1", "e2", "e3x", "e4L", "e5", "e6", "k1", "yk1", "dz")
BODIES = ("W", "B", "L1", "L2", "L3", "L4", "Tt")
VECTORS = 4  # of a body: its mass centre, then the tips of its axes
N = len(COORDINATES)
_PAIRS = [(i, j) for i in range(N) for j in range(i, N)]

Vector = tuple[Any, Any, Any]


def _pitched(v: Vector, angle: Any) -> Vector:
    """Turn about the axle, which points to the left: z goes forward."""
    s, c = sin(angle), cos(angle)
    return c * v[0] + s * v[2], v[1], c * v[2] - s * v[0]


def _spun(v: Vector, angle: Any) -> Vector:
    """Turn about z: x goes to the left."""
    s, c = sin(angle), cos(angle)
    return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]


def _rolled(v: Vector, angle: Any) -> Vector:
    """Turn about x: what is up goes to the right."""
    s, c = sin(angle), cos(angle)
    return v[0], c * v[1] - s * v[2], s * v[1] + c * v[2]


def _sum(*vectors: Vector) -> Vector:
    return tuple(sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True))


def vectors(q: tuple[Any, ...], lengths: tuple[Any, ...]) -> tuple[Vector, ...]:
    """Mass centres [m] and unit vectors of all bodies, from the point of contact, in axes that stand still.

    Parameters
    ----------
    q : [10], rad
        As :data:`COORDINATES`.
    lengths : [10], m
        As :data:`LENGTHS`.

    Returns
    -------
    tuple of (x, y, z) [7 x 4]
        Of each body its mass centre, then its axes.
    """
    alpha, gamma, beta, theta_w, psi, th1, th2, th3, th4, eta = q
    wheel, e1, e2, e3x, _, e5, e6, k1, yk1, dz = lengths
    hip = _pitched((0.0, 0.0, e1), beta)
    crank = _pitched((e3x, 0.0, 0.0), psi)
    places = (  # attitude, mass centre from the axle
        (theta_w, (0.0, 0.0, 0.0)),
        (beta, _pitched((0.0, 0.0, e5), beta)),
        (beta + th1, _sum(hip, _pitched((e2, -k1, 0.0), beta + th1))),
        (beta + th2, _sum(hip, _pitched((e2, k1, 0.0), beta + th2))),
        (psi + th3, _sum(crank, _pitched((0.0, -yk1, dz), psi + th3))),
        (psi + th4, _sum(tuple(-c for c in crank), _pitched((0.0, yk1, dz), psi + th4))),
        (beta, _pitched((0.0, 0.0, e6), beta)),
    )
    found = []
    for body, (attitude, centre) in zip(BODIES, places, strict=True):
        axes = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        spun = [_spun(axis, eta) for axis in axes] if body == "Tt" else axes
        local = [_sum(centre, (0.0, 0.0, wheel)), *(_pitched(axis, attitude) for axis in spun)]
        found += [_spun(_rolled(v, gamma), alpha) for v in local]
    return tuple(found)


def closures(q: tuple[Any, ...], lengths: tuple[Any, ...]) -> tuple[Any, ...]:
    """How far the two loops are open [m] (right x', z', left x', z'): knee from the hip less knee from the pedal."""
    beta, psi, th1, th2, th3, th4 = q[2], q[4], q[5], q[6], q[7], q[8]
    _, e1, e2, e3x, e4, *_ = lengths
    gaps: list[Any] = []
    for thigh, shank, side in ((th1, th3, 1.0), (th2, th4, -1.0)):
        above = _sum(_pitched((0.0, 0.0, e1), beta), _pitched((2.0 * e2, 0.0, 0.0), beta + thigh))
        below = _sum(_pitched((side * e3x, 0.0, 0.0), psi), _pitched((0.0, 0.0, e4), psi + shank))
        gaps += [above[0] - below[0], above[2] - below[2]]
    return tuple(gaps)


def _with_slopes(block: Any) -> Program:
    """Program of a block's numbers, their slopes in all coordinates and their second derivatives."""

    def expanded(q: tuple[Traced, ...], lengths: tuple[Traced, ...]) -> tuple[Any, ...]:
        tape = q[0].tape
        values = [tape.lift(v) for row in block(q, lengths) for v in (row if isinstance(row, tuple) else (row,))]
        first = differentiate(values, q)
        slopes = [tape.lift(slope) for row in first for slope in row]
        second = differentiate(slopes, q)
        pairs = [second[N * k + i][j] for k in range(len(values)) for i, j in _PAIRS]
        return (*values, *slopes, *pairs)

    return trace(expanded, COORDINATES, LENGTHS)


@cache
def _program(what: str) -> Program:
    return _with_slopes({"vectors": vectors, "closures": closures}[what])


def expansion(what: str, q: Sequence[Any], lengths: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Values [n], slopes [n][10] and second derivatives [n][10][10] of the vectors or of the closures.

    Parameters
    ----------
    what : {"vectors", "closures"}
    q : sequence [10] of numbers, rad
        Floats, arrays of states, or traced numbers.
    lengths : mapping by name, m

    Returns
    -------
    lists
        With n = 84 numbers (28 vectors) or 4 closures; what is 0 everywhere is the plain 0.0.
    """
    found = replay(_program(what), *q, *(lengths[name] for name in LENGTHS))
    n = len(found) // (1 + N + len(_PAIRS))
    second = []
    for k in range(n):
        table: list[list[Any]] = [[0.0] * N for _ in range(N)]
        for (i, j), value in zip(_PAIRS, found[n * (1 + N) + k * len(_PAIRS) :], strict=False):
            table[i][j] = table[j][i] = value
        second.append(table)
    return list(found[:n]), [list(found[n + N * k : n + N * (k + 1)]) for k in range(n)], second


def expanded(what: str, q: np.ndarray, lengths: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same as arrays for one state [10]."""
    values, slopes, second = expansion(what, [float(angle) for angle in q], lengths)
    return np.array(values), np.array(slopes), np.array(second)


ALPHA, WHEEL = COORDINATES.index("alpha"), COORDINATES.index("theta_w")
PIECES = ("mass", "inertia")


@dataclass(frozen=True, eq=False)
class Terms:
    """Of every body, its mass centre's share and its rotation's apart.

    Attributes
    ----------
    mass : array [7, 2, 10, 10], kg m^2 and so on
    velocity : array [7, 2, 10, 10, 10]
        Equation, rate, rate; symmetric in the rates.
    inserted : array [7, 2, 10, 10, 10]
        The same as Lagrange's equations give it after rolling was inserted into the energy.
    gravity : array [7, 10], N m
    """

    mass: np.ndarray
    velocity: np.ndarray
    inserted: np.ndarray
    gravity: np.ndarray


def weights(p: Mapping[str, float]) -> np.ndarray:
    """Weights [7, 2, 4] of the vectors: mass centre's in the first piece, axes' in the second."""
    found = np.zeros((len(BODIES), len(PIECES), VECTORS))
    for b, body in enumerate(BODIES):
        inertia = np.array([p[f"I{body}{axis}"] for axis in "xyz"])
        found[b, 0, 0] = p[f"M{body}"]
        found[b, 1, 1:] = 0.5 * inertia.sum() - inertia
    return found


def terms(q: np.ndarray, p: Mapping[str, float]) -> Terms:
    """Evaluate all terms.

    Parameters
    ----------
    q : array [10], rad
        Independent of one another: the loops need not be closed.
    p : mapping by name
        As the plant's parameters (SI units), the turntable's inertias as ITtx, ITty, ITtz.
    """
    _, slopes, second = expanded("vectors", q, p)
    along = slopes.reshape(len(BODIES), VECTORS, 3, N)
    turned = second.reshape(len(BODIES), VECTORS, 3, N, N)  # slope of P's column i in coordinate j
    s, c = p["Rw"] * np.sin(q[ALPHA]), p["Rw"] * np.cos(q[ALPHA])
    along[:, 0, :, WHEEL] += (c, s, 0.0)  # only mass centres roll along
    turned[:, 0, :, WHEEL, ALPHA] += (-s, c, 0.0)
    w = weights(p)
    even = 0.5 * (turned + turned.swapaxes(-1, -2))
    odd = turned - turned.swapaxes(-1, -2)
    velocity = np.einsum("bpv,bvck,bvcij->bpkij", w, along, even, optimize=True)
    crossed = np.einsum("bpv,bvcj,bvcki->bpkij", w, along, odd, optimize=True)
    loads = np.array([p[f"M{body}"] * p["g"] for body in BODIES])
    return Terms(
        np.einsum("bpv,bvci,bvcj->bpij", w, along, along, optimize=True),
        velocity,
        velocity + 0.5 * (crossed + crossed.swapaxes(-1, -2)),
        loads[:, None] * along[:, 0, 2, :],
    )
