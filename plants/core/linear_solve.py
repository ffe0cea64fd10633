"""Unrolled solves of small symmetric and general systems, on floats, arrays and traced numbers.

No pivoting: mass matrices are positive definite, and the Newton matrices of :mod:`plants.core.loops` are close to
the identity. Sizes up to 12 are meant for lane loops; the code is straight-line, so a kernel can carry it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def solve_symmetric(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> tuple[Any, ...]:
    """Solve M a = f for positive definite M [n][n] (its lower triangle is read) by L D L'.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., sec. 4.1.2.
    """
    n = len(right)
    low: list[list[Any]] = [[0.0] * n for _ in range(n)]
    diagonal: list[Any] = [0.0] * n
    for j in range(n):
        scaled = [low[j][k] * diagonal[k] for k in range(j)]
        diagonal[j] = _minus_products(matrix[j][j], low[j][:j], scaled)
        for i in range(j + 1, n):
            low[i][j] = _minus_products(matrix[i][j], low[i][:j], scaled) / diagonal[j]
    result = list(right)
    for i in range(n):
        result[i] = _minus_products(result[i], low[i][:i], result[:i])
    result = [value / pivot for value, pivot in zip(result, diagonal, strict=True)]
    for i in reversed(range(n)):
        result[i] = _minus_products(result[i], [low[k][i] for k in range(i + 1, n)], result[i + 1 :])
    return tuple(result)


def solve_general(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> tuple[Any, ...]:
    """Solve A x = b by elimination without pivoting."""
    n = len(right)
    rows = [list(row) for row in matrix]
    result = list(right)
    for j in range(n):
        for i in range(j + 1, n):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [rows[i][k] - factor * rows[j][k] if k > j else 0.0 for k in range(n)]
            result[i] = result[i] - factor * result[j]
    for i in reversed(range(n)):
        result[i] = _minus_products(result[i], rows[i][i + 1 :], result[i + 1 :]) / rows[i][i]
    return tuple(result)


def _minus_products(start: Any, left: Sequence[Any], right: Sequence[Any]) -> Any:
    for a, b in zip(left, right, strict=True):
        start = start - a * b
    return start
