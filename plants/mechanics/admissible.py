"""Coordinates and rates moved onto a mechanism's constraints, by the metric of its mass matrix, one state at a time.

A start for a run keeps what was given by name: the chain is led there from its nominal start in small steps, with the
parameters, so that it stays on its branch; the other coordinates follow.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.declaration.declaration import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


_LED = 16  # steps from the nominal start to the one that is asked for
_CLOSED = 1e-10  # residual that rounding may leave where coordinates are large


def start_projection(full: Full, nominal: Sequence[float], *, rates_too: bool) -> Callable[..., tuple[float, ...]]:
    """Return what moves a state onto the constraints for given parameters: a plant's `admissible`.

    Parameters
    ----------
    nominal : sequence of float
        A state (coordinates, velocities) that fulfils the constraints with nominal parameters.
    rates_too : bool
        Whether velocities are the rates, which the constraints bind; else quasi-velocities, which they leave free.
    """
    n, usual = full.declared.n, np.array([q.nominal for q in full.declared.quantities["p"]])
    begin = np.array(nominal, float)

    @lru_cache(maxsize=4096)
    def moved(x: tuple[float, ...], p: tuple[float, ...], held: tuple[int, ...]) -> tuple[float, ...]:
        q, v = np.array(x[:n]), np.array(x[n:])
        at = full.at(0.0, q, v if rates_too else np.zeros(n), p=p)
        shut = _largest(at.residuals) < EXACT
        if shut and not (rates_too and _largest(at.speeds) >= EXACT):
            return x
        if not shut:
            q = _closed(full, q, p, (begin[:n], usual), [k for k in held if k < n])
        return (*q.tolist(), *(_allowed(full, q, v, p, [k - n for k in held if k >= n]) if rates_too else x[n:]))

    def admissible(x: Sequence[float], p: Sequence[float], held: Sequence[int] = ()) -> tuple[float, ...]:
        return moved(tuple(map(float, x)), tuple(map(float, p)), tuple(held))

    return admissible


def _closed(full: Full, q: Array, p: tuple[float, ...], begin: tuple[Array, Array], held: list[int]) -> Array:
    """Coordinates that fulfil the position constraints: led there, else from where they are, else with none held."""
    found = _led(full, q, np.array(p), begin, held) if len(held) < len(q) else None
    if found is None and len(held) < len(q):
        found = _newton(full, q, p, held)
    found = _newton(full, q, p, []) if found is None else found
    if found is not None:
        return found
    left = full.at(0.0, q, np.zeros(len(q)), p=p).residuals
    values = ", ".join(f"{x.name} = {value:.4g}" for x, value in zip(full.declared.quantities["p"], p, strict=True))
    raise DeclarationError(
        f"mechanism {full.declared.name!r}: no start near ({listed_values(full, q)}) fulfils its position constraints "
        f"with ({values}); they miss by {_largest(left):.3g}. Give other initial values or parameters that close it"
    )


def _led(full: Full, q: Array, p: Array, begin: tuple[Array, Array], held: list[int]) -> Array | None:
    """From the nominal start with nominal parameters to the held coordinates and `p`, closed at every step."""
    first, usual = begin
    others = [k for k in range(len(q)) if k not in held]
    if np.any(q[others] != first[others]):
        return None  # a whole state of its own: the way from the nominal one says nothing
    now = first.copy()
    for share in np.arange(1, _LED + 1) / _LED:
        now[held] = (1.0 - share) * first[held] + share * q[held]
        closed = _newton(full, now, tuple(usual + share * (p - usual)), held)
        if closed is None:
            return None
        now = closed
    return now


def _newton(full: Full, q: Array, p: tuple[float, ...], held: list[int]) -> Array | None:
    """Coordinates with the position constraints at 0, those `held` as they are; None where that does not succeed."""
    left = np.inf
    for _ in range(_ROUNDS):
        at = full.at(0.0, q, np.zeros(len(q)), p=p)
        rows = at.jacobian[: len(at.residuals)]
        left = _largest(at.residuals)
        if not left >= EXACT or not np.isfinite(rows).all():
            break
        q = q - _push_others(full, at, q, rows, at.residuals, held)
    return q if left < _CLOSED else None


def _allowed(full: Full, q: Array, v: Array, p: tuple[float, ...], held: list[int]) -> list[float]:
    """Rates that fulfil the constraints, those `held` as they are where that is possible."""
    for kept in (held, []):
        rates = v.copy()
        for _ in range(_ROUNDS):
            at = full.at(0.0, q, rates, p=p)
            if _largest(at.speeds) < EXACT:
                break
            rates = rates - _push_others(full, at, q, at.jacobian, at.speeds, kept)
        if _largest(full.at(0.0, q, rates, p=p).speeds) < _CLOSED:
            return [float(value) for value in rates]
    raise DeclarationError(
        f"mechanism {full.declared.name!r}: no rates at ({listed_values(full, q)}) fulfil its velocity constraints; "
        "give other initial rates"
    )


def _push_others(full: Full, at: Matrices, q: Array, rows: Array, residuals: Array, held: list[int]) -> Array:
    """The push of :func:`_push` on the coordinates that are not held."""
    if not held:
        return _push(full, at, q, rows, residuals)
    free = [k for k in range(len(q)) if k not in held]
    push = np.zeros(len(q))
    if free:
        answers = np.linalg.solve(at.mass[np.ix_(free, free)], rows[:, free].T)
        push[free] = answers @ (np.linalg.pinv(rows[:, free] @ answers) @ residuals)
    return push


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
