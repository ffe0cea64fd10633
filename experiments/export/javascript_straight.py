"""Statements of JavaScript: straight-line code whose elementary functions are the language's own."""

from __future__ import annotations

from typing import ClassVar

from experiments.export.unfused import Called
from plants.core.printers.forms import Ternary, decimal

_CALLS = {
    "sin": "Math.sin", "cos": "Math.cos", "tan": "Math.tan", "asin": "Math.asin", "acos": "Math.acos",
    "atan2": "Math.atan2", "exp": "Math.exp", "log": "Math.log", "tanh": "Math.tanh", "sqrt": "Math.sqrt",
    "floor": "Math.floor", "sign": "Math.sign", "abs": "Math.abs", "pow": "power",
}  # fmt: skip


class Script(Ternary, Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = ";"
    CALLS = _CALLS

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"const v{node} = {expression};")

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"const {name} = {mask.replace(' & ', ' && ')};"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "NaN", "Infinity")
