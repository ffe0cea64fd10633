"""Statements for languages without fused multiply-add: sums of products are rounded twice."""

from __future__ import annotations

from plants.core.printers.python import Printed


class Unfused(Printed):
    """Printer whose fused sums are plain arithmetic in parentheses."""

    def _fused(self, node: int, product: int) -> str:
        a, b, c = (self._text[k] for k in self._operands(node, product))
        if self.tape.operations[node] == "add":
            return f"({a} * {b} + {c})"
        return f"({a} * {b} - {c})" if product == self.tape.arguments[node][0] else f"({c} - {a} * {b})"
