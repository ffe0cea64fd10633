"""SymPy expressions as a plant: their tree, operation by operation, becomes ours.

Source: A. Meurer et al., SymPy: symbolic computing in Python, PeerJ Computer Science 3 (2017) e103.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from plants.adapters import functions as extra
from plants.adapters.instructions import KINDS, Instructions, plant_of
from plants.adapters.optional import package
from plants.core import elementary as e

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.plant import Plant
    from plants.core.quantities import Quantity

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": e.sin, "cos": e.cos, "tan": e.tan, "asin": e.asin, "acos": e.acos, "atan": extra.atan, "atan2": e.atan2,
    "exp": e.exp, "log": e.log, "sinh": extra.sinh, "cosh": extra.cosh, "tanh": e.tanh, "asinh": extra.asinh,
    "acosh": extra.acosh, "atanh": extra.atanh, "Abs": e.abs, "sign": e.sign, "floor": e.floor,
    "ceiling": extra.ceiling, "Min": e.minimum, "Max": e.maximum, "StrictLessThan": extra.less,
    "LessThan": extra.less_equal, "StrictGreaterThan": lambda a, b: extra.less(b, a),
    "GreaterThan": lambda a, b: extra.less_equal(b, a), "Equality": extra.equal, "Unequality": extra.unequal,
    "And": extra.both, "Or": extra.either, "Not": extra.negated,
    "Add": lambda a, b: a + b, "Mul": lambda a, b: a * b,
}  # fmt: skip
_FOLDED = frozenset({"Add", "Mul", "Min", "Max", "And", "Or"})  # of any number of arguments


def from_sympy(
    name: str,
    expressions: Mapping[str, Any],
    *,
    states: Sequence[tuple[Any, Quantity]],
    inputs: Sequence[tuple[Any, Quantity]] = (),
    disturbances: Sequence[tuple[Any, Quantity]] = (),
    parameters: Sequence[tuple[Any, Quantity]] = (),
    time: Any = None,
    **more: Any,
) -> Plant:
    """Return a plant whose blocks are SymPy expressions; it is compiled like any other.

    Parameters
    ----------
    name : str
    expressions : mapping
        Of "derivative", and if there are any "outputs", "energy", "supplied_power", "entropy_rate": expressions,
        lists of them, or matrices.
    states, inputs, disturbances, parameters : sequence of (symbol, Quantity)
        What the expressions are made of: symbols, or functions of time such as ``dynamicsymbols``.
    time : symbol, optional
    **more
        Anything else that a :class:`plants.Plant` declares: `channels`, `measurements`, `situations`, ...

    Raises
    ------
    ValueError
        For an expression with other symbols or with a function that has no compiled form (naming it).
    """
    sympy = package("sympy")
    groups = dict(zip(KINDS, (states, inputs, disturbances, parameters), strict=True))
    places = {symbol: (kind, k) for kind, group in enumerate(KINDS, 1) for k, (symbol, _) in enumerate(groups[group])}
    if time is not None:
        places[time] = (0, 0)

    def translate(block: str, expression: Any) -> Instructions:
        flat = list(expression) if isinstance(expression, (list, tuple, sympy.MatrixBase)) else [expression]
        return _Translation(f"{block} of plant {name!r}", places).of([sympy.sympify(part) for part in flat])

    return plant_of(name, expressions, groups, translate, more)


class _Translation:
    """Of one block: each distinct expression once."""

    def __init__(self, what: str, places: Mapping[Any, tuple[int, int]]) -> None:
        self.what, self.places, self.code = what, places, Instructions()
        self.done: dict[Any, int] = {}
        self.sympy = package("sympy")

    def of(self, parts: Sequence[Any]) -> Instructions:
        self.code.outputs = [self.place(part) for part in parts]
        return self.code

    def place(self, root: Any) -> int:
        """Return the place of an expression; without recursion, as trees may be deep."""
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [] if node in self.places else [arg for arg in self._children(node) if arg not in self.done]
            if node in self.done or not waiting:
                stack.pop()
                if node not in self.done:
                    self.done[node] = self._write(node)
            else:
                stack += waiting
        return self.done[root]

    def _children(self, node: Any) -> list[Any]:
        if isinstance(node, self.sympy.Piecewise):
            return [part for pair in node.args for part in pair.args]
        return list(node.args)

    def _write(self, node: Any) -> int:
        sympy, code = self.sympy, self.code
        if node in self.places:
            return code.input(*self.places[node])
        if node in (sympy.true, sympy.false):
            return code.constant(1.0 if node == sympy.true else 0.0)
        if not node.args:
            if node.is_number and node.is_real:
                return code.constant(float(node))
            raise ValueError(f"{self.what} has {node}, which is no state, input, disturbance, parameter or real number")
        given = [self.done[child] for child in self._children(node)]
        if isinstance(node, sympy.Pow):
            return self._power(node, given)
        if isinstance(node, sympy.Piecewise):
            return self._pieces(given)
        kind = type(node).__name__
        if kind not in _FUNCTIONS:
            raise ValueError(f"{self.what}: SymPy's {kind} has no compiled form; rewrite it ({node})")
        if kind in _FOLDED:
            return functools.reduce(lambda a, b: code.add(_FUNCTIONS[kind], a, b), given)
        return code.add(_FUNCTIONS[kind], *given)

    def _power(self, node: Any, given: Sequence[int]) -> int:
        if not node.exp.is_number:
            return self.code.add(e.pow, *given)
        exponent = float(node.exp)
        if exponent == 0.5:
            return self.code.add(e.sqrt, given[0])
        return self.code.add(lambda base: e.pow(base, exponent), given[0])

    def _pieces(self, given: Sequence[int]) -> int:
        """The first value whose condition holds; NaN where none does."""
        result = self.code.constant(float("nan"))
        for value, condition in reversed(list(zip(given[::2], given[1::2], strict=True))):
            result = self.code.add(extra.chosen, condition, value, result)
        return result
