"""Linear constraints solved for the dependent rates: v_dep = B v_ind, in symbols, block after block.

The rows are put in block triangular order: the fewest rows that hold no more unknowns than they are go first, and later
ones are written in the names of their results. Each block is solved by Cramer's rule: only its determinant's zeros are
poles, where elimination would add those of its pivots. Entries are always brought to their shortest form: with a
heading left in the determinant, quotients would stand where there are constants.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import symengine as se

from plants.mechanics.algebra.normal_form import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.mechanics.forms.chaplygin.named_scalars import Kept

_ZERO = se.Integer(0)


def named_slopes(
    kept: Kept, rows: Sequence[Sequence[Any]], independent: Sequence[int], dependent: Sequence[int]
) -> dict[int, list[Any]]:
    """Return the names of B's rows.

    Parameters
    ----------
    kept : Kept
        Where entries of B, and determinants that are sums, become names.
    rows : [g][n]
        A.
    independent, dependent : sequence of int [m], [g]
        Numbers of the coordinates.

    Returns
    -------
    dict of int to list [m]
        By number of the dependent coordinate.
    """
    rows = [[shortened(se.sympify(entry)) for entry in row] for row in rows]
    slopes: dict[int, list[Any]] = {}
    for chosen, unknown in _blocks(rows, dependent):
        matrix = [[rows[i][k] for k in unknown] for i in chosen]
        sides = [
            [-rows[i][s] - _sum(rows[i][k] * slopes[k][j] for k in slopes) for i in chosen]
            for j, s in enumerate(independent)
        ]
        _solve(kept, matrix, sides, unknown, slopes)
    return slopes


def _blocks(rows: Sequence[Sequence[Any]], dependent: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Rows and unknowns of each block, in the order of solution."""
    waiting, unsolved, blocks = list(range(len(rows))), list(dependent), []
    while waiting:
        chosen, unknown = _smallest(rows, waiting, unsolved)
        waiting = [i for i in waiting if i not in chosen]
        unsolved = [k for k in unsolved if k not in unknown]
        blocks.append((chosen, unknown))
    return blocks


def _smallest(rows: Sequence[Sequence[Any]], waiting: list[int], unsolved: list[int]) -> tuple[list[int], list[int]]:
    for size in range(1, len(waiting)):
        for chosen in combinations(waiting, size):
            unknown = [k for k in unsolved if any(rows[i][k] != 0 for i in chosen)]
            if len(unknown) == size:
                return list(chosen), unknown
    return waiting, unsolved


def _solve(kept: Kept, matrix: Any, sides: Any, unknown: Sequence[int], slopes: dict[int, list[Any]]) -> None:
    below = determinant(matrix)
    if isinstance(below, se.Add):
        below = kept.name("det" + "_".join(map(str, unknown)), below)
    for column, k in enumerate(unknown):
        above = [determinant(_replaced(matrix, column, side)) for side in sides]
        slopes[k] = [kept.name(f"k{k}_{j}", shortened(a / below)) for j, a in enumerate(above)]


def determinant(matrix: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant by expansion along rows, each minor formed once."""
    minors: dict[tuple[int, ...], Any] = {(): se.Integer(1)}
    n = len(matrix)
    for i, row in enumerate(matrix):
        wider: dict[tuple[int, ...], Any] = {}
        for columns in combinations(range(n), i + 1):
            terms = (
                (-1) ** (i + place) * row[j] * minors[columns[:place] + columns[place + 1 :]]
                for place, j in enumerate(columns)
            )
            wider[columns] = shortened(_sum(terms))
        minors = wider
    return minors[tuple(range(n))]


def _replaced(matrix: Sequence[Sequence[Any]], column: int, side: Sequence[Any]) -> list[list[Any]]:
    return [[side[i] if j == column else entry for j, entry in enumerate(row)] for i, row in enumerate(matrix)]


def _sum(terms: Any) -> Any:
    return sum(terms, _ZERO)
