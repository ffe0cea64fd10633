"""Which rates are independent: as declared, or the choice with the smallest slopes of the dependent ones.

With A v + b = 0 and orthonormal rows of A, the smallest singular value of the dependent columns is the cosine of the
largest angle between the admissible velocities and the independent axes: 1 where the dependent rates do not move, 0
where they are not determined. The slopes B of v_dep = B v_ind have the norm tan of that angle.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from plants.mechanics.algebra.blocks import Full
from plants.mechanics.declaration.declaration import DeclarationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.mechanics.declaration.declaration import MechanismDeclaration

    Array = NDArray[np.float64]

_NEAR, _WIDE = 0.3, np.pi  # spread of coordinates about the nominal ones
_STATES = 96  # of each spread
_SINGULAR = 1e-9  # a cosine below this is rounding
_MOST = 5000  # choices that are compared one by one
_NEWTON = 20  # steps onto the position constraints
_ON = 1e-9  # residual that counts as fulfilled


@dataclass(frozen=True)
class Split:
    """Coordinates with independent and with dependent rates, by number.

    Attributes
    ----------
    independent : tuple of int [m]
    dependent : tuple of int [g]
    note : str
        Which they are and who chose them, for a report.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    note: str


def split_of(declared: MechanismDeclaration, seed: int = 0) -> Split:
    """Return the declared split, or the best one at random admissible positions.

    Best is the largest product of the smallest cosine near the nominal position and the smallest one anywhere: a split
    without poles is taken where there is one, else one whose poles are away from the nominal position.

    Raises
    ------
    DeclarationError
        Where the number declared is not the number of degrees of freedom, where the independent rates do not determine
        the others, and where constraints repeat each other.
    """
    n, g = declared.n, declared.n_constraints
    near, wide = (_row_spaces(declared, spread, seed) for spread in (_NEAR, _WIDE))
    chosen = declared.independent
    if chosen and len(chosen) != n - g:
        raise DeclarationError(
            f"mechanism {declared.name!r}: {n} coordinates under {g} constraints have {n - g} independent rates, "
            f"got {len(chosen)}: {_labels(declared, chosen)}"
        )
    dependent = tuple(k for k in range(n) if k not in chosen) if chosen else _best(near, wide, n, g)
    independent = tuple(k for k in range(n) if k not in dependent)
    if _cosines(near, dependent).max(initial=0.0 if g else 1.0) < _SINGULAR:
        raise DeclarationError(
            f"mechanism {declared.name!r}: the rates of {_labels(declared, independent)} do not determine the others; "
            + ("choose others in independent()" if chosen else "constraints repeat each other: build with form='gauss'")
        )
    by = "declared" if chosen else "chosen for the smallest slopes of the dependent rates"
    note = f"independent: {_labels(declared, independent)}; dependent: {_labels(declared, dependent)} ({by})"
    return Split(independent, dependent, note)


def admissible_positions(declared: MechanismDeclaration, spread: float, seed: int, count: int) -> Array:
    """Draw positions on the position constraints, uniform about the nominal one and inside the bounds.

    Returns
    -------
    ndarray [n, count']
        Those of `count` draws that reach the constraints.
    """
    quantities, rng = declared.quantities["q"], np.random.default_rng(seed)
    nominal, low, high = (np.array([[getattr(q, k)] for q in quantities]) for k in ("nominal", "low", "high"))
    q = np.clip(nominal + spread * rng.uniform(-1.0, 1.0, (declared.n, count)), low, high)
    held, full = len(declared.positions), Full(declared)
    for _ in range(_NEWTON if held else 0):
        residuals, jacobian = _residuals(full, q)
        q = q - np.einsum("sij,js->is", np.linalg.pinv(jacobian[:, :held]), residuals)
    return q[:, np.all(np.abs(_residuals(full, q)[0]) < _ON, axis=0)] if held else q


def _residuals(full: Full, q: Array) -> tuple[Array, Array]:
    """Position residuals [n_positions, count] and A [count, g, n]."""
    declared, zeros = full.declared, (0.0,) * full.declared.n
    u, w = ((0.0,) * len(declared.quantities[kind]) for kind in "uw")
    nominal = tuple(x.nominal for x in declared.quantities["p"])
    found = full(("residuals", "jacobian"), 0.0, tuple(q), zeros, u, w, nominal)
    first, second = (np.array([np.broadcast_to(x, q.shape[1:]) for x in values], float) for values in found)
    return first, second.reshape(-1, declared.n, q.shape[1]).transpose(2, 0, 1)


def _row_spaces(declared: MechanismDeclaration, spread: float, seed: int) -> Array:
    """Orthonormal rows of A [count, g, n]."""
    if not declared.n_constraints:
        return np.zeros((1, 0, declared.n))
    q = admissible_positions(declared, spread, seed, _STATES)
    if not q.size:
        raise DeclarationError(
            f"mechanism {declared.name!r}: no position near the nominal one fulfils the position constraints; "
            "give initial values that do"
        )
    _, sizes, rows = np.linalg.svd(_residuals(Full(declared), q)[1], full_matrices=False)
    return np.asarray(rows * (sizes > _SINGULAR * sizes[:, :1])[:, :, None])


def _cosines(rows: Array, columns: tuple[int, ...]) -> Array:
    return np.asarray(np.linalg.svd(rows[:, :, list(columns)], compute_uv=False)[:, -1]) if columns else np.ones(1)


def _best(near: Array, wide: Array, n: int, g: int) -> tuple[int, ...]:
    if comb(n, g) > _MOST:  # greedily, at one position
        return tuple(sorted(qr(near[0], pivoting=True)[2][:g].tolist()))
    splits = list(combinations(range(n), g))
    scores = [round(float(_cosines(near, c).min() * _cosines(wide, c).min()), 9) for c in splits]
    return splits[int(np.argmax(scores))]


def _labels(declared: MechanismDeclaration, indices: tuple[int, ...]) -> str:
    return ", ".join(declared.quantities["q"][k].name for k in indices) or "none"
