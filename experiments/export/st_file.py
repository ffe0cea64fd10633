"""A machine as a function block of IEC 61131-3 Structured Text, in LREAL or REAL, without vendors' extensions.

Selects are IF statements, so that nothing depends on what a compiler makes of SEL, MIN or MAX with NaN. Elementary
functions are the standard ones; those that the standard lacks stand in front of the block as functions of their own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from experiments.export.st_functions import source
from experiments.export.st_names import identifiers
from experiments.export.unfused import Called

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from experiments.export.machine import Machine, Part, Signal
    from plants.core.tape import Tape

_STANDARD = {
    "exp": "EXP", "log": "LN", "sqrt": "SQRT", "tan": "TAN", "asin": "ASIN", "acos": "ACOS", "pow": "EXPT",
    "sin": "SIN", "cos": "COS", "abs": "ABS",
}  # fmt: skip
RESTART, COUNT = "restart", "sample_count"
_A_LINE = 12
_RESULT = "@"  # where an IF statement puts what it selects


class Statements(Called):
    """Statements of Structured Text.

    Attributes
    ----------
    temporaries, conditions : list of str
        Variables that the statements need.
    """

    EMPTY: ClassVar[str] = ";"
    CALLS = _STANDARD

    def __init__(self, tape: Tape, outputs: Iterable[int], names: Mapping[int, str], real: str) -> None:
        self.real, self.temporaries = real, list[str]()
        super().__init__(tape, outputs, names)

    @property
    def conditions(self) -> list[str]:
        """Names of truth values."""
        return list(self._mask_names.values())

    def _assign(self, node: int, expression: str) -> None:
        name = self._text[node] = f"v{node}"
        self.temporaries.append(name)
        statement = expression if _RESULT in expression else f"{_RESULT} := {expression}"
        self.lines.append(f"{statement.replace(_RESULT, name)};")

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"{name} := {mask.replace(' & ', ' AND ')};"

    @staticmethod
    def select(mask: str, then: str, other: str) -> str:
        """Return the statement that gives its result `then` where `mask` holds, else `other`."""
        return f"IF {mask} THEN {_RESULT} := {then}; ELSE {_RESULT} := {other}; END_IF"

    def literal(self, value: float) -> str:  # type: ignore[override]  # its text depends on the precision
        """Return a constant's text: a point and digits on both sides, an exponent where it needs one."""
        if not math.isfinite(value):
            raise ValueError(f"Structured Text has no constant for {value}")
        if self.real == "REAL":
            with np.errstate(over="ignore"):
                rounded = float(np.float32(value))
            if not math.isfinite(rounded):
                raise ValueError(f"the constant {value} has no value in REAL; export in LREAL")
            value = float(str(np.float32(value)))
        digits, _, exponent = repr(value).partition("e")
        text = (digits if "." in digits else f"{digits}.0") + (f"E{int(exponent)}" if exponent else "")
        return f"({text})" if math.copysign(1.0, value) < 0.0 else text


def text(machine: Machine, real: str = "LREAL") -> str:
    """Return the file of a machine.

    Parameters
    ----------
    machine : Machine
    real : {"LREAL", "REAL"}

    Raises
    ------
    ValueError
        If a name is no identifier, a constant has no value, or a part writes an input.
    """
    names = identifiers(machine.memory, (machine.name, RESTART, COUNT))
    bodies, temporaries, conditions, used = [], set[str](), set[str](), set[str]()
    for part in machine.parts:
        lines, code = _part(machine, part, names, real)
        bodies += lines
        temporaries |= set(code.temporaries)
        conditions |= set(code.conditions)
        used |= code.kernels
    block = [
        *_head(machine, real), f"FUNCTION_BLOCK {machine.name}", *_declarations(machine, names, real),
        "VAR_TEMP", *_listed(temporaries, real), *_listed(conditions, "BOOL"), "END_VAR", "",
        *_restart(machine, names, real), "", *bodies,
        f"{COUNT} := ({COUNT} + 1) MOD {math.lcm(*(part.every for part in machine.parts))};",
        "END_FUNCTION_BLOCK", "",
    ]  # fmt: skip
    return source(used, real) + "\n".join(block)


def _listed(names: Iterable[str], kind: str) -> list[str]:
    """Declarations without initial values, some on a line."""
    ordered = sorted(names, key=lambda name: (name[0], int(name[1:])))
    rows = [ordered[k : k + _A_LINE] for k in range(0, len(ordered), _A_LINE)]
    return [f"    {', '.join(row)} : {kind};" for row in rows]


def _head(machine: Machine, real: str) -> list[str]:
    return [
        f"(* {_comment(machine.text)}.",
        f"   Call it once every {machine.sample_time:.12g} s. {real}, {len(machine.memory)} numbers. *)",
    ]


def _declarations(machine: Machine, names: Mapping[str, str], real: str) -> list[str]:
    def lines(signals: Iterable[Signal]) -> list[str]:
        return [f"    {names[s.name]} : {real} := {start(s.name)}; {_told(s)}" for s in signals]

    def start(slot: str) -> str:
        return _literal(machine.memory[slot], real)

    states = [f"    {names[slot]} : {real} := {start(slot)};" for slot in machine.states]
    return [
        "VAR_INPUT", *lines(machine.inputs),
        f"    {RESTART} : BOOL := FALSE; (* TRUE: this sample is the first one *)", "END_VAR",
        "VAR_OUTPUT", *lines(machine.outputs), "END_VAR",
        "VAR", *states, f"    {COUNT} : UDINT := 0;", "END_VAR",
    ]  # fmt: skip


def _literal(value: float, real: str) -> str:
    from plants.core.tape import Tape

    return Statements(Tape(), (), {}, real).literal(value).strip("()")


def _told(s: Signal) -> str:
    reach = f", {s.low:.6g} .. {s.high:.6g}" if math.isfinite(s.low) or math.isfinite(s.high) else ""
    return f"(* [{_comment(s.unit) or '1'}] {_comment(s.text)}{reach} *)"


def _comment(words: str) -> str:
    return words.replace("(*", "( *").replace("*)", "* )")


def _restart(machine: Machine, names: Mapping[str, str], real: str) -> list[str]:
    given = {signal.name for signal in machine.inputs}
    slots = [slot for slot in machine.memory if slot not in given]
    values = [f"    {names[slot]} := {_literal(machine.memory[slot], real)};" for slot in slots]
    return [f"IF {RESTART} THEN", *values, f"    {COUNT} := 0;", "END_IF;"]


def _part(machine: Machine, part: Part, names: Mapping[str, str], real: str) -> tuple[list[str], Statements]:
    """Statements of a part; slots that it reads and writes are read first."""
    inputs = {signal.name for signal in machine.inputs}
    if inputs & set(part.writes):
        raise ValueError(f"{part.name} writes the input {', '.join(sorted(inputs & set(part.writes)))}: no block does")
    tape, places = part.program.tape, machine.places
    read = {node: name for node, name in tape.input_names.items() if name in part.program.inputs}
    needed = set(tape.needed(part.program.outputs))
    both = [name for node, name in sorted(read.items()) if node in needed and name in part.writes]
    known = {node: f"s{places[name]}" if name in both else names[name] for node, name in read.items()}
    code = Statements(tape, part.program.outputs, known, real)
    code.temporaries += [f"s{places[name]}" for name in both]
    lines = [f"s{places[name]} := {names[name]};" for name in both] + code.lines
    for slot, node in zip(part.writes, part.program.outputs, strict=True):
        lines.append(f"{names[slot]} := {code.value(node)};")
    title = f"(* {part.name} *)"
    if part.every == 1:
        return [title, *lines, ""], code
    return [title, f"IF {COUNT} MOD {part.every} = 0 THEN", *(f"    {line}" for line in lines), "END_IF;", ""], code
