"""Derivatives by computer algebra: expressions are expanded, shortened and landed on a tape.

symengine derives. Plain symbols stand for coordinates and rates, so a derivative is one by a symbol. What it has no
function for (selects, limits) is an opaque symbol: allowed in forces, which are not differentiated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import symengine as se

from plants.core.tape import Tape
from plants.core.trace import Program
from plants.mechanics.deriving.landing import Landing, SymbolicError
from plants.mechanics.deriving.normal_form import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.tape import Traced
    from plants.mechanics.declaring.declared import Declaration

_EXACT = 2.0**20  # halves, quarters ... become fractions, so that terms cancel exactly


Opaque = tuple[int, dict[Any, Any]]  # a node of the declaration's tape, and expressions in place of some of its inputs


class Symbolic:
    """The calculus of symengine's expressions.

    Parameters
    ----------
    declared : Declaration
    trigonometric : bool
        Whether :meth:`short` brings to the trigonometric normal form.
    """

    def __init__(self, declared: Declaration, *, trigonometric: bool = True) -> None:
        self.declared, self.trigonometric = declared, trigonometric
        self._symbols: dict[str, Any] = {}
        self._nodes: dict[int, Any] = {}
        self._opaque: dict[Any, Opaque] = {}

    def symbol(self, name: str) -> Any:
        """Return the symbol called `name` on the declaration's tape; its own name here is out of harm's way."""
        return self._symbols.setdefault(name, se.Symbol(f"_{name}"))

    def lift(self, values: Sequence[Traced]) -> list[Any]:
        """Return the declared expressions in this calculus."""
        tape = self.declared.tape
        for node in tape.needed(value.index for value in values):
            if node not in self._nodes:
                self._nodes[node] = self._expression(node)
        return [self._nodes[value.index] for value in values]

    def _expression(self, node: int) -> Any:
        tape = self.declared.tape
        operation = tape.operations[node]
        if operation == "input":
            return self.symbol(tape.input_names[node])
        if operation == "const":
            return _number(tape.constants[node])
        if operation in _OPERATIONS:
            return _OPERATIONS[operation](*(self._nodes[a] for a in tape.arguments[node]))
        opaque = se.Symbol(f"_opaque{node}")
        self._opaque[opaque] = (node, {})
        return opaque

    def gradient(self, value: Any, symbols: Sequence[Any]) -> list[Any]:
        """Return d value / d symbols."""
        value = se.sympify(value)
        self._refuse_opaque(value)
        return [value.diff(symbol) for symbol in symbols]

    def along(self, values: Sequence[Any], symbols: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
        """Return sum_j d values / d symbols[j] * directions[j]."""
        slopes = [self.gradient(value, symbols) for value in values]
        return [sum((d * s for d, s in zip(row, directions, strict=True)), se.Integer(0)) for row in slopes]

    def _refuse_opaque(self, value: Any) -> None:
        for symbol in value.free_symbols if self._opaque else ():
            if symbol in self._opaque:
                operation = self.declared.tape.operations[self._opaque[symbol][0]]
                raise SymbolicError(
                    f"mechanism {self.declared.name!r}: {operation} stands in an energy or a constraint, and computer "
                    "algebra does not differentiate it here; build with derivatives='tape'"
                )

    def replace(self, values: Sequence[Any], symbols: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return `values` with `numbers` in place of `symbols`, within opaque symbols too."""
        places = dict(zip(symbols, map(se.sympify, numbers), strict=True))
        wanted = [se.sympify(value) for value in values]
        if self._opaque:
            places |= self._followers(wanted, places)
        return [value.xreplace(places) for value in wanted]

    def _followers(self, values: Sequence[Any], places: dict[Any, Any]) -> dict[Any, Any]:
        """For each opaque symbol of `values` another one, that is evaluated at other places."""
        met = {symbol for value in values for symbol in value.free_symbols if symbol in self._opaque}
        followers = {}
        for symbol in sorted(met, key=str):
            node, before = self._opaque[symbol]
            moved = {name: number.xreplace(places) for name, number in before.items()}
            follower = se.Symbol(f"_opaque{node}_{len(self._opaque)}")
            self._opaque[follower] = (node, {**places, **moved})
            followers[symbol] = follower
        return followers

    def short(self, value: Any) -> Any:
        """Return the expression in trigonometric normal form where that is shorter."""
        return shortened(se.sympify(value)) if self.trigonometric else value

    def land(self, values: Sequence[Any], inputs: Sequence[str]) -> Program:
        """Return the program that gives `values` from `inputs`; what they share is for :mod:`plants.core.sharing`."""
        landing = self.landing(inputs)
        return Program(landing.tape, tuple(inputs), landing.nodes(map(se.sympify, values)))

    def landing(self, inputs: Sequence[str]) -> Landing:
        """Return what lands expressions on a new tape with these inputs."""
        tape = Tape()
        symbols = {self.symbol(name): tape.input(name) for name in inputs}
        return Landing(tape, symbols, self.declared.tape, self._opaque, self.symbol)

    def stands_on(self, value: Any) -> list[Any]:
        """Return the symbols that `value` is written in, in the order of their names; opaque ones stand on others."""
        found, stack = set(), list(value.free_symbols)
        while stack:
            symbol = stack.pop()
            if symbol in self._opaque:
                tape, (node, places) = self.declared.tape, self._opaque[symbol]
                below = [self.symbol(tape.input_names[k]) for k in tape.needed((node,)) if k in tape.input_names]
                stack.extend(s for name in below for s in se.sympify(places.get(name, name)).free_symbols)
            else:
                found.add(symbol)
        return sorted(found, key=str)


def _number(value: float) -> Any:
    scaled = value * _EXACT
    if scaled.is_integer() and abs(scaled) < 2.0**52:
        return se.Rational(int(scaled), int(_EXACT))
    return se.RealDouble(value)


_OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "quotient": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
    "sqrt": se.sqrt,
    **{name: getattr(se, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "tanh")},
}
