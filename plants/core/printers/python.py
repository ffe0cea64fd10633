"""Tape to Python text for the kernels' compiler: single statements, shared values named, selects with plain operands.

A sum with a product in it is printed as ``fma(a, b, c)``: one rounding, one instruction. The tape decides that, not the
compiler, so the same expression gives the same bits in every kernel that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from plants.core.printers.masks import Masks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plants.core.tracing.tape import Tape

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

    Printers of other languages derive from this one: which nodes are fused, named or called is decided here.
    """

    EMPTY: ClassVar[str] = "pass"

    def __init__(self, tape: Tape, outputs: Iterable[int], names: Mapping[int, str]) -> None:
        self.tape = tape
        self.lines: list[str] = []
        self.kernels: set[str] = set()
        self._text: dict[int, str] = dict(names)
        self._outputs = list(outputs)
        self._order = tape.needed(self._outputs)
        self._masks = Masks(tape, self._product)
        self._mask_names: dict[str, str] = {}
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
                    uses[argument] += 2 if self.tape.operations[node] in _ATOMIC else 1
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
        elif name == "keep":
            self._text[node] = self._text[self.tape.arguments[node][0]]
        elif self._uses[node] == 0:
            return
        elif name in {"sin", "cos"}:
            self._print_sincos(node)
        elif name == "where":
            condition, then, other = self.tape.arguments[node]
            mask = self._mask(condition)
            self._assign(node, self.select(mask, self._text[then], self._text[other]))
        else:
            if product is None:
                expression = self._expression(name, [self._text[a] for a in self.tape.arguments[node]])
            else:
                expression = self._fused(node, product)
            if self._uses[node] > 1 or len(expression) > _WIDTH or name in _ATOMIC:
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
