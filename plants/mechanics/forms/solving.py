"""Constrained accelerations from the blocks, on floats, arrays and traced numbers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import quotient, where
from plants.core.linear_solve import solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    Numbers = Sequence[Any]
    Matrix = Sequence[Numbers]

DEPENDENT = 1e-10
"""Share of its diagonal entry below which a pivot counts as 0: the row repeats what the rows before it say."""


def dot(left: Numbers, right: Numbers) -> Any:
    """Inner product; plain zeros cost nothing."""
    total: Any = 0.0
    for a, b in zip(left, right, strict=True):
        if not (_is_zero(a) or _is_zero(b)):
            total = total + a * b
    return total


def range_space(mass: Matrix, load: Numbers, rows: Matrix, target: Numbers) -> tuple[list[Any], tuple[Any, ...]]:
    """Solve M a = f + A' lam, A a = target by Routh's equations in their range-space form.

    Parameters
    ----------
    mass : [n][n], positive definite
    load : [n]
    rows : [g][n]
        A, of full rank.
    target : [g]
        -gam.

    Returns
    -------
    list [n], tuple [g]
        Accelerations and multipliers.
    """
    return _pushed(mass, load, rows, target, solve_symmetric)


def least_constraint(mass: Matrix, load: Numbers, rows: Matrix, target: Numbers) -> tuple[list[Any], tuple[Any, ...]]:
    """Minimise Gauss' function under A a = target; rows that repeat others are left out by selects.

    Parameters, returns : as :func:`range_space`; A may have dependent rows, their multipliers are 0.
    """
    return _pushed(mass, load, rows, target, solve_semidefinite)


def _pushed(
    mass: Matrix, load: Numbers, rows: Matrix, target: Numbers, solve: Any
) -> tuple[list[Any], tuple[Any, ...]]:
    free = solve_symmetric(mass, load)
    answers = [solve_symmetric(mass, row) for row in rows]
    compliance = [[dot(row, answer) for answer in answers] for row in rows]
    multipliers = tuple(solve(compliance, [b - dot(row, free) for row, b in zip(rows, target, strict=True)]))
    accelerations = [
        a + dot([answer[i] for answer in answers], multipliers) if answers else a for i, a in enumerate(free)
    ]
    return accelerations, multipliers


def solve_semidefinite(matrix: Matrix, right: Numbers) -> tuple[Any, ...]:
    """Solve S x = b for positive semidefinite S [n][n] by L D L'; unknowns of vanishing pivots are 0."""
    n = len(right)
    low: list[list[Any]] = [[0.0] * n for _ in range(n)]
    inverse: list[Any] = []
    scaled: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for j in range(n):
        pivot = matrix[j][j] - dot(low[j][:j], scaled[j][:j])
        independent = pivot - DEPENDENT * matrix[j][j]
        inverse.append(where(independent, quotient(1.0, where(independent, pivot, 1.0)), 0.0))
        for i in range(j + 1, n):
            scaled[i][j] = matrix[i][j] - dot(low[j][:j], scaled[i][:j])
            low[i][j] = scaled[i][j] * inverse[j]
    result = list(right)
    for i in range(n):
        result[i] = result[i] - dot(low[i][:i], result[:i])  # a column of `low` whose pivot vanished is 0
    result = [value * factor for value, factor in zip(result, inverse, strict=True)]
    for i in reversed(range(n)):
        result[i] = result[i] - dot([low[k][i] for k in range(i + 1, n)], result[i + 1 :])
    return tuple(result)


def _is_zero(value: Any) -> bool:
    """Whether a value is the plain number 0, or computer algebra knows that it is 0."""
    return (isinstance(value, (int, float)) and value == 0.0) or getattr(value, "is_zero", False) is True


def solve_pivoted(matrix: Matrix, right: Numbers) -> tuple[Any, ...]:
    """Solve A x = b [n] by elimination with partial pivoting: rows are exchanged by selects, which traces."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for j in range(n):
        for i in range(j + 1, n):
            larger = magnitude(rows[i][j]) - magnitude(rows[j][j])
            rows[i], rows[j] = _exchanged(larger, rows[i], rows[j])
        for i in range(j + 1, n):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [0.0 if k <= j else a - factor * b for k, (a, b) in enumerate(zip(rows[i], rows[j], strict=True))]
    result: list[Any] = [0.0] * n
    for i in reversed(range(n)):
        result[i] = (rows[i][n] - dot(rows[i][i + 1 : n], result[i + 1 :])) / rows[i][i]
    return tuple(result)


def _exchanged(condition: Any, below: list[Any], above: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = list(zip(below, above, strict=True))
    return [where(condition, b, a) for a, b in pairs], [where(condition, a, b) for a, b in pairs]
