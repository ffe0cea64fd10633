"""Matrices of floats in exact arithmetic, and whether a symmetric one is positive definite: no rounding, no doubt.

A float is an integer times a power of two, so a matrix of floats is one of integers times one power of two. Its leading
minors come from Bareiss' elimination, whose divisions leave no remainder; all of them positive means positive definite
(Sylvester).
Source: E. H. Bareiss, Mathematics of Computation 22 (1968) 565.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Exact:
    """A matrix as Python integers [n, m] (of any length) over a power of two."""

    integers: Any
    halvings: int

    @classmethod
    def of(cls, matrix: ArrayLike) -> Exact:
        """Return the floats of a matrix as they are: not what they stand for."""
        ratios = [[value.as_integer_ratio() for value in row] for row in np.asarray(matrix, float).tolist()]
        most = max(denominator for row in ratios for _, denominator in row)
        rows = [[numerator * (most // denominator) for numerator, denominator in row] for row in ratios]
        return cls(np.array(rows, dtype=object), most.bit_length() - 1)

    @property
    def T(self) -> Exact:
        """The transpose."""
        return Exact(self.integers.T, self.halvings)

    def __matmul__(self, other: Exact) -> Exact:
        return Exact(self.integers @ other.integers, self.halvings + other.halvings)

    def __add__(self, other: Exact) -> Exact:
        most = max(self.halvings, other.halvings)
        return Exact(self._over(most) + other._over(most), most)

    def __neg__(self) -> Exact:
        return Exact(-self.integers, self.halvings)

    def __sub__(self, other: Exact) -> Exact:
        return self + -other

    def times(self, factor: float) -> Exact:
        """Return the multiple by a float."""
        numerator, denominator = float(factor).as_integer_ratio()
        return Exact(self.integers * numerator, self.halvings + denominator.bit_length() - 1)

    def _over(self, halvings: int) -> Any:
        return self.integers * 2 ** (halvings - self.halvings)

    def is_positive_definite(self) -> bool:
        """Return whether the matrix is symmetric and positive definite."""
        rows = self.integers.tolist()
        size, before = len(rows), 1
        if any(rows[i][k] != rows[k][i] for i in range(size) for k in range(i)):
            return False
        for pivot in range(size):
            minor = rows[pivot][pivot]
            if minor <= 0:
                return False
            for i in range(pivot + 1, size):
                for k in range(i, size):
                    rows[i][k] = (rows[i][k] * minor - rows[pivot][i] * rows[pivot][k]) // before
            before = minor
        return True
