"""A machine in C99: straight-line functions on one array, without allocation, tables or library calls.

Double precision has the operations of the compiled simulation; sums of products are fused where the processor does that
in hardware (``FP_FAST_FMA``), elsewhere they are rounded twice. Single precision computes in ``float`` throughout but
for elementary functions, which are evaluated in double and rounded. Of ``math.h`` only macros and builtins are used; the
text says where a library is needed after all.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plants.core.printers import c_kernels
from plants.core.printers.c import PrintedC

if TYPE_CHECKING:
    from experiments.export.machine import Machine, Part

PRECISIONS = ("double", "float")

_HELPERS = """
#ifdef __GNUC__
#define K_INLINE static inline __attribute__((unused))
#else
#define K_INLINE static inline
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef FP_FAST_FMA
#define K_FMA(a, b, c) fma((a), (b), (c))
#else
#define K_FMA(a, b, c) ((a) * (b) + (c))
#endif

K_INLINE {real} k_fabs({real} x)
{{
    return x < 0 ? -x : x;
}}
"""
_FLOOR = """
K_INLINE double k_floored(double x)
{
    const double whole = x > -4503599627370496.0 && x < 4503599627370496.0 ? (double)(int64_t)x : x;
    return whole > x ? whole - 1.0 : whole;
}
"""
_COPYSIGN = """
K_INLINE double k_copysigned(double x, double y)
{
    uint64_t a, b;
    double z;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    a = (a & UINT64_C(0x7fffffffffffffff)) | (b & UINT64_C(0x8000000000000000));
    memcpy(&z, &a, sizeof z);
    return z;
}
"""
_OWN = {"fma": "K_FMA", "fabs": "k_fabs", "floor": "k_floored", "copysign": "k_copysigned"}


class Straight(PrintedC):
    """Statements in double precision."""

    REAL: ClassVar[str] = "double"

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(f"const {self.REAL} v{node} = {expression};")


class StraightFloat(Straight):
    """Statements in single precision."""

    REAL: ClassVar[str] = "float"

    def _fused(self, node: int, product: int) -> str:
        a, b, c = (self._text[k] for k in self._operands(node, product))
        if self.tape.operations[node] == "add":
            return f"({a} * {b} + {c})"
        return f"({a} * {b} - {c})" if product == self.tape.arguments[node][0] else f"({c} - {a} * {b})"

    def _print_sincos(self, node: int) -> None:
        super()._print_sincos(node)
        self._text[node] = f"(float){self._text[node]}"

    def _expression(self, name: str, args: list[str]) -> str:
        if name == "quotient":
            return f"{args[0]} / {args[1]}"
        text = super()._expression(name, args)
        return f"(float){text}" if text.startswith("k_") else text

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text in single precision."""
        rounded = float(np.float32(value))
        if not math.isfinite(rounded) and math.isfinite(value):
            raise ValueError(f"the constant {value} has no value in single precision; export in double")
        return PrintedC.literal(value) if not math.isfinite(value) else _short(rounded)


def _short(value: float) -> str:
    text = repr(float(str(np.float32(value))))
    return f"({text}f)" if math.copysign(1.0, value) < 0.0 else f"{text}f"


_PRINTERS = {"double": Straight, "float": StraightFloat}


def texts(machine: Machine, precision: str = "double") -> dict[str, str]:
    """Return the files of a machine: a header, the source and a self-test, by name.

    Parameters
    ----------
    machine : Machine
    precision : {"double", "float"}

    Raises
    ------
    ValueError
        If a name is no C identifier, or a constant has no value in the precision.
    """
    for name in (machine.name, *machine.memory):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError(f"C needs names of letters, digits and underscores, got {name!r}")
    return {f"{machine.name}.h": _header(machine, precision), f"{machine.name}.c": _source(machine, precision)}


def _header(machine: Machine, precision: str) -> str:
    guard, name = f"{machine.name.upper()}_H", machine.name
    lines = [
        f"/* {machine.text}.",
        f" * One sample every {machine.sample_time:.12g} s; {precision} precision; {len(machine.memory)} numbers of memory.",
        f" * {name}_reset once, then {name}_step in each sample. No allocation, no library calls, no global state. */",
        f"#ifndef {guard}", f"#define {guard}", "",
        f"typedef {precision} {name}_real;", "",
        "typedef struct {",
        *(_member(machine, signal.name, signal.unit, signal.low, signal.high, signal.text) for signal in machine.inputs),
        f"}} {name}_inputs;", "",
        "typedef struct {",
        *(_member(machine, signal.name, signal.unit, signal.low, signal.high, signal.text) for signal in machine.outputs),
        f"}} {name}_outputs;", "",
        "typedef struct {",
        f"    {name}_real m[{len(machine.memory)}];",
        "    unsigned long sample;",
        f"}} {name}_state;", "",
        f"#define {guard.removesuffix('_H')}_SAMPLE_TIME {machine.sample_time!r}", "",
        f"void {name}_reset({name}_state *state);",
        f"void {name}_step({name}_state *state, const {name}_inputs *in, {name}_outputs *out);",
        "", "#endif", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _member(machine: Machine, name: str, unit: str, low: float, high: float, text: str) -> str:
    reach = f", {low:.6g} .. {high:.6g}" if math.isfinite(low) or math.isfinite(high) else ""
    return f"    {machine.name}_real {name}; /* [{unit or '1'}] {text}{reach} */"


def _source(machine: Machine, precision: str) -> str:
    bodies, kernels = [], set[str]()
    for part in machine.parts:
        lines, used = _part(machine, part, precision)
        bodies.append("\n".join(lines))
        kernels |= used
    text = "\n\n".join([*([c_kernels.source(kernels)] if kernels else []), *bodies, _reset(machine, precision), _step(machine)])
    text = _own_calls(text)
    helpers = _HELPERS.format(real=precision)
    helpers += _FLOOR if "k_floored" in text else ""
    helpers += _COPYSIGN if "k_copysigned" in text else ""
    if precision == "float" and kernels:
        text = text.replace("k_fabs(", "fabs(") if "fabs" in c_kernels.source(kernels) else text
    includes = f'#include "{machine.name}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
    return "\n".join([includes, helpers, text, ""])


def _own_calls(text: str) -> str:
    """Put own helpers in the place of library functions."""
    return re.sub(r"\b(fma|fabs|floor|copysign)\(", lambda found: f"{_OWN[found[1]]}(", text)


def _part(machine: Machine, part: Part, precision: str) -> tuple[list[str], set[str]]:
    places, tape, real = machine.places, part.program.tape, f"{machine.name}_real"
    nodes = {node: name for node, name in tape.input_names.items() if name in part.program.inputs}
    needed = set(tape.needed(part.program.outputs))
    code = _PRINTERS[precision](tape, part.program.outputs, {node: name for node, name in nodes.items()})
    lines = [f"static void {part.name}({real} *m)", "{"]
    lines += [f"    const {real} {name} = m[{places[name]}];" for node, name in nodes.items() if node in needed]
    lines += [f"    {line}" for line in code.lines]
    for slot, node in zip(part.writes, part.program.outputs, strict=True):
        lines.append(f"    m[{places[slot]}] = {code.value(node)}; /* {slot} */")
    return [*lines, "}"], code.kernels


def _reset(machine: Machine, precision: str) -> str:
    name, literal = machine.name, _PRINTERS[precision].literal
    start = ",\n".join(f"        {literal(value)} /* {slot} */" for slot, value in machine.memory.items())
    return "\n".join([
        f"void {name}_reset({name}_state *state)", "{",
        f"    static const {name}_real start[{len(machine.memory)}] = {{", start, "    };",
        "    memcpy(state->m, start, sizeof start);",
        "    state->sample = 0;", "}",
    ])  # fmt: skip


def _step(machine: Machine) -> str:
    name, places = machine.name, machine.places
    period = math.lcm(*(part.every for part in machine.parts))
    lines = [f"void {name}_step({name}_state *state, const {name}_inputs *in, {name}_outputs *out)", "{"]
    lines += [f"    {name}_real *m = state->m;"]
    lines += [f"    m[{places[signal.name]}] = in->{signal.name};" for signal in machine.inputs]
    for part in machine.parts:
        call = f"{part.name}(m);"
        lines.append(f"    {call}" if part.every == 1 else f"    if (state->sample % {part.every}u == 0)\n        {call}")
    lines.append(f"    state->sample = (state->sample + 1) % {period}u;")
    lines += [f"    out->{signal.name} = m[{places[signal.name]}];" for signal in machine.outputs]
    return "\n".join([*lines, "}"])
