"""Normal forces f of contacts that push and never pull: 0 <= f, A f + b >= 0, and one of the two is 0 at each contact.

A f + b is what opens the contacts: accelerations of gaps, or gaps averaged over a short time. With friction in it A is
not symmetric. For two contacts the four cases are selects, straight-line code for lane loops; more of them are tried
one after the other by NumPy.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, minimum, sqrt, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Matrix = Sequence[Sequence[Any]]

_ROUNDING = 1e-12  # of the scaled problem


def two_contacts(matrix: Matrix, offset: Sequence[Any]) -> tuple[Any, Any]:
    """Return the forces of two contacts.

    Parameters
    ----------
    matrix : A [2][2]
        With positive diagonal and determinant (a P-matrix) there is exactly one solution. Much friction far ahead of or
        behind the centre of mass can break that (Painleve): then the forces of some case, none of them below 0.
    offset : b [2]

    Returns
    -------
    tuple of two numbers
    """
    (a, b), (c, d) = matrix
    left, right = offset
    apart = a * d - b * c
    both = (b * right - d * left) / apart, (c * left - a * right) / apart
    alone = maximum(-left / a, 0.0), maximum(-right / d, 0.0)
    free = minimum(left, right) + 1e-300  # touching without load counts as free
    pushed = minimum(*both)
    # With one contact alone the other one must not be pressed into the ground.
    first = minimum(-left, c * alone[0] + right)
    one = where(first, alone[0], 0.0), where(first, 0.0, alone[1])
    push = [where(free, 0.0, where(pushed, both[k], one[k])) for k in (0, 1)]
    return push[0], push[1]


def scaled(matrix: Matrix, offset: Sequence[Any]) -> tuple[tuple[tuple[Any, ...], ...], tuple[Any, ...], Any]:
    """Return the problem with entries of at most 1, and k2 of the forces fhat = k2 f: any units suit one tolerance.

    With an offset of 0 nothing is pressed: the scaled forces are 0.
    """
    k1 = _largest([magnitude(value) for value in offset])
    by = where(k1, k1, 1.0)
    k2 = _largest([magnitude(value) for row in matrix for value in row]) / by
    return tuple(tuple(v / (by * k2) for v in row) for row in matrix), tuple(v / by for v in offset), k2


def _largest(values: Sequence[Any]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = maximum(result, value)
    return result


def fischer_burmeister(force: Any, opening: Any) -> Any:
    """Return sqrt(f^2 + d^2) - f - d: 0 exactly where f >= 0, d >= 0 and one of them is 0.

    Source: A. Fischer, A special Newton-type optimization method, Optimization 24 (1992) 269-284.
    """
    return sqrt(force * force + opening * opening) - force - opening


def enumerated(matrix: ArrayLike, offset: ArrayLike) -> NDArray[np.float64]:
    """Return the forces of any number n of contacts by trying the 2^n cases, most contacts first (NumPy).

    Raises
    ------
    ValueError
        Where no case fits: A is no P-matrix.
    """
    rows, given = np.asarray(matrix, float), np.asarray(offset, float)
    n = len(given)
    if not given.any():
        return np.zeros(n)
    of_one, level, k2 = scaled(rows.tolist(), given.tolist())
    a, b = np.array(of_one), np.array(level)
    for closed in chain.from_iterable(combinations(range(n), size) for size in range(n, -1, -1)):
        force = np.zeros(n)
        chosen = list(closed)
        if chosen:
            part = a[np.ix_(chosen, chosen)]
            if np.linalg.matrix_rank(part) < len(chosen):
                continue
            force[chosen] = np.linalg.solve(part, -b[chosen])
        if force.min(initial=0.0) >= -_ROUNDING and (a @ force + b).min() >= -_ROUNDING:
            return np.maximum(force, 0.0) / float(k2)
    raise ValueError(
        "no set of closed contacts fits: the matrix of the contacts is no P-matrix (too much friction for the geometry)"
    )
