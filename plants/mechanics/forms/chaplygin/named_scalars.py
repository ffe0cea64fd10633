"""A tape of named scalars: every name keeps its definition, and nothing is substituted back.

Derivatives are directional. Each direction r moves every coordinate at a known speed, and the chain rule goes through
the names that a definition is written in (the dependency table):

    delta_r x = sum_j dx/dq_j delta_r q_j + sum_y dx/dy delta_r y

Every delta_r x is a name itself, formed once for each pair (x, r).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import symengine as se

from plants.core.tracing.trace import Program
from plants.mechanics.algebra.normal_form import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plants.mechanics.algebra.symbolic import Symbolic

_ZERO = se.Integer(0)


class Kept:
    """Named scalars over one calculus.

    Parameters
    ----------
    calculus : Symbolic
    sines : bool
        Layer 0: whether each distinct sine and cosine gets a name.

    Attributes
    ----------
    definitions : dict of symengine Symbol to expression
        A definition stands on coordinates, rates, inputs, parameters, and names.
    """

    def __init__(self, calculus: Symbolic, *, sines: bool = False) -> None:
        self.calculus, self.sines = calculus, sines
        self.definitions: dict[Any, Any] = {}
        self._table: dict[Any, tuple[Any, ...]] = {}
        self._moves: dict[Any, list[Any]] = {}
        self._along: dict[tuple[Any, int], Any] = {}
        self._functions: dict[Any, Any] = {}

    def name(self, label: str, expression: Any) -> Any:
        """Return a name for `expression`; constants and single symbols of either sign stay as they are.

        What is shortened is also looked through: names hide cancellations, and 0 needs none.
        """
        expression = self.in_names(self.calculus.short(expression))
        if self.calculus.trigonometric and self.vanishes(expression):
            return _ZERO
        if expression.is_Number or expression.is_Symbol or (-expression).is_Symbol:
            return expression
        return self._define(label, expression)

    def _define(self, label: str, expression: Any) -> Any:
        symbol = se.Symbol(f"__{label}")  # declared symbols have one underscore
        if symbol in self.definitions:
            raise ValueError(f"the name {label!r} is given twice")
        self.definitions[symbol] = expression
        self._table[symbol] = tuple(self.calculus.stands_on(expression))
        return symbol

    def in_names(self, expression: Any) -> Any:
        """Return the expression with the names of layer 0 in it."""
        if not self.sines:
            return expression
        for function in sorted(expression.atoms(se.sin, se.cos), key=str):
            if function not in self._functions:
                kind = "sn" if isinstance(function, se.sin) else "cs"
                self._functions[function] = self._define(f"{kind}{len(self._functions)}", function)
        return expression.xreplace(self._functions)

    # --------------------------------------------------------------------------------------------------- derivatives

    def move(self, coordinate: Any, speeds: Sequence[Any]) -> None:
        """Let `coordinate` move at these speeds along the directions 0, 1, ..."""
        self._moves[coordinate] = [se.sympify(speed) for speed in speeds]

    def delta(self, value: Any, direction: int) -> Any:
        """Return the derivative of a name, a coordinate or an expression in them along a direction."""
        value = se.sympify(value)
        if value in self._moves:
            return self._moves[value][direction]
        if value not in self.definitions:
            return self._chain(value, self.calculus.stands_on(value), direction)
        if (value, direction) not in self._along:
            slope = self._chain(self.definitions[value], self._table[value], direction)
            self._along[value, direction] = self.name(f"d{direction}{str(value).lstrip('_')}", slope)
        return self._along[value, direction]

    def _chain(self, value: Any, symbols: Iterable[Any], direction: int) -> Any:
        total = _ZERO
        for symbol in symbols:
            if symbol in self._moves or symbol in self.definitions:
                along = self.delta(symbol, direction)
                if along != 0:
                    total += self.in_names(self.calculus.gradient(value, [symbol])[0]) * along
        return total

    # ---------------------------------------------------------------------------------------------------- the program

    def ordered(self, values: Iterable[Any]) -> list[Any]:
        """Return the names that `values` need, each after those it is written in; names nobody uses are left out."""
        symbols = [s for value in values for s in self.calculus.stands_on(se.sympify(value))]
        return in_order(symbols, self._table)

    def written_back(self, values: Iterable[Any]) -> list[Any]:
        """Return `values` with every name replaced by its definition."""
        wanted = list(values)
        places = self._places(wanted)
        return self.calculus.replace(wanted, list(places), list(places.values()))

    def vanishes(self, expression: Any) -> bool:
        """Whether an expression is 0 with every name replaced."""
        places = self._places([expression])
        return bool(shortened(se.sympify(expression).xreplace(places)) == 0)

    def _places(self, values: Iterable[Any]) -> dict[Any, Any]:
        """What the names that `values` need stand for, in declared symbols."""
        places: dict[Any, Any] = {}
        for name in self.ordered(values):
            places[name] = self.definitions[name].xreplace(places)
        return places

    def land(self, values: Sequence[Any], inputs: Sequence[str]) -> Program:
        """Return the program that gives `values` from `inputs`, name by name."""
        landing = self.calculus.landing(inputs)
        for name in self.ordered(values):
            landing.name(name, self.definitions[name])
        return Program(landing.tape, tuple(inputs), landing.nodes(map(se.sympify, values)))


def in_order(wanted: Iterable[Any], table: Mapping[Any, Sequence[Any]]) -> list[Any]:
    """Return the keys of `table` that `wanted` stand on, each after those it stands on itself."""
    done: dict[Any, None] = {}
    stack = [(symbol, False) for symbol in reversed(list(wanted))]
    while stack:
        symbol, complete = stack.pop()
        if complete:
            done[symbol] = None
        elif symbol in table and symbol not in done:
            stack.append((symbol, True))
            stack.extend((below, False) for below in reversed(table[symbol]))
    return list(done)
