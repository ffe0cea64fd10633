"""Partial derivatives of the tape's operations, for both directions of differentiation.

A derivative is a number on the same tape. Selects hand on the slope of the chosen branch; `floor` and `sign` have
derivative 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.tape import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plants.core.tape import Tape


def chain(tape: Tape, node: int, d: Mapping[int, Any]) -> Any:
    """Tangent of `node` from the tangents `d` of its arguments (by their place; those without one are left out)."""
    name = tape.operations[node]
    args = [Traced(tape, a) for a in tape.arguments[node]]
    if name in SELECTS:
        condition, then, other = SELECTS[name](args)
        return tape.apply("where", condition, d.get(then, 0.0), d.get(other, 0.0))
    total: Any = 0.0
    for k, dot in d.items():
        total = total + PARTIAL[name](Traced(tape, node), args, k) * dot
    return total


def _f(name: str, *args: Traced) -> Traced:
    return args[0].tape.apply(name, *args)


def _d_pow(out: Traced, a: list[Traced], k: int) -> Traced:
    return a[1] * _f("pow", a[0], a[1] - 1.0) if k == 0 else out * _f("log", a[0])


PARTIAL: dict[str, Callable[[Traced, list[Traced], int], Any]] = {
    "add": lambda _o, _a, _k: 1.0,
    "sub": lambda _o, _a, k: 1.0 if k == 0 else -1.0,
    "mul": lambda _o, a, k: a[1 - k],
    "div": lambda o, a, k: 1.0 / a[1] if k == 0 else -o / a[1],
    "quotient": lambda o, a, k: _f("quotient", a[0].tape.constant(1.0) if k == 0 else -o, a[1]),
    "neg": lambda _o, _a, _k: -1.0,
    "keep": lambda _o, _a, _k: 1.0,
    "sin": lambda _o, a, _k: _f("cos", a[0]),
    "cos": lambda _o, a, _k: -_f("sin", a[0]),
    "tan": lambda o, _a, _k: 1.0 + o * o,
    "asin": lambda _o, a, _k: 1.0 / _f("sqrt", 1.0 - a[0] * a[0]),
    "acos": lambda _o, a, _k: -1.0 / _f("sqrt", 1.0 - a[0] * a[0]),
    "atan2": lambda _o, a, k: (a[1] if k == 0 else -a[0]) / (a[0] * a[0] + a[1] * a[1]),
    "exp": lambda o, _a, _k: o,
    "log": lambda _o, a, _k: 1.0 / a[0],
    "sqrt": lambda o, _a, _k: 0.5 / o,
    "tanh": lambda o, _a, _k: 1.0 - o * o,
    "pow": _d_pow,
    "abs": lambda _o, a, _k: _f("sign", a[0]),
    "sign": lambda _o, _a, _k: 0.0,
    "floor": lambda _o, _a, _k: 0.0,
}
# The condition, and the places of the arguments that are taken where it is positive and where it is not.
SELECTS: dict[str, Callable[[list[Traced]], tuple[Traced, int, int]]] = {
    "minimum": lambda a: (a[1] - a[0], 0, 1),
    "maximum": lambda a: (a[0] - a[1], 0, 1),
    "where": lambda a: (a[0], 1, 2),
}
