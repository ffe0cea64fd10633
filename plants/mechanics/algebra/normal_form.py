"""Trigonometric normal form: sin^2 + cos^2 = 1 taken out of an expression, where that makes it shorter.

Headings and most terms of inertia leave the equations of wheeled and jointed systems this way. A general simplifier
reaches a comparable size in seconds; this takes milliseconds.
"""

from __future__ import annotations

from math import prod
from typing import Any

import symengine as se
from symengine.lib.symengine_wrapper import count_ops

MOST_TERMS = 4000  # an expansion that is longer than this is not pursued
MOST_PRODUCTS = 100_000  # nor is one tried that would write down more products than this


def shortened(expression: Any) -> Any:
    """Return the shortest of the expression, its form without cos^2 and its form without sin^2."""
    if _terms(expression) > MOST_PRODUCTS:
        return expression
    sines = _pairs(expression)
    if not sines:
        return _shortest(expression, se.expand(expression))
    names = {function: symbol for pair in sines.values() for function, symbol in pair}
    back = {symbol: function for function, symbol in names.items()}
    flat = se.expand(expression.xreplace(names))
    if len(flat.args) > MOST_TERMS:
        return expression
    sin_only = _without(flat, [(pair[1][1], pair[0][1]) for pair in sines.values()])
    cos_only = _without(sin_only, [(pair[0][1], pair[1][1]) for pair in sines.values()])
    return _shortest(expression, sin_only.xreplace(back), cos_only.xreplace(back))


def _terms(expression: Any) -> int:
    """Products that an expansion writes down, before equal ones are collected."""
    if isinstance(expression, se.Add):
        return sum(map(_terms, expression.args))
    if isinstance(expression, se.Mul):
        return prod(map(_terms, expression.args))
    if isinstance(expression, se.Pow) and expression.args[1].is_Integer and float(expression.args[1]) > 0.0:
        return int(_terms(expression.args[0]) ** int(expression.args[1]))
    return 1


def _shortest(*forms: Any) -> Any:
    return min(forms, key=count_ops)


def _pairs(expression: Any) -> dict[Any, tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """For each distinct argument: (sin(argument), its name), (cos(argument), its name)."""
    arguments: list[Any] = []
    stack, seen = [expression], set()
    while stack:
        part = stack.pop()
        if part in seen:
            continue
        seen.add(part)
        if isinstance(part, (se.sin, se.cos)) and part.args[0] not in arguments:
            arguments.append(part.args[0])
        stack.extend(part.args)
    return {
        a: ((se.sin(a), se.Symbol(f"_sin{k}")), (se.cos(a), se.Symbol(f"_cos{k}"))) for k, a in enumerate(arguments)
    }


def _without(expression: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """Replace even powers of the first of each pair by those of the second, and expand."""
    for gone, kept in pairs:
        powers = {
            gone**k: gone ** (k % 2) * (1 - kept**2) ** (k // 2) for k in range(2, _highest(expression, gone) + 1)
        }
        if powers:
            expression = se.expand(expression.xreplace(powers))
    return expression


def _highest(expression: Any, symbol: Any) -> int:
    highest = 1
    for term in expression.args if isinstance(expression, se.Add) else (expression,):
        for factor in term.args if isinstance(term, se.Mul) else (term,):
            if isinstance(factor, se.Pow) and factor.args[0] == symbol and factor.args[1].is_Number:
                highest = max(highest, int(factor.args[1]))
    return highest
