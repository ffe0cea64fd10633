"""Structured Text as C, from its text alone, as a compiler of a controller's maker makes it: for hours of samples.

Our interpreter of Structured Text checks types and reads every file slowly. This translation of the same syntax tree knows
neither machines nor printers either, so that the two agree only where the text means what both take it to mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flcs.export.structured_text import interpreter
from flcs.export.structured_text.syntax import If, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flcs.export.structured_text.syntax import Assign, DeclaredVariable, Expression, Unit

TYPES = {
    "LREAL": "double", "BOOL": "int", "UDINT": "unsigned int", "DINT": "int", "LINT": "long long",
}  # fmt: skip
_SIGNS = {"AND": "&", "OR": "|", "XOR": "^", "=": "==", "<>": "!=", "MOD": "%"}
_STANDARD = {
    "ABS": "fabs", "SQRT": "sqrt", "EXP": "exp", "LN": "log", "SIN": "sin", "COS": "cos", "TAN": "tan", "ASIN": "asin",
    "ACOS": "acos", "ATAN": "atan", "EXPT": "pow",
}  # fmt: skip
_HEAD = "#include <math.h>\n\n"


def translated(text: str) -> str:
    """Return C of a text in LREAL: its functions, and the block as a ``struct block``, ``reset`` and ``step``.

    Raises
    ------
    StructuredTextError
        As for `interpreter.load`, which checks the text's types.
    """
    interpreter.load(text)
    return _HEAD + "\n".join(_function(u) if u.kind == "FUNCTION" else _block(u) for u in parse(text))


def _function(unit: Unit) -> str:
    result = TYPES[unit.result]
    inputs = ", ".join(f"{TYPES[v.type]} {name_of(v.name)}" for v in unit.variables if v.section == "VAR_INPUT")
    own = [f"    {TYPES[v.type]} {name_of(v.name)} = {_start(v)};" for v in unit.variables if v.section != "VAR_INPUT"]
    body = _Body(unit.name, {v.name: name_of(v.name) for v in unit.variables} | {unit.name: "result"})
    lines = [*own, *body.statements(unit.body, 1)]
    return "\n".join([
        f"static {result} {name_of(unit.name)}({inputs})", "{", f"    {result} result = 0;", *lines, "    return result;", "}", "",
    ])  # fmt: skip


def _block(unit: Unit) -> str:
    kept = [v for v in unit.variables if v.section != "VAR_TEMP"]
    passing = [v for v in unit.variables if v.section == "VAR_TEMP"]
    names = {v.name: f"b->{name_of(v.name)}" for v in kept} | {v.name: name_of(v.name) for v in passing}
    body = _Body(unit.name, names)
    return "\n".join([
        "typedef struct {", *(f"    {TYPES[v.type]} {name_of(v.name)};" for v in kept), "} block;", "",
        "static void reset(block *b)", "{", *(f"    b->{name_of(v.name)} = {_start(v)};" for v in kept), "}", "",
        "static void step(block *b)", "{", *(f"    {TYPES[v.type]} {name_of(v.name)};" for v in passing),
        *body.statements(unit.body, 1), "}", "",
    ])  # fmt: skip


def name_of(name: str) -> str:
    """Return a variable's or function's name in C: no keyword or function there begins so."""
    return f"st_{name.lower()}"


def _start(variable: DeclaredVariable) -> str:
    return "0" if variable.initial is None else _Body("", {}).value(variable.initial)


class _Body:
    """Statements and expressions of a function or block, whose variables have these names in C."""

    def __init__(self, unit: str, names: dict[str, str]) -> None:
        self.unit, self.names = unit, names

    def statements(self, several: Iterable[Assign | If], depth: int) -> list[str]:
        """Return lines of C."""
        lines, space = list[str](), "    " * depth
        for statement in several:
            if not isinstance(statement, If):
                lines.append(f"{space}{self.names[statement.target]} = {self.value(statement.value)};")
                continue
            word = "if"
            for condition, body in statement.branches:
                lines.append(f"{space}else {{" if condition is None else f"{space}{word} ({self.value(condition)}) {{")
                lines += [*self.statements(body, depth + 1), f"{space}}}"]
                word = "else if"
        return lines

    def value(self, e: Expression) -> str:
        """Return an expression."""
        operands = [self.value(operand) for operand in e.operands]
        if e.kind in {"real", "int"}:
            return e.value
        if e.kind == "bool":
            return str(int(e.value == "TRUE"))
        if e.kind == "name":
            return self.names[e.value]
        if e.kind == "call":
            return self._call(e.value, operands)
        if e.kind in {"negative", "NOT"}:
            return f"({'-' if e.kind == 'negative' else '!'}{operands[0]})"
        if e.kind == "**":
            return f"pow({', '.join(operands)})"
        return f"({operands[0]} {_SIGNS.get(e.kind, e.kind)} {operands[1]})"

    @staticmethod
    def _call(name: str, operands: list[str]) -> str:
        source, word, target = name.partition("_TO_")
        if word and {source, target} <= set(TYPES):
            real = source == "LREAL" and target != "LREAL"  # to a whole number: half to even, as the standard says
            return f"(({TYPES[target]}){'llrint' if real else ''}({operands[0]}))"
        return f"{_STANDARD.get(name, name_of(name))}({', '.join(operands)})"
