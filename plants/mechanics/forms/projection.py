"""Constraint drift taken away after each integration step, by the metric of the mass matrix.

q <- q - M^-1 A' S^-1 phi  (holonomic rows, twice),   v <- v - M^-1 A' S^-1 (A v + b),   S = A M^-1 A'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.linear_solve import solve_symmetric
from plants.mechanics.deriving.parts import in_rows, triangle
from plants.mechanics.forms.multipliers import FORMS
from plants.mechanics.forms.solving import dot, solve_semidefinite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.mechanics.deriving.full import Full
    from plants.mechanics.equations import Equations

ROUNDS = 2  # quadratic convergence: what is 1e-4 away is 1e-16 away after two


def projection(equations: Equations) -> Callable[..., tuple[Any, ...]]:
    """Return the block ``(t, x, u, w, p, h) -> state`` that moves a state back onto the constraints.

    In the forms without multipliers speeds fulfil the constraints by construction: positions alone are moved.
    """
    full, n = equations.full, len(equations.positions)
    held = len(equations.declared.positions)
    speeds_too = equations.form in FORMS

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        q, velocities = tuple(x[:n]), tuple(x[n:])
        for _ in range(ROUNDS if held else 0):
            q = _moved(full, q, ("residuals", held), t, (q, velocities if speeds_too else (0.0,) * n), u, w, p)
        if speeds_too:
            count = equations.declared.n_constraints
            velocities = _moved(full, velocities, ("speeds", count), t, (q, velocities), u, w, p)
        return (*q, *velocities)

    return after_step


def _moved(
    full: Full, values: Sequence[Any], level: tuple[str, int], t: Any, state: Any, u: Any, w: Any, p: Any
) -> tuple[Any, ...]:
    name, count = level
    q, v = state
    lower, entries, residuals = full(("mass", "jacobian", name), t, q, v, u, w, p)
    n = full.declared.n
    mass, rows = triangle(lower, n), in_rows(entries, n)[:count]
    answers = [solve_symmetric(mass, row) for row in rows]
    compliance = [[dot(row, answer) for answer in answers] for row in rows]
    push = solve_semidefinite(compliance, residuals)
    return tuple(value - dot([answer[i] for answer in answers], push) for i, value in enumerate(values))
