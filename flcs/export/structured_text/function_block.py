"""A machine as a function block of IEC 61131-3 Structured Text, in LREAL or REAL, without vendors' extensions.

In that language names have no difference of case, keywords and standard functions are taken; elementary functions that
the standard lacks are written in standard ones.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, ClassVar

from flcs.export.machine import check_identifier
from flcs.export.statements import Called, single, template
from plants.core.tracing.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flcs.export.machine import Machine, MachinePart, MachineSignal


_WORDS = (
    # words of the language
    "abstract action and array at by case class configuration constant continue do else elsif end_action end_case "
    "end_class end_configuration end_for end_function end_function_block end_if end_interface end_method end_namespace "
    "end_program end_repeat end_resource end_step end_struct end_transition end_type end_var end_while exit extends "
    "false final for from function function_block if implements initial_step interface internal interval method mod "
    "namespace non_retain not null of on or overlap override priority private program protected public read_only "
    "read_write ref ref_to repeat resource retain return single step struct super task then this to transition true "
    "type until using var var_access var_config var_external var_global var_in_out var_input var_output var_temp while "
    "with xor "
    # types
    "bool byte word dword lword sint int dint lint usint uint udint ulint real lreal time ltime date ldate tod ltod "
    "time_of_day dt ldt date_and_time string wstring char wchar any any_num any_real any_int any_bit "
    # standard functions and function blocks
    "abs sqrt ln log exp sin cos tan asin acos atan atan2 add mul sub div expt move shl shr ror rol sel max min limit "
    "mux gt ge eq le lt ne len left right mid concat insert delete replace find trunc sr rs r_trig f_trig ctu ctd ctud "
    "tp ton tof rtc pid ramp hysteresis integral derivative en eno "
    # names that some compilers keep for themselves
    "s r n l d p sd ds sl ld st jmp cal ret"
)
RESERVED = frozenset(_WORDS.split())
_TEMPORARY = re.compile(r"[vms]\d+")


def identifiers(slots: Iterable[str], own: Iterable[str] = ()) -> dict[str, str]:
    """Return an identifier for each slot, all different whatever the case and none of them taken.

    Parameters
    ----------
    slots : iterable of str
    own : iterable of str
        Names that the text uses for itself.

    Raises
    ------
    ValueError
        If a slot has characters that no identifier has.
    """
    found, taken = dict[str, str](), {name.lower() for name in own} | RESERVED
    for slot in slots:
        check_identifier("Structured Text", slot)
        name = re.sub(r"_+", "_", slot).rstrip("_") or "slot"  # neither two underscores in a row nor one at the end
        while name.lower() in taken or _TEMPORARY.fullmatch(name.lower()):
            name += "_x"
        found[slot] = name
        taken.add(name.lower())
    return found


_WRITTEN = ("atan2", "floor", "sign", "tanh")  # in files of the language
_WHOLE = {"LREAL": ("LINT", "4503599627370496.0"), "REAL": ("DINT", "8388608.0")}


def source(names: Iterable[str], real: str) -> str:
    """Return the named functions, one after the other; names of standard functions are left out.

    Parameters
    ----------
    names : iterable of str
        Operations of a tape.
    real : {"LREAL", "REAL"}
    """
    integer, whole = _WHOLE[real]
    words = {"real": real, "int": integer, "whole": whole}
    given = set(names)
    return "".join(
        f"{template('flcs.export.structured_text', f'{name}.st', **words)}\n" for name in _WRITTEN if name in given
    )


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
            value = single(value, f"the constant {value} has no value in REAL; export in LREAL")
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
        f"{COUNT} := ({COUNT} + 1) MOD {machine.period};",
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
    def lines(signals: Iterable[MachineSignal]) -> list[str]:
        return [f"    {names[s.name]} : {real} := {start(s.name)}; (* {_comment(s.described)} *)" for s in signals]

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
    return Statements(Tape(), (), {}, real).literal(value).strip("()")


def _comment(words: str) -> str:
    return words.replace("(*", "( *").replace("*)", "* )")


def _restart(machine: Machine, names: Mapping[str, str], real: str) -> list[str]:
    given = {signal.name for signal in machine.inputs}
    slots = [slot for slot in machine.memory if slot not in given]
    values = [f"    {names[slot]} := {_literal(machine.memory[slot], real)};" for slot in slots]
    return [f"IF {RESTART} THEN", *values, f"    {COUNT} := 0;", "END_IF;"]


def _part(machine: Machine, part: MachinePart, names: Mapping[str, str], real: str) -> tuple[list[str], Statements]:
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
