"""Statements for languages without fused multiply-add: sums of products are rounded twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from plants.core.printers.python import Printed

if TYPE_CHECKING:
    from collections.abc import Mapping


class Unfused(Printed):
    """Printer whose fused sums are plain arithmetic in parentheses."""

    def _fused(self, node: int, product: int) -> str:
        a, b, c = (self._text[k] for k in self._operands(node, product))
        if self.tape.operations[node] == "add":
            return f"({a} * {b} + {c})"
        return f"({a} * {b} - {c})" if product == self.tape.arguments[node][0] else f"({c} - {a} * {b})"

    def _expression(self, name: str, args: list[str]) -> str:
        return f"{args[0]} / {args[1]}" if name == "quotient" else super()._expression(name, args)


class Called(Unfused):
    """Printer whose elementary functions are calls under the language's own names; `kernels` has these names."""

    CALLS: ClassVar[Mapping[str, str]]

    def _print_sincos(self, node: int) -> None:
        (angle,) = self.tape.arguments[node]
        self._assign(node, self._expression(self.tape.operations[node], [self._text[angle]]))

    def _expression(self, name: str, args: list[str]) -> str:
        if name not in self.CALLS:
            return super()._expression(name, args)
        self.kernels.add(self.CALLS[name])
        return f"{self.CALLS[name]}({', '.join(args)})"
