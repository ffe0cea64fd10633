"""Gains of the car's algebraic loops: what one pass of "own equation, all other unknowns from before" multiplies by.

With K w = k and some unknowns solved together (the blocks D of K), w <- G w + D^-1 k with G = I - D^-1 K. It
converges where the spectral radius of G is below 1. Relaxed passes w <- w + s (G w + D^-1 k - w), for a small share
s, converge where no eigenvalue of G has a real part of 1 or more; for the minimal form that is always so, M being
positive definite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.gain import gain_of
from plants.core.names import pick_values
from plants.suspension.motion import equilibrium, mass_matrix
from plants.suspension.parameters import PARAMETERS
from plants.suspension.verification.loop_forms import UNKNOWNS, printed_system, redundant_state
from plants.suspension.verification.redundant import ETA, Z6, N

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.algebraic_loop.gain import MatrixGain

    Array = np.ndarray[Any, Any]

_REST = (0.0,) * 8
_MULTIPLIERS = [[N + k, N + 4 + k] for k in range(4)]
_STRUTS = [[ETA + k, Z6 + k] for k in range(4)]
TOGETHER = {
    "printed, 23 unknowns": [],
    "23, lambda1 and lambda2 of a wheel together": _MULTIPLIERS,
    "23, also eta'' and z6'' of a wheel together": [*_MULTIPLIERS, *_STRUTS],
}
ARRANGEMENTS = ("minimal, 7 accelerations", *TOGETHER, "15 accelerations, multipliers eliminated")


def gains(parameters: Mapping[str, float] | None = None, state: Sequence[float] | None = None) -> dict[str, MatrixGain]:
    """Return the gain of every arrangement of `ARRANGEMENTS` at a state [14]; left out: where that car rests.

    Velocities, inputs and roads do not enter.
    """
    p = tuple(pick_values("parameters of plant 'suspension'", PARAMETERS, parameters))
    x = tuple(equilibrium(parameters)) if state is None else tuple(state)
    minimal = np.array(mass_matrix(0.0, x, _REST, _REST, p), float)
    rows, _ = printed_system(redundant_state(x, p=p), _REST, _REST, (*p, 0.0))
    printed = np.array(rows, float)
    kept, rest = slice(N), slice(N, UNKNOWNS)
    reduced = printed[kept, kept] - printed[kept, rest] @ np.linalg.solve(printed[rest, rest], printed[rest, kept])
    found = [gain_of(minimal), *(gain_of(printed, groups) for groups in TOGETHER.values()), gain_of(reduced)]
    return dict(zip(ARRANGEMENTS, found, strict=True))
