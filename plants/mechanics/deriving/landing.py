"""From expressions of computer algebra to operations on a tape: no text in between."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import symengine as se

from plants.core import elementary
from plants.core.replay import replay
from plants.core.trace import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plants.core.tape import Tape, Traced


class SymbolicError(TypeError):
    """An expression that must be differentiated, or its derivative, has a function that cannot be handled here."""


class Landing:
    """Turns expressions into numbers of one tape.

    Integer powers become products, negative ones a single division for each product. Terms of sums and factors of
    products are taken in the order of their digests on the tape, which does not depend on the order of declaration.

    Parameters
    ----------
    tape : Tape
    symbols : mapping of symengine Symbol to Traced
    declared : Tape
        Where opaque symbols are defined.
    opaque : mapping of symengine Symbol to (node of `declared`, mapping of symbols to what stands in their place)
    symbol : callable
        The symbol of an input of `declared`.
    """

    def __init__(
        self,
        tape: Tape,
        symbols: Mapping[Any, Traced],
        declared: Tape,
        opaque: Mapping[Any, tuple[int, Mapping[Any, Any]]],
        symbol: Callable[[str], Any],
    ) -> None:
        self.tape, self.declared, self.opaque, self.symbol = tape, declared, opaque, symbol
        self._done: dict[Any, Any] = dict(symbols)

    def name(self, symbol: Any, definition: Any) -> None:
        """Let `symbol` stand for `definition` from here on."""
        self.place(symbol, self(definition))

    def place(self, symbol: Any, number: Any) -> None:
        """Let `symbol` stand for a number of the tape."""
        self._done[symbol] = number

    def nodes(self, expressions: Iterable[Any]) -> tuple[int, ...]:
        """Return the expressions' nodes."""
        return tuple(self.tape.lift(self(expression)).index for expression in expressions)

    def __call__(self, expression: Any) -> Any:
        """Return the expression as a number: traced, or a plain float."""
        if expression not in self._done:
            self._done[expression] = self._land(expression)
        return self._done[expression]

    def _land(self, expression: Any) -> Any:
        if expression.is_Number:
            return float(expression)
        if expression in self.opaque:
            return self._land_opaque(*self.opaque[expression])
        if isinstance(expression, se.Add):
            return self._sum(expression)
        if isinstance(expression, se.Mul):
            return self._product(expression.args)
        if isinstance(expression, se.Pow):
            base, exponent = expression.args
            if exponent.is_Number and float(exponent) < 0.0:
                return self._product((expression,))  # one division, by a power
            return self._power(base, exponent)
        function = _FUNCTIONS.get(type(expression).__name__)
        if function is None and not expression.free_symbols:
            return float(expression.n(53, real=True))  # pi, e
        if function is None:
            raise SymbolicError(
                f"computer algebra gives {type(expression).__name__} in {expression}, which has no operation here; "
                "build with derivatives='tape'"
            )
        return function(*(self(argument) for argument in expression.args))

    def _sum(self, expression: Any) -> Any:
        plus: list[Any] = []
        minus: list[Any] = []
        for term in expression.args:
            coefficient = term.args[0] if isinstance(term, se.Mul) else term
            negative = coefficient.is_Number and float(coefficient) < 0.0
            (minus if negative else plus).append(self(-term if negative else term))
        total = reduce(lambda a, b: a + b, self._ordered(plus)) if plus else None
        for value in self._ordered(minus):
            total = -value if total is None else total - value
        return total

    def _product(self, factors: Any) -> Any:
        above: list[Any] = []
        below: list[Any] = []
        constant = 1.0
        for factor in factors:
            base, exponent = factor.args if isinstance(factor, se.Pow) else (factor, se.Integer(1))
            if factor.is_Number:
                constant *= float(factor)
            elif exponent.is_Number and float(exponent) < 0.0:
                below.append(self._power(base, -exponent))
            else:
                above.append(self(factor))
        top = reduce(lambda a, b: a * b, self._ordered(above)) if above else None
        top = constant if top is None else -top if constant == -1.0 else constant * top
        return top / reduce(lambda a, b: a * b, self._ordered(below)) if below else top

    def _power(self, base: Any, exponent: Any) -> Any:
        if base == se.E:
            return elementary.exp(self(exponent))
        if exponent.is_Number:
            power = float(exponent)
            if (2.0 * power).is_integer() and not power.is_integer():
                return elementary.sqrt(self(base)) ** int(2.0 * power)
            return self(base) ** (int(power) if power.is_integer() else power)
        return elementary.pow(self(base), self(exponent))

    def _ordered(self, values: list[Any]) -> list[Any]:
        return sorted(values, key=lambda value: self.tape.shapes[self.tape.lift(value).index])

    def _land_opaque(self, node: int, places: Mapping[Any, Any]) -> Any:
        names = tuple(
            self.declared.input_names[k] for k in self.declared.needed((node,)) if k in self.declared.input_names
        )
        symbols = [self.symbol(name) for name in names]
        values = [self(places.get(symbol, symbol)) for symbol in symbols]
        return replay(Program(self.declared, names, (node,)), *values)[0]


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(elementary, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "tanh")
}
_FUNCTIONS["Abs"] = elementary.abs
