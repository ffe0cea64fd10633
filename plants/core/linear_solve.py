"""Unrolled solves of small symmetric and general systems, on floats, arrays and traced numbers.

No pivoting: mass matrices are positive definite, and the Newton matrices of algebraic loops
(:mod:`plants.core.algebraic_loop.iteration`) are close to the identity. The step matrices of
:mod:`plants.core.motion.integrators` are a multiple of the identity less a Jacobian: while the plant's modes
settle, or grow slowly against the step, they have large pivots; where one is lost :class:`Factors` tells. Sizes
up to 12 are meant for lane loops; the code is straight-line, so a kernel can carry it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import minimum, quotient, where

if TYPE_CHECKING:
    from collections.abc import Sequence

REMAINS = 1e-12  # share of its terms that a pivot must keep: four digits of it are right then


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
            low[i][j] = quotient(_minus_products(matrix[i][j], low[i][:j], scaled), diagonal[j])
    result = list(right)
    for i in range(n):
        result[i] = _minus_products(result[i], low[i][:i], result[:i])
    result = [quotient(value, pivot) for value, pivot in zip(result, diagonal, strict=True)]
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
            factor = quotient(rows[i][j], rows[j][j])
            rows[i] = [rows[i][k] - factor * rows[j][k] if k > j else 0.0 for k in range(n)]
            result[i] = result[i] - factor * result[j]
    for i in reversed(range(n)):
        result[i] = quotient(_minus_products(result[i], rows[i][i + 1 :], result[i + 1 :]), rows[i][i])
    return tuple(result)


@dataclass(frozen=True)
class Factors:
    """A = L U, for several right sides.

    Attributes
    ----------
    low, up : list of list [n][n]
        L below its diagonal of ones, U above its diagonal.
    inverse : list [n]
        Reciprocals of U's diagonal, the pivots.
    margin : number
        Above 0 where every pivot kept its digits; else what is solved with them is rounding.
    sign : number
        Sign of the determinant, 1 or -1.
    """

    low: list[list[Any]]
    up: list[list[Any]]
    inverse: list[Any]
    margin: Any
    sign: Any

    def solve(self, right: Sequence[Any]) -> tuple[Any, ...]:
        """Return x of A x = right [n]."""
        result = list(right)
        for i, row in enumerate(self.low):
            result[i] = _minus_products(result[i], row[:i], result[:i])
        for i, row in reversed(list(enumerate(self.up))):
            result[i] = _minus_products(result[i], row[i + 1 :], result[i + 1 :]) * self.inverse[i]
        return tuple(result)


def factorise(matrix: Sequence[Sequence[Any]], terms: Sequence[Any]) -> Factors:
    """Return L U = A [n][n], column by column and without pivoting; plain zeros of A cost nothing.

    A pivot is judged against what it is left of: `terms` [n], magnitudes that went into each diagonal entry of A, and
    the products that are taken from it here.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., sec. 3.2.
    """
    n = len(matrix)
    low: list[list[Any]] = [[0.0] * n for _ in range(n)]
    up: list[list[Any]] = [[0.0] * n for _ in range(n)]
    inverse: list[Any] = []
    margin: Any = 1.0
    sign: Any = 1.0
    for j in range(n):
        column: list[Any] = []
        for i in range(j):
            column.append(_minus_products(matrix[i][j], low[i][:i], column))
            up[i][j] = column[i]
        pivot = _minus_products(matrix[j][j], low[j][:j], column)
        size = sum((magnitude(a * b) for a, b in zip(low[j], column, strict=False)), terms[j])
        margin = minimum(margin, magnitude(pivot) - REMAINS * size)
        sign = where(pivot, sign, -sign)
        inverse.append(quotient(1.0, pivot))
        for i in range(j + 1, n):
            low[i][j] = _minus_products(matrix[i][j], low[i][:j], column) * inverse[j]
    return Factors(low, up, inverse, margin, sign)


def _minus_products(start: Any, left: Sequence[Any], right: Sequence[Any]) -> Any:
    for a, b in zip(left, right, strict=True):
        start = start - a * b
    return start
