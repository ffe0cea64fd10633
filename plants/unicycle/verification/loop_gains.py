"""Gains of the unicycle's algebraic loops: what one pass of "own equation, all others from before" multiplies by.

With K a = k, a <- G a + D^-1 k, D the diagonal of K (or the blocks of what is solved together) and G = I - D^-1 K. It
converges where the spectral radius of G is below 1. Relaxed passes a <- a + s (G a + D^-1 k - a) converge for small
shares s where no eigenvalue of G has a real part of 1 or more: for the minimal form always, M being positive definite,
as soon as s times the largest eigenvalue of D^-1 M is below 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.gain import gain_of, gain_of_split
from plants.core.names import pick_values
from plants.unicycle.geometry import PITCH, TABLE, WHEEL, YAW
from plants.unicycle.motion import BETA0, mass_matrix
from plants.unicycle.parameters import PARAMETERS
from plants.unicycle.verification.loop_forms import printed_system, redundant_state
from plants.unicycle.verification.redundant import saddle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.algebraic_loop.gain import MatrixGain

    Array = np.ndarray[Any, Any]

ARRANGEMENTS = (
    "minimal, 5 accelerations",
    "9 without closure",
    "printed, 9 accelerations",
    "Gauss-Seidel, 5",
    "pairs, 5",
)
"""The last two: sweeps that use new values at once, and (alpha, eta) and (beta, theta_w) solved together."""
_PAIRS = ([YAW, TABLE], [PITCH, WHEEL])
_STILL = ((0.0,) * 3, (0.0,) * 6)


def inertia_at(state: Sequence[float], parameters: Mapping[str, float] | None = None) -> Array:
    """Return M [5, 5] at a state [12]."""
    p = tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters))
    return np.array(mass_matrix(0.0, tuple(state), *_STILL, p), float)


def gains(parameters: Mapping[str, float] | None = None, state: Sequence[float] | None = None) -> dict[str, MatrixGain]:
    """Return the gain of every arrangement of `ARRANGEMENTS` at a state [12]; left out: upright, balanced.

    Velocities, torques and pushes do not enter.
    """
    p = tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters))
    x = upright() if state is None else tuple(state)
    minimal = inertia_at(x, parameters)
    nine = redundant_state(x, p)
    tree = np.array(saddle(nine, *_STILL, p).mass, float)
    rows, _, own = printed_system(nine, *_STILL, (*p, 0.0))
    printed = gain_of_split(np.diag(np.array(own, float)), np.array(rows, float))
    sweeps, pairs = gain_of_split(np.tril(minimal), minimal), gain_of(minimal, _PAIRS)
    found = (gain_of(minimal), gain_of(tree), printed, sweeps, pairs)
    return dict(zip(ARRANGEMENTS, found, strict=True))


def upright(roll: float = 0.0, pitch: float = BETA0, wheel: float = 0.0) -> tuple[float, ...]:
    """Return a state [12] at rest."""
    return (0.0, roll, pitch, wheel, *(0.0,) * 8)


def largest_share(state: Sequence[float]) -> float:
    """Return the share of a pass below which relaxed passes of the minimal form converge, 2 / max eig(D^-1 M)."""
    matrix = inertia_at(state)
    values = np.linalg.eigvals(matrix / np.diag(matrix)[:, None])
    return float(2.0 / values.real.max())
