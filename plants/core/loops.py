"""Three ways to treat accelerations that depend on one another: solved, iterated, loop-free.

A plant with a loop declares ``acceleration(t, x, a, u, w, p)`` (each acceleration as a function of all) or
``mass_matrix`` and ``force``. Which states these accelerate says :mod:`plants.core.velocities`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.integrators import IMPLICIT, STAGES, USUAL
from plants.core.linear_solve import solve_general, solve_symmetric
from plants.core.naming import unknown
from plants.core.velocities import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant

MODES = (
    "solved", "iterated", "iterated_exact", "gauss_seidel", "loop_free", "loop_free_relaxed", "loop_free_filtered",
)  # fmt: skip
"""Values of `algebraic_loop`: three of them iterate (:mod:`plants.core.loop_iterated`), three rebuild the accelerations
from the velocities (:mod:`plants.core.loop_free`)."""


def check_mode(plant: Plant, mode: str, integrator: str = "rk4") -> str:
    """Return a known loop mode or raise; plants without a loop have only "solved", and so has "rosenbrock"."""
    if mode not in MODES:
        raise ValueError(unknown("algebraic_loop", mode, MODES))
    if plant.advance is not None:
        _check_own_step(plant, mode, integrator)
    if mode != "solved" and not plant.has_loop:
        message = (
            f"plant {plant.name!r} has no algebraic loop, so algebraic_loop={mode!r} means nothing for it; "
            "use 'solved', or declare its accelerations with acceleration(t, x, a, u, w, p)"
        )
        raise ValueError(message)
    if mode != "solved" and integrator in IMPLICIT:
        message = (
            f"integrator {integrator!r} differentiates the solved equations, so it knows no algebraic_loop={mode!r}; "
            f"use algebraic_loop='solved', or one of the integrators {', '.join(STAGES)}"
        )
        raise ValueError(message)
    return mode


def _check_own_step(plant: Plant, mode: str, integrator: str) -> None:
    given = (
        f"integrator={integrator!r}" if integrator != USUAL else f"algebraic_loop={mode!r}" if mode != MODES[0] else ""
    )
    if given:
        raise ValueError(
            f"plant {plant.name!r} moves by a step map of its own (advance), which takes the place of integrators and "
            f"loop modes, so {given} means nothing for it; leave it out, or integrate its equations with "
            "dataclasses.replace(plant, advance=None)"
        )


def scheme(plant: Plant, integrator: str) -> str:
    """Return what moves the plant, in words: the integrator, or the plant itself."""
    return integrator if plant.advance is None else "own step map"


def solved_derivative(plant: Plant) -> Callable[..., tuple[Any, ...]]:
    """Derivative block with the accelerations solved exactly; the reference for accuracy.

    For an `acceleration` declaration the dependence on `a` is taken as affine (all mechanical systems are), its matrix
    from differences at 0 and 1, which are exact for affine functions up to rounding.
    """
    places = layout(plant)

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        if plant.mass_matrix is not None and plant.force is not None:
            matrix = plant.mass_matrix(t, x, u, w, p)
            a = solve_symmetric(matrix, plant.force(t, x, u, w, p))
        else:
            a = _solve_affine(plant, places.n, t, x, u, w, p)
        return places.rates(a, t, x, u, w, p)

    derivative.solved = True  # type: ignore[attr-defined]  # a copy of the plant with other blocks solves its own
    return derivative


def _solve_affine(plant: Plant, n: int, *block: Any) -> tuple[Any, ...]:
    t, x, u, w, p = block
    free = accelerations(plant, t, x, (0.0,) * n, u, w, p)
    columns = []
    for j in range(n):
        unit = tuple(1.0 if k == j else 0.0 for k in range(n))
        moved = accelerations(plant, t, x, unit, u, w, p)
        columns.append([a - b for a, b in zip(moved, free, strict=True)])
    matrix = [[(1.0 if i == j else 0.0) - columns[j][i] for j in range(n)] for i in range(n)]
    return solve_general(matrix, free)


def accelerations(plant: Plant, *block: Any) -> tuple[Any, ...]:
    """Each acceleration from its own equation, given all of them: block is (t, x, a, u, w, p)."""
    t, x, a, u, w, p = block
    if plant.acceleration is not None:
        result = plant.acceleration(t, x, a, u, w, p)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)
    matrix, force = plant.mass_matrix(t, x, u, w, p), plant.force(t, x, u, w, p)  # type: ignore[misc]
    n = len(force)
    others = [force[i] - sum((matrix[i][j] * a[j] for j in range(n) if j != i), 0.0) for i in range(n)]
    return tuple(others[i] / matrix[i][i] for i in range(n))
