"""Fewer operations for the same values: what a whole program's sums and products have in common is computed once.

The tape itself only knows that equal operations on equal numbers are one. Here sums and products are taken as what they
are, of any number of terms in any order and of either sign: a + b + c and c + d + a share a + c, a - b is the negative
of b - a, a b + a c is a (b + c), and powers share powers.

Source: the greedy choice of the most frequent pair is that of Hosangadi, Fallah and Kastner, Optimizing polynomial
expressions by algebraic factorization and common subexpression elimination, IEEE Trans. CAD 25 (2006) 2012-2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.sharing.common_parts import factor, share_pairs
from plants.core.sharing.conversion import read, write

if TYPE_CHECKING:
    from plants.core.tracing.trace import Program

_COPIED = 12  # terms: longer sums and products of several uses are not opened
_ROUNDS = 8  # of each way, at most
_WORTH = 0.99  # a round that leaves more than this share of the operations is the last


def operations(program: Program) -> int:
    """Return the number of operations of a program: each sum, product, quotient, negation and function is one."""
    return sum(program.counts().values())


def shared(program: Program) -> Program:
    """Return a program of the same values with fewer operations.

    Parameters
    ----------
    program : Program

    Returns
    -------
    Program
        On a tape of its own; the given program itself where none with fewer operations was found. The same for the
        same program, whatever else is on its tape. The values are the same up to rounding, as long as products of some
        of the factors stay within the range of doubles. What is kept (:meth:`Tape.keep`) is not looked through.
        Selects, limits and functions stay as they are, but for the signs of odd and even functions' arguments.

    Notes
    -----
    Terms that cancel are dropped and sums are added up in another order: code that relies on the rounding of one
    operation, as compensated sums do, must keep its intermediate results.
    """
    found = [program, *(_settled(program, _COPIED, by_factors=by_factors) for by_factors in (False, True))]
    best = min(range(3), key=lambda way: operations(found[way]))  # the first of equals
    return _settled(found[best], 0, by_factors=best == 2)


def _settled(program: Program, copied: int, *, by_factors: bool) -> Program:
    """Repeat rounds while they help."""
    for _ in range(_ROUNDS):
        before, other = operations(program), _round(program, copied, by_factors=by_factors)
        if operations(other) < before:
            program = other
        if operations(program) > _WORTH * before:
            break
    return program


def _round(program: Program, copied: int, *, by_factors: bool) -> Program:
    """Take out common pairs and then common factors, or the other way round; there is no best order."""
    forms, outputs = read(program, copied)
    if by_factors:
        factor(forms, outputs)
    share_pairs(forms, forms.order(entry for _, entry in outputs))
    if not by_factors:
        factor(forms, outputs)
    return write(forms, outputs, program.inputs)
