"""What the coefficients of the unicycle's equations are: sums over weighted vectors, see :mod:`.geometry`.

With r the weighted vectors, u the rates of the ten coordinates and P = d r' / d u, rolling included,

    M = sum w P' P,    h_k = sum w P_k . b,    G_k = sum m g dz/dq_k,    r'' = P u' + b:

the equations of d'Alembert, in which the wheel's rolling is a condition on velocities and on nothing else. The source
inserts the condition into the kinetic energy and then differentiates as Lagrange did. That gives Christoffel's symbols
of M instead of h; both are here.

Source: Neimark and Fufaev, Dynamics of Nonholonomic Systems, ch. III (rolling must not be inserted into the energy).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.unicycle.geometry import BODIES, COORDINATES, VECTORS, N, expanded

if TYPE_CHECKING:
    from collections.abc import Mapping

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
