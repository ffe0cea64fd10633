"""Tape to Python text for the kernels' compiler: single statements, shared values named, selects with plain operands.

A sum with a product in it is printed as ``fma(a, b, c)``: one rounding, one instruction. The tape decides that, not the
compiler, so the same expression gives the same bits in every kernel that contains it.

Conditions of selects are comparisons: what a block writes with numbers costs one instruction and no arithmetic. A block
has no truth values: it multiplies numbers that are 1 or 0 and selects where a number is above 0. Printed as it is
written, a test of a limit is a subtraction, a comparison, a select of 1 or 0, a product with the other tests and a
comparison again, all in the chain from one state to the next. The same truth is ``high > x`` joined by ``&``:

- x - y > 0 exactly where x > y, by IEEE arithmetic with subnormal numbers (NaN: neither; equal infinities: neither);
- i z > 0 exactly where i > 0 and z > 0, for a number i that is 1 or 0 (0 times infinity is NaN: not above 0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from plants.core.tracing import calls
from plants.core.tracing.tape import TracingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plants.core.tracing.tape import Tape


Comparison = tuple[int, int | None]  # two nodes a > b; None stands for 0


class Masks:
    """The conditions of one tape as comparisons that all have to hold.

    Parameters
    ----------
    tape : Tape
    product : callable
        ``node -> node or None``: the product that is fused with a sum; such a difference is rounded once as a whole and
        stays a number.
    """

    def __init__(self, tape: Tape, product: Callable[[int], int | None]) -> None:
        self._tape, self._product = tape, product

    def comparisons(self, node: int) -> tuple[Comparison, ...]:
        """Return the comparisons that hold together exactly where the node is above 0."""
        name, arguments = self._tape.operations[node], self._tape.arguments[node]
        if name == "keep":
            return self.comparisons(arguments[0])
        if name == "sub" and self._product(node) is None:
            return ((arguments[0], arguments[1]),)
        if name == "where" and self._at_most_zero(arguments[2]):
            return self._joined(arguments[0], arguments[1])
        if name == "mul":
            for one, other in (arguments, arguments[::-1]):
                if self._is_indicator(one):
                    return self._joined(one, other)
        return () if self._tape.constants.get(node, 0.0) > 0.0 else ((node, None),)

    def operands(self, node: int) -> tuple[int, ...]:
        """Return the nodes that the condition reads."""
        return tuple(n for pair in self.comparisons(node) for n in pair if n is not None)

    def text(self, node: int, texts: Mapping[int, str]) -> str:
        """Return the condition with the texts of the nodes it reads."""
        found = [f"{texts[a]} > {'0.0' if b is None else texts[b]}" for a, b in self.comparisons(node)]
        return found[0] if len(found) == 1 else " & ".join(f"({comparison})" for comparison in found)

    def _joined(self, one: int, other: int) -> tuple[Comparison, ...]:
        return tuple(dict.fromkeys((*self.comparisons(one), *self.comparisons(other))))

    def _at_most_zero(self, node: int) -> bool:
        return self._tape.constants.get(node, 1.0) <= 0.0

    def _is_indicator(self, node: int) -> bool:
        """Whether the node is 1 or 0 whatever the inputs are."""
        name, arguments = self._tape.operations[node], self._tape.arguments[node]
        if name in {"where", "mul", "keep"}:
            return all(self._is_indicator(a) for a in arguments[name == "where" :])
        return self._tape.constants.get(node) in {0.0, 1.0}


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_CALLS = {"tan", "asin", "acos", "atan2", "exp", "log", "tanh", "pow", "floor", "sign", "sqrt", "quotient"}
_ATOMIC = {"minimum", "maximum", "where", "sin", "cos"}  # their operands are named first: nothing is lazily evaluated
_CHOICES = {"minimum": "<", "maximum": ">"}
_WIDTH = 70


class Printed:
    """Statements that compute the wanted nodes of one tape.

    Attributes
    ----------
    lines : list of str
        Assignments in order.
    kernels : set of str
        Names of elementary kernels that the text calls.
    called : dict of str to int
        Names of the user's functions that it calls, and how many numbers each gives.

    Printers of other languages derive from this one: which nodes are fused, named or called is decided here.
    """

    EMPTY: ClassVar[str] = "pass"
    ELSEWHERE: ClassVar[str] = ""
    """What the text is for where functions of the user cannot be called from it."""
    ALONE: ClassVar[frozenset[str]] = frozenset()
    """Elementary kernels whose calls are statements of their own."""

    def __init__(self, tape: Tape, outputs: Iterable[int], names: Mapping[int, str]) -> None:
        self.tape = tape
        self.lines: list[str] = []
        self.kernels: set[str] = set()
        self.called: dict[str, int] = {}
        self._text: dict[int, str] = dict(names)
        self._outputs = list(outputs)
        self._order = tape.needed(self._outputs)
        self._masks = Masks(tape, self._product)
        self._mask_names: dict[str, str] = {}
        self._calls: dict[tuple[str, tuple[int, ...]], int] = {}
        self._uses = self._count_uses()
        for node in self._order:
            if node not in self._text:
                self._print(node)

    def value(self, node: int) -> str:
        """Return the text of a node: a name, a literal, or an expression used once."""
        return self._text[node]

    def _count_uses(self) -> dict[int, int]:
        """How often each node is read; 0: it lives inside fused sums and conditions only."""
        uses = dict.fromkeys(self._order, 0)
        for node in self._outputs:
            uses[node] += 1
        for node in reversed(self._order):
            if uses[node] > 0:
                for argument in self._operands(node, self._product(node)):
                    uses[argument] += 2 if self._whole(self.tape.operations[node]) else 1
        return uses

    def _product(self, node: int) -> int | None:
        """The argument of a sum or difference that is a product to be fused with it."""
        if self.tape.operations[node] in {"add", "sub"}:
            for argument in self.tape.arguments[node]:
                if self.tape.operations[argument] == "mul":
                    return argument
        return None

    def _operands(self, node: int, product: int | None) -> tuple[int, ...]:
        if self.tape.operations[node] == "where":
            condition, then, other = self.tape.arguments[node]
            return (*self._masks.operands(condition), then, other)
        if product is None:
            return self.tape.arguments[node]
        left, right = self.tape.arguments[node]
        return (*self.tape.arguments[product], right if product == left else left)

    def _fused(self, node: int, product: int) -> str:
        a, b, c = (self._text[k] for k in self._operands(node, product))
        if self.tape.operations[node] == "add":
            return f"fma({a}, {b}, {c})"
        return f"fma({a}, {b}, -{c})" if product == self.tape.arguments[node][0] else f"fma(-{a}, {b}, {c})"

    def _print(self, node: int) -> None:
        name = self.tape.operations[node]
        product = self._product(node)
        if name == "const":
            self._text[node] = self.literal(self.tape.constants[node])
        elif self._uses[node] == 0:
            return
        elif name == "keep":
            self._text[node] = self._text[self.tape.arguments[node][0]]
        elif name in {"sin", "cos"}:
            self._print_sincos(node)
        elif calls.is_call(name):
            self._print_call(node)
        elif name == "where":
            condition, then, other = self.tape.arguments[node]
            mask = self._mask(condition)
            self._assign(node, self.select(mask, self._text[then], self._text[other]))
        else:
            if product is None:
                expression = self._expression(name, [self._text[a] for a in self.tape.arguments[node]])
            else:
                expression = self._fused(node, product)
            if self._uses[node] > 1 or len(expression) > _WIDTH or name in _ATOMIC or name in self.ALONE:
                self._assign(node, expression)
            else:
                self._text[node] = expression if product is not None else f"({expression})"

    def _mask(self, condition: int) -> str:
        """A condition's text: a comparison, or the name of several that have to hold together."""
        text = self._masks.text(condition, self._text)
        if " & " not in text:
            return text
        if text not in self._mask_names:
            self._mask_names[text] = f"m{condition}"
            self.lines.append(self.truth(f"m{condition}", text))
        return self._mask_names[text]

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"v{node} = {expression}")

    def _print_sincos(self, node: int) -> None:
        """One call gives the sine and the cosine of an angle."""
        (angle,) = self.tape.arguments[node]
        self.kernels.add("sincos")
        sine, cosine = f"sin{angle}", f"cos{angle}"
        line = f"{sine}, {cosine} = k_sincos({self._text[angle]})"
        if line not in self.lines:
            self.lines.append(line)
        self._text[node] = sine if self.tape.operations[node] == "sin" else cosine

    @staticmethod
    def _whole(operation: str) -> bool:
        """Whether the operands of an operation are named first."""
        return operation in _ATOMIC or calls.is_call(operation)

    def _print_call(self, node: int) -> None:
        """One call gives all results of a function."""
        operation, arguments = self.tape.operations[node], self.tape.arguments[node]
        function, number = calls.of(operation)
        if self.ELSEWHERE:
            raise TracingError(calls.refusal(function, self.ELSEWHERE))
        first = self._calls.setdefault((function.name, arguments), node)
        results = [f"c{first}_{k}" for k in range(function.results)]
        self._text[node] = results[number]
        if first == node:
            self.called[function.name] = function.results
            given = ", ".join(self._text[argument] for argument in arguments)
            self.lines.append(f"{', '.join(results)} = {function.name}({given})")

    def _expression(self, name: str, args: list[str]) -> str:
        if name in _INFIX:
            return f"{args[0]} {_INFIX[name]} {args[1]}"
        if name == "neg":
            return f"-{args[0]}"
        if name in _CHOICES:
            return self.select(f"{args[0]} {_CHOICES[name]} {args[1]}", args[0], args[1])
        if name == "abs":
            return f"abs({args[0]})"
        if name not in _CALLS:
            raise KeyError(f"the Python printer has no form for {name!r}")
        self.kernels.add(name)
        return f"k_{name}({', '.join(args)})"

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"{name} = {mask}"

    @staticmethod
    def select(mask: str, then: str, other: str) -> str:
        """Return the expression that is `then` where `mask` holds, else `other`."""
        return f"{then} if {mask} else {other}"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text."""
        if value != value:  # noqa: PLR0124  (the NaN test)
            return "np.nan"
        if value in {float("inf"), float("-inf")}:
            return "np.inf" if value > 0 else "-np.inf"
        return repr(value) if value >= 0.0 else f"({value!r})"

    @staticmethod
    def load(name: str, row: str) -> str:
        """Return the statement that reads a row of the workspace."""
        return f"{name} = S[{row}, lane]"

    @staticmethod
    def store(row: str, value: str) -> str:
        """Return the statement that writes a row of the workspace."""
        return f"S[{row}, lane] = {value}"

    @staticmethod
    def loop(lanes: int, name: str, lines: Iterable[str]) -> list[str]:
        """Return the loop over lanes around `lines`."""
        return [f"for lane in range({lanes}):  # {name}", *(f"    {line}" for line in lines)]
