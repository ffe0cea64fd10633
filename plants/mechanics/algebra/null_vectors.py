"""Null vectors of the constraints without poles: a basis of quasi-velocities for those who have none at hand.

Row by row, the velocities that are still free are combined so that the row is fulfilled. Where some entries of a row
have a sum of squares that does not depend on the coordinates (a constant, a sine and a cosine), nothing is divided by
what may vanish. Else entries are multiplied crosswise with one of them. Such vectors have no poles either; two entries
give one that vanishes where the row does. More give vectors that are dependent where that one entry vanishes: it is the
largest at the initial coordinates. (No choice is good everywhere: a sphere has no field of tangents without a zero.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import symengine as se

from plants.mechanics.algebra.blocks import blocks_of, symbols
from plants.mechanics.algebra.normal_form import shortened
from plants.mechanics.algebra.symbolic import Landing, Symbolic
from plants.mechanics.declaration.declaration import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.tracing.tape import Traced
    from plants.mechanics.declaration.declaration import MechanismDeclaration

_MOST = 3  # entries whose squares are tried together


@dataclass
class _Free:
    """Velocities that the rows so far allow: v = sum_j columns[j] w_j + offset.

    Attributes
    ----------
    columns : list of (name, [n])
    offset : [n]
    start : mapping of symbol to number
        Initial coordinates, nominal parameters, time 0.
    """

    columns: list[tuple[str, list[Any]]]
    offset: list[Any]
    start: Mapping[Any, Any]


def null_vectors(declared: MechanismDeclaration) -> tuple[dict[str, tuple[Traced, ...]], tuple[Traced, ...]]:
    """Return columns of D by name and w0, on the declaration's tape.

    Raises
    ------
    DeclarationError
        Where constraints are not linear in the rates, a row says the same as those before it, or a moving row has no
        entry that never vanishes.
    """
    if not declared.linear:
        raise DeclarationError(
            f"mechanism {declared.name!r}: a velocity constraint is not linear in the rates, so no basis spans what it "
            "allows; give the rates with mech.quasi_velocities(...) and mech.admissible(...)"
        )
    calculus = Symbolic(declared)
    rows = blocks_of(calculus, declared).constraints
    varying = {*symbols(calculus, declared, "q"), calculus.symbol("t")}
    labels = [q.name for q in declared.quantities["q"]]
    units = [[se.Integer(int(i == j)) for i in range(declared.n)] for j in range(declared.n)]
    named = [(f"w_{name}", unit) for name, unit in zip(labels, units, strict=True)]
    free = _Free(named, [se.Integer(0)] * declared.n, _start(calculus, declared))
    for k, (row, drift) in enumerate(zip(rows.jacobian, rows.drift, strict=True)):
        _fulfil(free, row, drift, varying, f"constraint {k + 1} of mechanism {declared.name!r}")
    given = {calculus.symbol(name): declared.tape.input(name) for name in declared.tape.input_names.values()}
    landing = Landing(declared.tape, given, declared.tape, {}, calculus.symbol)

    def landed(values: Sequence[Any]) -> tuple[Traced, ...]:
        return tuple(declared.tape.lift(landing(value)) for value in values)

    return {name: landed(column) for name, column in free.columns}, landed(free.offset)


def _fulfil(free: _Free, row: Sequence[Any], drift: Any, varying: set[Any], what: str) -> None:
    """Combine the columns so that row . v + drift = 0."""
    entries = [_short(_dot(row, column)) for _, column in free.columns]
    remaining = _short(_dot(row, free.offset) + drift)
    used = [j for j, entry in enumerate(entries) if entry != 0]
    if not used:
        raise DeclarationError(f"{what} repeats those before it, or contradicts them; leave it out")
    chosen = _safe(entries, used, varying)
    if chosen:
        _by_squares(free, entries, chosen, remaining)
    elif remaining != 0:
        raise DeclarationError(
            f"{what} moves by itself and has no entry that never vanishes: give mech.basis(...) and "
            "mech.basis_offset(...) by hand"
        )
    else:
        _crosswise(free, entries, used)


def _safe(entries: Sequence[Any], used: Sequence[int], varying: set[Any]) -> tuple[int, ...]:
    """The fewest entries whose sum of squares depends on parameters alone."""
    for size in range(1, _MOST + 1):
        for group in combinations(used, size):
            total = _short(sum((entries[j] ** 2 for j in group), se.Integer(0)))
            if total != 0 and varying.isdisjoint(total.free_symbols):
                return group
    return ()


def _by_squares(free: _Free, entries: Sequence[Any], group: Sequence[int], remaining: Any) -> None:
    """A vector p with row . p = 1 from the group; all others and the offset have their share of it taken away."""
    total = _short(sum((entries[j] ** 2 for j in group), se.Integer(0)))
    columns = [column for _, column in free.columns]
    n = len(free.offset)
    unit = [_short(sum((entries[j] * columns[j][i] for j in group), se.Integer(0)) / total) for i in range(n)]
    free.offset = [_short(value - remaining * p) for value, p in zip(free.offset, unit, strict=True)]
    inside = _crossed(free, entries, group)
    kept = [
        (name, [_short(value - entries[j] * p) for value, p in zip(column, unit, strict=True)])
        for j, (name, column) in enumerate(free.columns)
        if j not in group
    ]
    free.columns = [*inside, *kept]


def _crosswise(free: _Free, entries: Sequence[Any], used: Sequence[int]) -> None:
    kept = [free.columns[j] for j in range(len(entries)) if j not in used]
    free.columns = [*_crossed(free, entries, used), *kept]


def _crossed(free: _Free, entries: Sequence[Any], group: Sequence[int]) -> list[tuple[str, list[Any]]]:
    """One vector fewer than the group has: each with one that is large at the start, times the other's entry."""
    centre = group[-1] if len(group) == 2 else max(group, key=lambda j: _size(entries[j], free.start))
    _, middle = free.columns[centre]
    result = []
    for j in group:
        name, column = free.columns[j]
        if j != centre:
            crossed = [_short(entries[centre] * x - entries[j] * y) for x, y in zip(column, middle, strict=True)]
            result.append((name, crossed))
    return result


def _start(calculus: Symbolic, declared: MechanismDeclaration) -> dict[Any, Any]:
    at = {calculus.symbol("t"): se.Integer(0)}
    for kind in "qp":
        numbers = (se.RealDouble(quantity.nominal) for quantity in declared.quantities[kind])
        at |= dict(zip(symbols(calculus, declared, kind), numbers, strict=True))
    return at


def _size(entry: Any, start: Mapping[Any, Any]) -> float:
    """Magnitude at the start; 0 where it is no real number there."""
    try:
        size = abs(float(se.sympify(entry).subs(start)))
    except (RuntimeError, TypeError, ValueError, ArithmeticError):
        return 0.0
    return size if size < math.inf else 0.0


def _short(value: Any) -> Any:
    return shortened(se.sympify(value))


def _dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(left, right, strict=True)), se.Integer(0))
