"""Iterated: at every stage the accelerations are improved until each agrees with its own equation.

This is what block-diagram tools do with an algebraic loop, and what loop-free simulation is measured against.
Three methods, for a = f(a) with G = df/da:

- "iterated": Newton with difference quotients, n + 1 evaluations of the equations a pass;
- "iterated_exact": Newton with the tape's derivative, one evaluation and one G a pass;
- "gauss_seidel": every equation in turn is solved for its own acceleration, with the newest values of the others.
  It converges for every positive definite mass matrix, however the equations are scaled. (Jacobi's method, which
  uses the old values of the others, needs a spectral radius of G below 1.)

All start from the accelerations of the stage before. The last pass only confirms: it finds every equation met and
changes nothing. Here is one pass of each; :class:`plants.core.motion.step.Iterated` puts them into the lane loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.linear_solve import solve_general

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = tuple[Any, ...]
    Equations = Callable[[Numbers], Numbers]
    Slopes = Callable[[Numbers], list[list[Any]]]


TOLERANCE = 1e-10  # of an equation's residual |f(a) - a|, relative to 1 + |a|
PROBE = 1e-6  # step of the difference quotient in the iteration's Jacobian, relative to 1 + |a|


def by_differences(equations: Equations, _: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One step of Newton's method with difference quotients: new accelerations, and residuals of the old ones."""
    base, columns = equations(a), []
    for j in range(len(a)):
        probe = PROBE * (1.0 + magnitude(a[j]))
        moved = equations(tuple(v + probe if k == j else v for k, v in enumerate(a)))
        columns.append([(m - b) / probe for m, b in zip(moved, base, strict=True)])
    return _newton(base, list(zip(*columns, strict=True)), a)


def by_slopes(equations: Equations, slopes: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One step of Newton's method with exact derivatives: new accelerations, and residuals of the old ones."""
    return _newton(equations(a), slopes(a), a)


def _newton(base: Numbers, gain: Any, a: Numbers) -> tuple[Numbers, Numbers]:
    n = len(a)
    matrix = [[(1.0 if i == j else 0.0) - gain[i][j] for j in range(n)] for i in range(n)]
    residuals = tuple(b - v for b, v in zip(base, a, strict=True))
    change = solve_general(matrix, residuals)
    return tuple(v + d for v, d in zip(a, change, strict=True)), residuals


def sweep(equations: Equations, slopes: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One Gauss-Seidel sweep: new accelerations, and each equation's residual when its turn came.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., sec. 11.2 (theorem 11.2.3: convergence for symmetric
    positive definite matrices). Equations that are not affine get one Newton step each.
    """
    new, residuals = list(a), []
    for i in range(len(a)):
        residuals.append(equations(tuple(new))[i] - new[i])
        new[i] = new[i] + residuals[i] / (1.0 - slopes(tuple(new))[i][i])
    return tuple(new), tuple(residuals)


@dataclass(frozen=True)
class Method:
    """A way to iterate: one pass, how many are allowed, and evaluations of the equations in one (of n)."""

    advance: Callable[[Equations, Slopes, Numbers], tuple[Numbers, Numbers]]
    limit: int
    evaluations: Callable[[int], int]


METHODS = {
    "iterated": Method(by_differences, 50, lambda n: n + 1),
    "iterated_exact": Method(by_slopes, 50, lambda _: 1),
    "gauss_seidel": Method(sweep, 500, lambda _: 1),
}
