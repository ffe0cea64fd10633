"""Tape to straight-line C99 that needs nothing but ``math.h`` and ``stdint.h``.

The text has the operations of the kernels in their order: the elementary kernels' own forms, ``fma`` where the
tape decides it, selects. Compiled without contraction (``-ffp-contract=off``; the pragma says the same to compilers
that know it) and with doubles evaluated as doubles it gives the kernels' results bit for bit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from plants.core.printers import c_kernels
from plants.core.printers.forms import Ternary, decimal
from plants.core.printers.python import Printed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plants.core.tracing.trace import Program

HEADER = """#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __GNUC__
#define K_INLINE static inline __attribute__((always_inline, unused))
#else
#define K_INLINE static inline
#pragma STDC FP_CONTRACT OFF
#endif
"""


class PrintedC(Ternary, Printed):
    """Statements in C that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = ";"
    ELSEWHERE: ClassVar[str] = "code in C"

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"const double v{node} = {expression};")

    def _print_sincos(self, node: int) -> None:
        (angle,) = self.tape.arguments[node]
        self.kernels.add("sincos")
        line = f"const struct k_sincos_results turn{angle} = k_sincos({self._text[angle]});"
        if line not in self.lines:
            self.lines.append(line)
        self._text[node] = f"turn{angle}.r{0 if self.tape.operations[node] == 'sin' else 1}"

    def _expression(self, name: str, args: list[str]) -> str:
        return f"fabs({args[0]})" if name == "abs" else super()._expression(name, args)

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"const _Bool {name} = {mask};"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "NAN", "INFINITY")

    @staticmethod
    def load(name: str, row: str) -> str:
        """Return the statement that reads a row of the workspace."""
        return f"const double {name} = S[{row}][lane];"

    @staticmethod
    def store(row: str, value: str) -> str:
        """Return the statement that writes a row of the workspace."""
        return f"S[{row}][lane] = {value};"

    @staticmethod
    def loop(lanes: int, name: str, lines: Iterable[str]) -> list[str]:
        """Return the loop over lanes around `lines`."""
        return [f"for (int lane = 0; lane < {lanes}; lane++) {{ /* {name} */", *(f"    {line}" for line in lines), "}"]


def function(name: str, program: Program) -> str:
    """Return a complete C file with one function that computes a program.

    Parameters
    ----------
    name : str
        Of the function ``void name(const double *in, double *out)``.
    program : Program
        Its inputs are ``in[0]``, ``in[1]``, ... in their order, its outputs ``out[0]``, ...; both may be one array.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the name is no C identifier.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"a C function needs a name of letters, digits and underscores, got {name!r}")
    tape = program.tape
    needed = set(tape.needed(program.outputs))
    places = {
        node: k for k, label in enumerate(program.inputs) for node in needed if tape.input_names.get(node) == label
    }
    code = PrintedC(tape, program.outputs, {node: f"in{k}" for node, k in places.items()})
    lines = [f"const double in{k} = in[{k}]; /* {program.inputs[k]} */" for k in sorted(places.values())]
    lines += [*code.lines, *(f"out[{k}] = {code.value(node)};" for k, node in enumerate(program.outputs))]
    body = "\n".join(f"    {line}" for line in lines)
    head = f"void {name}(const double *in, double *out)"
    return "\n".join([HEADER, *_kernels(code.kernels), f"{head};", "", head, "{", body, "}", ""])


def _kernels(names: set[str]) -> list[str]:
    return [c_kernels.source(names)] if names else []
