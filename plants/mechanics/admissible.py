"""Coordinates and rates moved onto a mechanism's constraints, by the metric of its mass matrix, one state at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.declaration.declaration import DeclarationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Full, Matrices

    Array = NDArray[np.float64]


_ROUNDS = 30
EXACT = 1e-12


def projected(full: Full, q: Any, v: Any, t: float = 0.0, p: Any = None) -> tuple[Array, Array]:
    """Return coordinates and rates moved onto the constraints, by the metric of the mass matrix.

    Raises
    ------
    DeclarationError
        Where no coordinates near the given ones fulfil the position constraints.
    """
    q, v = np.array(q, float), np.array(v, float)
    for _ in range(_ROUNDS):
        at = full.at(t, q, v, p=p)
        held = len(at.residuals)
        if not held or np.abs(at.residuals).max() < EXACT:
            break
        q = q - _push(full, at, q, at.jacobian[:held], at.residuals)
    else:
        raise DeclarationError(
            f"mechanism {full.declared.name!r}: no coordinates near ({listed_values(full, q)}) fulfil the position "
            f"constraints (residuals {at.residuals}); do constraints contradict each other? If not, give "
            "coordinates(..., initial=...) closer to them"
        )
    return q, _held(full, q, v, t, p)


def _held(full: Full, q: Array, v: Array, t: float, p: Any) -> Array:
    """Rates that fulfil the constraints: at once where these are linear, else by Newton's method."""
    for _ in range(_ROUNDS):
        at = full.at(t, q, v, p=p)
        if not len(at.speeds):
            break
        v = v - _push(full, at, q, at.jacobian, at.speeds)
        if full.declared.linear or np.abs(at.speeds).max() < EXACT:
            break
    return v


def listed_values(full: Full, q: Array) -> str:
    """Return the coordinates with their values as text, as in "x = 1.5, th = 0.2"."""
    return ", ".join(f"{x.name} = {value:.4g}" for x, value in zip(full.declared.quantities["q"], q, strict=True))


def _push(full: Full, at: Matrices, q: Array, rows: Array, residuals: Array) -> Array:
    """M^-1 A' S^+ residuals with S = A M^-1 A'."""
    try:
        answers = np.linalg.solve(at.mass, rows.T)
    except np.linalg.LinAlgError as error:
        raise DeclarationError(
            f"mechanism {full.declared.name!r}: its mass matrix is singular at ({listed_values(full, q)}); every "
            "coordinate needs inertia, and initial=... away from where the coordinates are singular"
        ) from error
    return np.asarray(answers @ (np.linalg.pinv(rows @ answers) @ residuals))
