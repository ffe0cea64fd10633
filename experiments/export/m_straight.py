"""Statements of MATLAB's language, which Octave shares: straight-line code on numbers of double precision.

Selects are ``if`` statements, because the language has no other form that leaves the branch not taken alone; sums of
products are rounded twice. Functions that leave the real numbers there give NaN here, by helpers.
"""

from __future__ import annotations

from typing import ClassVar

from experiments.export.unfused import Called
from plants.core.printers.forms import decimal

_CALLS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "tanh": "tanh", "floor": "floor", "atan2": "atan2",
    "sign": "sign", "asin": "k_asin", "acos": "k_acos", "log": "k_log", "sqrt": "k_sqrt", "pow": "k_pow",
}  # fmt: skip
_CHOICES = {"minimum": "<", "maximum": ">"}
HELPERS = {
    name: f"function y = {name}({arguments})\nif {inside}\n    y = {call};\nelse\n    y = NaN;\nend\nend\n"
    for name, arguments, inside, call in (
        ("k_asin", "x", "abs(x) <= 1", "asin(x)"),
        ("k_acos", "x", "abs(x) <= 1", "acos(x)"),
        ("k_log", "x", "x >= 0", "log(x)"),
        ("k_sqrt", "x", "x >= 0", "sqrt(x)"),
        ("k_pow", "x, p", "x >= 0 || p == floor(p)", "x ^ p"),
    )
}


class MStraight(Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = ""
    CALLS = _CALLS

    def _print(self, node: int) -> None:
        name = self.tape.operations[node]
        if self._uses.get(node) and name in {"where", *_CHOICES}:
            arguments = self.tape.arguments[node]
            if name == "where":
                mask = self._mask(arguments[0])
                then, other = arguments[1:]
            else:
                then, other = arguments
                mask = f"{self._text[then]} {_CHOICES[name]} {self._text[other]}"
            self._text[node] = f"v{node}"
            chosen = f"v{node} = {self._text[then]};", f"v{node} = {self._text[other]};"
            self.lines.append(f"if {mask}, {chosen[0]} else, {chosen[1]} end")
        else:
            super()._print(node)

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"v{node} = {expression};")

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"{name} = {mask};"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "NaN", "Inf")
