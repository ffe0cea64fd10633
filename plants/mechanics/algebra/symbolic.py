"""Derivatives by computer algebra: expressions are expanded, shortened and landed on a tape, with no text in between.

symengine derives. Plain symbols stand for coordinates and rates, so a derivative is one by a symbol. What it has no
function for (selects, limits) is an opaque symbol: allowed in forces, which are not differentiated.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import symengine as se

from plants.core import elementary
from plants.core.replay import replay
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program
from plants.mechanics.algebra.normal_form import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from plants.core.tracing.tape import Traced
    from plants.mechanics.declaration.declaration import MechanismDeclaration


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


_EXACT = 2.0**20  # halves, quarters ... become fractions, so that terms cancel exactly


Opaque = tuple[int, dict[Any, Any]]  # a node of the declaration's tape, and expressions in place of some of its inputs


class Symbolic:
    """The calculus of symengine's expressions.

    Parameters
    ----------
    declared : MechanismDeclaration
    trigonometric : bool
        Whether :meth:`short` brings to the trigonometric normal form.
    """

    def __init__(self, declared: MechanismDeclaration, *, trigonometric: bool = True) -> None:
        self.declared, self.trigonometric = declared, trigonometric
        self._symbols: dict[str, Any] = {}
        self._nodes: dict[int, Any] = {}
        self._opaque: dict[Any, Opaque] = {}

    def symbol(self, name: str) -> Any:
        """Return the symbol called `name` on the declaration's tape; its own name here is out of harm's way."""
        return self._symbols.setdefault(name, se.Symbol(f"_{name}"))

    def labels(self) -> dict[Any, Any]:
        """Return what stands for each symbol in a text: the declared names, rates of joints with a prime."""
        declared, kinds = self.declared, self.declared.quantities
        named = {f"{kind}{k}": q.name for kind in "qvsuwp" for k, q in enumerate(kinds.get(kind, ()))}
        if declared.places:
            named |= {f"z{k}": f"{s.name}'" for k, s in enumerate(kinds["s"])}
        elif declared.velocities is not None:
            named |= {f"z{k}": name for k, name in enumerate(declared.velocities.names)}
        return {self.symbol(own): se.Symbol(label) for own, label in named.items()}

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
        """Return the program that gives `values` from `inputs`; sharing is for :mod:`plants.core.sharing.sharing`."""
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


def in_words(expression: Any) -> str:
    """Return an expression as text: raised twos, factors side by side."""
    return str(expression).replace("**2", "²").replace("**", "^").replace("*", " ")


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
