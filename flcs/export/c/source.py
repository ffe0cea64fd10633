"""A machine as files of C99: straight-line functions on one array, without allocation or library calls.

In double and in single precision; of ``math.h`` only macros and builtins are used.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, ClassVar

from flcs.export.statements import Unfused, printed_parts, single
from plants.core.printers import c_kernels
from plants.core.printers.c import PrintedC

if TYPE_CHECKING:
    from flcs.export.machine import Machine, MachinePart, MachineSignal
    from flcs.export.statements import PartStatements


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
        short = single(value, f"the constant {value} has no value in single precision; export in double")
        if not math.isfinite(value):
            return PrintedC.literal(value)
        return f"({short!r}f)" if math.copysign(1.0, short) < 0.0 else f"{short!r}f"


PRINTERS: dict[str, type[Straight]] = {"double": Straight, "float": StraightFloat}


_KEYWORDS = re.findall(
    r"\w+",
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while",
)
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
_FABS = """
K_INLINE double k_fabs_double(double x)
{
    return x < 0 ? -x : x;
}
"""
_ON_DEMAND = {"k_floored": _FLOOR, "k_copysigned": _COPYSIGN, "k_fabs_double": _FABS}
_OWN = {"fma": "K_FMA", "fabs": "k_fabs", "floor": "k_floored", "copysign": "k_copysigned"}


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
    machine.check_names("C", _KEYWORDS)
    return {f"{machine.name}.h": _header(machine, precision), f"{machine.name}.c": _source(machine, precision)}


def _header(machine: Machine, precision: str) -> str:
    guard, name = f"{machine.name.upper()}_H", machine.name
    lines = [
        f"/* {machine.text}.",
        f" * One sample every {machine.sample_time:.12g} s; {precision} precision; {len(machine.memory)} numbers.",
        f" * {name}_reset once, then {name}_step in each sample. No allocation, no library calls, no global state. */",
        f"#ifndef {guard}", f"#define {guard}", "",
        f"typedef {precision} {name}_real;", "",
        "typedef struct {",
        *(_member(machine, signal) for signal in machine.inputs),
        f"}} {name}_inputs;", "",
        "typedef struct {",
        *(_member(machine, signal) for signal in machine.outputs),
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


def _member(machine: Machine, s: MachineSignal) -> str:
    return f"    {machine.name}_real {s.name}; /* {s.described} */"


def _source(machine: Machine, precision: str) -> str:
    real = f"{machine.name}_real"

    def body(part: MachinePart, code: PartStatements) -> list[str]:
        loads = [f"const {real} s{place} = m[{place}]; /* {slot} */" for slot, place in code.reads]
        stores = [f"m[{place}] = {value}; /* {slot} */" for slot, place, value in code.writes]
        lines = [f"    {line}" for line in (*loads, *code.lines, *stores)]
        return [f"static void {part.name}({real} *m)", "{", *lines, "}"]

    bodies, kernels = printed_parts(machine, PRINTERS[precision], body)
    elementary = [c_kernels.source(kernels).replace("fabs(", "k_fabs_double(")] if kernels else []
    text = _own_calls("\n\n".join([*elementary, *bodies, _reset(machine, precision), _step(machine)]))
    helpers = _HELPERS.format(real=precision)
    helpers += "".join(source for name, source in _ON_DEMAND.items() if name in text)
    includes = f'#include "{machine.name}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
    return f"{includes}\n{helpers}\n{text}\n"


def _own_calls(text: str) -> str:
    """Put own helpers in the place of library functions."""
    return re.sub(r"\b(fma|fabs|floor|copysign)\(", lambda found: f"{_OWN[found[1]]}(", text)


def _reset(machine: Machine, precision: str) -> str:
    """Assign one number after another: gcc 12 copies arrays of some lengths wrongly where it is told of AVX-512."""
    name, literal = machine.name, PRINTERS[precision].literal
    lines = [
        f"    m[{place}] = {literal(value)}; /* {slot} */" for place, (slot, value) in enumerate(machine.memory.items())
    ]
    head = [f"void {name}_reset({name}_state *state)", "{", f"    {name}_real *m = state->m;"]
    return "\n".join([*head, *lines, "    state->sample = 0;", "}"])


def _step(machine: Machine) -> str:
    name, places = machine.name, machine.places
    lines = [f"void {name}_step({name}_state *state, const {name}_inputs *in, {name}_outputs *out)", "{"]
    lines += [f"    {name}_real *m = state->m;"]
    lines += [f"    m[{places[signal.name]}] = in->{signal.name};" for signal in machine.inputs]
    for part in machine.parts:
        when = "" if part.every == 1 else f"if (state->sample % {part.every}u == 0)\n        "
        lines.append(f"    {when}{part.name}(m);")
    lines.append(f"    state->sample = (state->sample + 1) % {machine.period}u;")
    lines += [f"    out->{signal.name} = m[{places[signal.name]}];" for signal in machine.outputs]
    return "\n".join([*lines, "}"])
