"""Equations with multipliers, in the state (q, v): Routh, Gauss, Maggi.

    M a = f + A' lam,    A a = -gam

The constraints hold at the level of accelerations only; what the integrator loses at the levels below drifts. Baumgarte
feeds it back: gam + 2 alpha phi' + beta^2 phi for holonomic rows, gam + alpha (A v + b) for nonholonomic ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.mechanics.algebra.blocks import ConstraintRows, Numbers, blocks_of, symbols
from plants.mechanics.algebra.calculus import Parts, in_rows, triangle
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms.solving import dot, least_constraint, range_space, solve_pivoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.mechanics.algebra.calculus import Calculus
    from plants.mechanics.declaration.declaration import MechanismDeclaration

MULTIPLIER_FORMS = ("routh", "gauss", "maggi")


def with_multipliers(
    calculus: Calculus, declared: MechanismDeclaration, baumgarte: tuple[float, float] | None = None
) -> Parts:
    """Return mass matrix, load, rows and targets of the equations with multipliers, and the basis if there is one."""
    blocks = blocks_of(calculus, declared)
    n, rows = declared.n, blocks.constraints
    columns = declared.velocities.columns if declared.velocities else ()
    lists = {
        "matrix": [blocks.mass[i][j] for i in range(n) for j in range(i + 1)],
        "load": blocks.load,
        "rows": [entry for row in rows.jacobian for entry in row],
        "target": [-value for value in stabilised(rows, baumgarte)],
        "basis": [entry for column in columns for entry in calculus.lift(column)],
    }
    short = {name: [calculus.short(value) for value in values] for name, values in lists.items()}
    v = symbols(calculus, declared, "v")
    short |= {"kinematics": v, "rates": v, "coordinates": symbols(calculus, declared, "q")}
    return Parts.of(short, calculus, declared, positions=("q", n), velocities=("v", n))


def stabilised(rows: ConstraintRows, baumgarte: tuple[float, float] | None) -> Numbers:
    """Return gam [g] with Baumgarte's feedback (alpha, beta) [1/s]."""
    if baumgarte is None:
        return rows.curvature
    alpha, beta = baumgarte
    result = []
    for k, (curvature, speed) in enumerate(zip(rows.curvature, rows.speeds, strict=True)):
        held = k < len(rows.residuals)
        fed = 2.0 * alpha * speed + beta * beta * rows.residuals[k] if held else alpha * speed
        result.append(curvature + fed)
    return result


def accelerations(form: str, declared: MechanismDeclaration) -> Callable[..., tuple[Any, Any]]:
    """Return ``(parts, t, x, u, w, p) -> accelerations [n], multipliers [g]`` of a form."""
    n, g = declared.n, declared.n_constraints
    if form == "maggi" and (declared.velocities is None or len(declared.velocities.names) + g != n):
        given = len(declared.velocities.names) if declared.velocities else 0
        raise DeclarationError(
            f"mechanism {declared.name!r}: Maggi's equations of {n} coordinates under {g} constraints need a basis of "
            f"{n - g} vectors, got {given}; give mech.basis(...)"
        )

    def solve(parts: Parts, *block: Any) -> tuple[Any, Any]:
        lower, load, entries, target, basis = parts(("matrix", "load", "rows", "target", "basis"), *block)
        mass, rows = triangle(lower, n), in_rows(entries, n)
        if form == "maggi":
            return _maggi(mass, load, rows, target, in_rows(basis, n)), ()
        return (range_space if form == "routh" else least_constraint)(mass, load, rows, target)

    return solve


def _maggi(mass: Any, load: Any, rows: Any, target: Any, columns: Any) -> tuple[Any, ...]:
    """[D' M; A] a = [D' f; -gam], with pivots chosen by selects: no order of rows is good at every heading."""
    pushed = [[dot(row, column) for row in mass] for column in columns]
    return solve_pivoted([*pushed, *rows], [*(dot(column, load) for column in columns), *target])
