"""States that the constraints allow: given ones projected, random ones for checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.declared import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from plants.mechanics.equations import Equations
    from plants.mechanics.full import Full, Matrices

    Array = NDArray[np.float64]

_ROUNDS = 30
_EXACT = 1e-12
_SPANNED = 1e-8  # of 1 + |v|: what a velocity may keep that no quasi-velocity gives
_SINGULAR = 1e-6  # least ratio of singular values of the constraints at a state that serves as a check


class BasisError(DeclarationError):
    """The quasi-velocities do not give all admissible rates at a state."""


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
        if not held or np.abs(at.residuals).max() < _EXACT:
            break
        q = q - _push(full, at, q, at.jacobian[:held], at.residuals)
    else:
        raise DeclarationError(
            f"mechanism {full.declared.name!r}: no coordinates near ({_listed(full, q)}) fulfil the position "
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
        if full.declared.linear or np.abs(at.speeds).max() < _EXACT:
            break
    return v


def _listed(full: Full, q: Array) -> str:
    return ", ".join(f"{x.name} = {value:.4g}" for x, value in zip(full.declared.quantities["q"], q, strict=True))


def _push(full: Full, at: Matrices, q: Array, rows: Array, residuals: Array) -> Array:
    """M^-1 A' S^+ residuals with S = A M^-1 A'."""
    try:
        answers = np.linalg.solve(at.mass, rows.T)
    except np.linalg.LinAlgError as error:
        raise DeclarationError(
            f"mechanism {full.declared.name!r}: its mass matrix is singular at ({_listed(full, q)}); every coordinate "
            "needs inertia, and initial=... away from where the coordinates are singular"
        ) from error
    return np.asarray(answers @ (np.linalg.pinv(rows @ answers) @ residuals))


def state_from(equations: Equations, q: Any, v: Any, t: float, p: Any) -> tuple[float, ...]:
    """Return the admissible state nearest to coordinates q [n] and rates v [n].

    With joints `q` and `v` are the joint coordinates and their rates.

    Raises
    ------
    ValueError
        For a wrong length, or where the quasi-velocities do not span the admissible rates.
    """
    declared = equations.declared
    size = len(equations.positions) if declared.places else declared.n
    q = [float(value) for value in q]
    v = [float(value) for value in v] if len(v) else [0.0] * size
    if len(q) != size or len(v) != size:
        message = (
            f"mechanism {declared.name!r}: {size} coordinates and as many rates are needed, got {len(q)} and {len(v)}"
        )
        raise ValueError(message)
    if declared.places:
        return (*q, *v)
    places, rates = projected(equations.full, q, v, t, p)
    return tuple(map(float, (*places, *_velocities(equations, places, rates, t, p))))


def _velocities(equations: Equations, q: Array, v: Array, t: float, p: Any) -> Array:
    m = len(equations.velocities)
    block = equations.block(t, (*q, *(0.0,) * m), p=p)

    def rates(w: Any) -> Array:
        return np.array(equations.motion(t, (*block[1][: len(q)], *w), *block[2:])[1], float)

    declared = equations.declared.velocities
    if equations.form == "quasi" and declared is not None and not declared.columns:
        from scipy.optimize import least_squares

        w = least_squares(lambda w: rates(w) - v, np.full(m, 0.5), xtol=_EXACT, ftol=_EXACT, gtol=_EXACT).x
    else:
        offset = rates((0.0,) * m)
        basis = np.stack([rates(unit) - offset for unit in np.eye(m)], axis=1)
        w, *_ = np.linalg.lstsq(basis, v - offset, rcond=None)
    missed = np.abs(rates(w) - v).max()
    if missed > _SPANNED * (1.0 + np.abs(v).max()):
        raise BasisError(
            f"mechanism {equations.declared.name!r}: the velocities {', '.join(equations.velocities)} do not give all "
            f"admissible rates at ({_listed(equations.full, q)}): they miss by {missed:.3g}; check mech.basis(...)"
        )
    return np.asarray(w)


def samples(
    equations: Equations, count: int, seed: int = 0
) -> Iterator[tuple[float, tuple[float, ...], tuple[float, ...]]]:
    """Yield random admissible (t, state, inputs) about the nominal ones, where the constraints are of full rank."""
    rng = np.random.default_rng(seed)
    kind = "s" if equations.declared.places else "q"
    centre = [quantity.nominal for quantity in equations.declared.quantities[kind]]
    found, last = 0, None
    for _ in range(50 * count):
        t = float(rng.uniform(0.0, 1.0))
        q, v = centre + rng.uniform(-1.0, 1.0, len(centre)), rng.uniform(-1.0, 1.0, len(centre))
        u = tuple(rng.uniform(-1.0, 1.0, len(equations.declared.quantities["u"])))
        try:
            x = equations.state_from(q, v, t=t)
            regular = _regular(equations, t, x)
        except DeclarationError as error:
            last = error  # a basis may belong to one branch of the constraints, constraints to some coordinates
            continue
        if regular:
            yield t, x, u
            found += 1
            if found == count:
                return
    if not found and last is not None:
        raise last
    if not found:
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: its constraints are singular everywhere near the initial "
            "coordinates; give initial=... away from there"
        )


def _regular(equations: Equations, t: float, x: tuple[float, ...]) -> bool:
    block = equations.block(t, x)
    q, v = equations.motion(*block)
    rows = equations.full.at(t, q, v).jacobian
    if not len(rows):
        return True
    if equations.form == "maggi":
        columns = np.reshape(equations.parts(("basis",), *block)[0], (-1, rows.shape[1]))
        if (beyond := np.abs(rows @ columns.T).max()) > _SPANNED:
            message = f"mechanism {equations.declared.name!r}: the basis breaks the constraints (A D = {beyond:.3g})"
            raise BasisError(message + "; check mech.basis(...)")
    values = np.linalg.svd(rows / np.abs(rows).max(axis=1, keepdims=True), compute_uv=False)
    kept = values[values > 1e-9 * values[0]]  # rows that repeat others give zeros everywhere
    return bool(kept[-1] > _SINGULAR * values[0] and kept[-1] > 1e-2)
