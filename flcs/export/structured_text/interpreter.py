"""An interpreter of Structured Text: function blocks are checked for types and run, from their text alone.

It knows nothing of machines and printers: what an exported file says is what it does. Types must agree exactly, as in
the standard's second edition: only constants take the type of what they meet. Variables of VAR_TEMP have no value until
they are written; reading one before is an error.

A REAL has single precision: every operation is evaluated in double precision and rounded. For sums, products, quotients
and square roots that is the correctly rounded result, since double precision has more than twice the digits and two.
Elementary functions are ``math``'s, rounded.
"""

from __future__ import annotations

import math
import operator
from ctypes import c_float
from typing import TYPE_CHECKING, Any

from flcs.export.structured_text.syntax import (
    Assign,
    DeclaredVariable,
    Expression,
    If,
    StructuredTextError,
    Unit,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Memory = list[Any]
    Value = Callable[[Memory], Any]
    Statement = Callable[[Memory], None]


REALS = ("LREAL", "REAL")
INTEGERS = {
    "SINT": (-(2**7), 2**7 - 1), "INT": (-(2**15), 2**15 - 1), "DINT": (-(2**31), 2**31 - 1),
    "LINT": (-(2**63), 2**63 - 1), "USINT": (0, 2**8 - 1), "UINT": (0, 2**16 - 1), "UDINT": (0, 2**32 - 1),
    "ULINT": (0, 2**64 - 1),
}  # fmt: skip
LITERALS = {"real": "any real", "int": "any integer"}
"""Types of constants: they take the type of what they meet."""


def single(x: float) -> float:
    """Round to single precision; what is too large becomes infinite."""
    return c_float(x).value


def divide(a: float, b: float) -> float:
    """Quotient by IEEE rules."""
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)  # noqa: PLR0124


def _total(function: Callable[[float], float]) -> Callable[[float], float]:
    def total(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if function is math.log and x == 0.0 else math.nan

    return total


def _expt(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):  # where Python raises, IEEE 754 has an infinity of a sign, or no number
        if a < 0.0 and not b.is_integer():
            return math.nan
        return math.copysign(math.inf, a) if abs(math.fmod(b, 2.0)) == 1.0 else math.inf


STANDARD: dict[str, Callable[..., float]] = {
    "ABS": abs, "SQRT": _total(math.sqrt), "EXP": _total(math.exp), "LN": _total(math.log), "SIN": _total(math.sin),
    "COS": _total(math.cos), "TAN": _total(math.tan), "ASIN": _total(math.asin), "ACOS": _total(math.acos),
    "ATAN": math.atan, "EXPT": _expt,
}  # fmt: skip
REAL_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "**": _expt,
}  # fmt: skip
INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda a, b: int(divide(a, b)), "MOD": lambda a, b: a - b * int(a / b) if b else 0,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
LOGIC: dict[str, Callable[[bool, bool], bool]] = {"AND": operator.and_, "OR": operator.or_, "XOR": operator.xor}


def wrapped(kind: str, value: int) -> int:
    """Return an integer as its type holds it."""
    low, high = INTEGERS[kind]
    return (value - low) % (high - low + 1) + low


def converted(kind: str, value: float) -> float | int:
    """Return a number as another type: integers by rounding half to even, as the standard says."""
    if kind == "LREAL":
        return float(value)
    if kind == "REAL":
        return single(value)
    return wrapped(kind, round(value)) if math.isfinite(value) else 0


_NUMBERS = (*REALS, *INTEGERS, *LITERALS.values())


class Expressions:
    """The variables of a function or function block, and expressions on them as closures over a list of their values.

    Attributes
    ----------
    variables : dict of name to DeclaredVariable
    places : dict of name to int
        In the list.
    """

    def __init__(self, unit: Unit, functions: Mapping[str, Compiled]) -> None:
        self.unit, self.functions = unit, functions
        self.variables: dict[str, DeclaredVariable] = {}
        if unit.result:
            self._declare(DeclaredVariable(unit.name, "result", unit.result, None))
        for variable in unit.variables:
            self._declare(variable)
        self.places = {name: place for place, name in enumerate(self.variables)}

    def names(self, section: str) -> tuple[str, ...]:
        """Return the variables of a section."""
        return tuple(name for name, variable in self.variables.items() if variable.section == section)

    def _declare(self, variable: DeclaredVariable) -> None:
        if variable.name in self.variables:
            raise StructuredTextError(f"{self.unit.name}: {variable.name} is declared twice")
        if variable.type not in {"BOOL", *REALS, *INTEGERS}:
            raise StructuredTextError(f"{self.unit.name}: {variable.name} has the unknown type {variable.type}")
        self.variables[variable.name] = variable

    def _variable(self, name: str, line: int) -> DeclaredVariable:
        if name not in self.variables:
            raise StructuredTextError(f"line {line}: {name} is not declared")
        return self.variables[name]

    def _as(self, kind: str, e: Expression) -> Value:
        """Return an expression of a wanted type; constants take it."""
        found, value = self._typed(e)
        if found == kind:
            return value
        fits = {"any real": REALS, "any integer": tuple(INTEGERS)}.get(found, ())
        if kind not in fits:
            raise StructuredTextError(f"line {e.line}: expected {kind}, got {found}")
        constant = converted(kind, value([]))
        return lambda _: constant

    def _typed(self, e: Expression) -> tuple[str, Value]:
        """Return the type of an expression and its value."""
        if e.kind in LITERALS:
            constant: Any = float(e.value) if e.kind == "real" else int(e.value)
            return LITERALS[e.kind], lambda _: constant
        if e.kind == "bool":
            truth = e.value == "TRUE"
            return "BOOL", lambda _: truth
        if e.kind == "name":
            variable = self._variable(e.value, e.line)
            place = self.places[variable.name]
            return variable.type, lambda memory: memory[place]
        if e.kind == "call":
            return self._call(e)
        if e.kind == "NOT":
            inner = self._as("BOOL", e.operands[0])
            return "BOOL", lambda memory: not inner(memory)
        if e.kind == "negative":
            return self._negative(e)
        return self._binary(e)

    def _negative(self, e: Expression) -> tuple[str, Value]:
        kind, inner = self._typed(e.operands[0])
        if kind not in _NUMBERS:
            raise StructuredTextError(f"line {e.line}: {kind} has no negative")
        return kind, lambda memory: -inner(memory)

    def _common(self, e: Expression) -> str:
        """Type of both operands."""
        left, right = (self._typed(operand)[0] for operand in e.operands)
        for kind, other in ((left, right), (right, left)):
            fits = {"any real": REALS, "any integer": tuple(INTEGERS)}.get(other, (other,))
            if kind == other or kind in fits:
                return kind
        raise StructuredTextError(f"line {e.line}: {e.kind} of {left} and {right}; types must agree")

    def _binary(self, e: Expression) -> tuple[str, Value]:
        if e.kind in LOGIC:
            left, right = (self._as("BOOL", operand) for operand in e.operands)
            logic = LOGIC[e.kind]
            return "BOOL", lambda memory: logic(left(memory), right(memory))
        kind = self._common(e)
        left, right = (
            self._typed(o)[1] if kind in LITERALS.values() else self._as(kind, o) for o in e.operands
        )  # fmt: skip
        if e.kind in COMPARISONS:
            compare = COMPARISONS[e.kind]
            if kind == "BOOL" and e.kind not in {"=", "<>"}:
                raise StructuredTextError(f"line {e.line}: BOOL has no order")
            return "BOOL", lambda memory: compare(left(memory), right(memory))
        return kind, self._arithmetic(e, kind, left, right)

    def _arithmetic(self, e: Expression, kind: str, left: Value, right: Value) -> Value:
        real = kind in {*REALS, "any real"}
        table: Mapping[str, Callable[..., Any]] = REAL_OPERATORS if real else INTEGER_OPERATORS
        if e.kind not in table or kind == "BOOL":
            raise StructuredTextError(f"line {e.line}: {kind} has no {e.kind}")
        operate = table[e.kind]
        if kind == "REAL":
            return lambda memory: single(operate(left(memory), right(memory)))
        if kind in INTEGERS:
            return lambda memory: wrapped(kind, operate(left(memory), right(memory)))
        return lambda memory: operate(left(memory), right(memory))

    def _call(self, e: Expression) -> tuple[str, Value]:
        if e.value in self.functions:
            function = self.functions[e.value]
            wanted = [function.variables[name].type for name in function.names("VAR_INPUT")]
            if len(wanted) != len(e.operands):
                raise StructuredTextError(f"line {e.line}: {e.value} takes {len(wanted)} inputs, got {len(e.operands)}")
            values = [self._as(kind, operand) for kind, operand in zip(wanted, e.operands, strict=True)]
            return function.unit.result, lambda memory: function.called(tuple(value(memory) for value in values))
        source, word, target = e.value.partition("_TO_")
        if word and {source, target} <= {*REALS, *INTEGERS} and len(e.operands) == 1:
            inner = self._as(source, e.operands[0])
            return target, lambda memory: converted(target, inner(memory))
        return self._standard(e)

    def _standard(self, e: Expression) -> tuple[str, Value]:
        if e.value not in STANDARD or len(e.operands) != 1 + (e.value == "EXPT"):
            raise StructuredTextError(f"line {e.line}: there is no function {e.value} of {len(e.operands)} inputs")
        kinds = [self._typed(operand)[0] for operand in e.operands]
        kind = next((k for k in kinds if k != "any real"), "LREAL")
        if kind not in REALS:
            raise StructuredTextError(f"line {e.line}: {e.value} takes REAL or LREAL, got {kind}")
        values, function = [self._as(kind, operand) for operand in e.operands], STANDARD[e.value]
        first = values[0]
        if len(values) == 2:
            return kind, lambda memory: converted(kind, function(first(memory), values[1](memory)))
        if kind == "REAL":
            return kind, lambda memory: single(function(first(memory)))
        return kind, lambda memory: function(first(memory))


def load(text: str) -> Block:
    """Return the one function block of a text; functions in front of it are known to it.

    Raises
    ------
    StructuredTextError
        Where the text is wrong or its types do not agree, with the line.
    """
    functions: dict[str, Compiled] = {}
    blocks = list[Compiled]()
    for unit in parse(text):
        compiled = Compiled(unit, functions)
        if unit.kind == "FUNCTION":
            functions[unit.name] = compiled
        else:
            blocks.append(compiled)
    if len(blocks) != 1:
        raise StructuredTextError(f"expected one function block, got {len(blocks)}")
    return Block(blocks[0])


class Block:
    """An instance of a function block.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Their names in capitals, in the order of their declaration.
    """

    def __init__(self, code: Compiled) -> None:
        self._code, self._memory = code, code.fresh()
        self.inputs, self.outputs = code.names("VAR_INPUT"), code.names("VAR_OUTPUT")

    def __getitem__(self, name: str) -> Any:
        """Return a variable."""
        return self._memory[self._code.places[name.upper()]]

    def __setitem__(self, name: str, value: float | bool) -> None:
        """Overwrite a variable, as a debugger does."""
        kind = self._code.variables[name.upper()].type
        self._memory[self._code.places[name.upper()]] = value if kind == "BOOL" else converted(kind, value)

    def __call__(self, inputs: Mapping[str, float | bool]) -> tuple[Any, ...]:
        """Call it once: inputs by name; those left out keep their values. Returns the outputs in their order."""
        code, memory = self._code, self._memory
        for name, value in inputs.items():
            if name.upper() not in self.inputs:
                raise StructuredTextError(f"{code.unit.name} has no input {name!r}")
            self[name] = value
        code.run(memory)
        return tuple(memory[code.places[name]] for name in self.outputs)


class Compiled(Expressions):
    """A function or a function block with its types checked, as closures over a list of its variables."""

    def __init__(self, unit: Unit, functions: Mapping[str, Compiled]) -> None:
        super().__init__(unit, functions)
        self._start = [self._initial(variable) for variable in self.variables.values()]
        self._temporary = [self.places[name] for name in self.names("VAR_TEMP")]
        self._body = self._statements(unit.body)

    def fresh(self) -> Memory:
        """Return all variables with their initial values."""
        return list(self._start)

    def run(self, memory: Memory) -> None:
        """Execute the body once.

        Raises
        ------
        StructuredTextError
            If a temporary variable is read before it is written.
        """
        for place in self._temporary:
            memory[place] = None
        try:
            for statement in self._body:
                statement(memory)
        except TypeError as error:
            empty = [name for name in self.names("VAR_TEMP") if memory[self.places[name]] is None]
            raise StructuredTextError(f"{self.unit.name}: read before it is written, one of {empty}") from error

    def called(self, arguments: tuple[Any, ...]) -> Any:
        """Return a function's result."""
        memory = self.fresh()
        for name, value in zip(self.names("VAR_INPUT"), arguments, strict=True):
            memory[self.places[name]] = value
        self.run(memory)
        return memory[self.places[self.unit.name]]

    def _initial(self, variable: DeclaredVariable) -> Any:
        if variable.initial is None:
            return False if variable.type == "BOOL" else 0 if variable.type in INTEGERS else 0.0
        value = self._as(variable.type, variable.initial)
        return value([])

    def _statements(self, several: tuple[Assign | If, ...]) -> tuple[Statement, ...]:
        return tuple(self._choice(s) if isinstance(s, If) else self._assignment(s) for s in several)

    def _assignment(self, statement: Assign) -> Statement:
        variable = self._variable(statement.target, statement.line)
        if variable.section == "VAR_INPUT":
            raise StructuredTextError(f"line {statement.line}: {variable.name} is an input; no block writes its inputs")
        value, place = self._as(variable.type, statement.value), self.places[variable.name]

        def assign(memory: Memory) -> None:
            memory[place] = value(memory)

        return assign

    def _choice(self, statement: If) -> Statement:
        branches = [
            (None if condition is None else self._as("BOOL", condition), self._statements(body))
            for condition, body in statement.branches
        ]

        def choose(memory: Memory) -> None:
            for condition, body in branches:
                if condition is None or condition(memory):
                    for inner in body:
                        inner(memory)
                    return

        return choose
