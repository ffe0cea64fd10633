"""Statements of C99 in double and in single precision, without a call of a library.

Double precision has the operations of the compiled simulation; sums of products are fused where the processor does that
in hardware (``FP_FAST_FMA``), elsewhere they are rounded twice. Single precision computes in ``float`` throughout but
for elementary functions, which are evaluated in double and rounded.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from experiments.export.unfused import Unfused
from plants.core.printers.c import PrintedC


class Straight(PrintedC):
    """Statements in double precision."""

    REAL: ClassVar[str] = "double"

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"const {self.REAL} v{node} = {expression};")


class StraightFloat(Unfused, Straight):
    """Statements in single precision."""

    REAL: ClassVar[str] = "float"

    def _print_sincos(self, node: int) -> None:
        super()._print_sincos(node)
        self._text[node] = f"(float){self._text[node]}"

    def _expression(self, name: str, args: list[str]) -> str:
        text = super()._expression(name, args)
        return f"(float){text}" if text.startswith("k_") else text

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text in single precision."""
        with np.errstate(over="ignore"):
            rounded = float(np.float32(value))
        if not math.isfinite(rounded) and math.isfinite(value):
            raise ValueError(f"the constant {value} has no value in single precision; export in double")
        return PrintedC.literal(value) if not math.isfinite(value) else _short(rounded)


def _short(value: float) -> str:
    text = repr(float(str(np.float32(value))))
    return f"({text}f)" if math.copysign(1.0, value) < 0.0 else f"{text}f"


PRINTERS: dict[str, type[Straight]] = {"double": Straight, "float": StraightFloat}
