"""An interpreter of Structured Text: function blocks are checked for types and run, from their text alone.

It knows nothing of machines and printers: what an exported file says is what it does. Types must agree exactly, as in
the standard's second edition: only constants take the type of what they meet. Variables of VAR_TEMP have no value until
they are written; reading one before is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.export import st_types as types
from experiments.export.st_expressions import Expressions
from experiments.export.st_syntax import parse
from experiments.export.st_tree import Assign, If, Unit, Variable
from experiments.export.st_words import StructuredTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Memory = list[Any]
    Value = Callable[[Memory], Any]
    Statement = Callable[[Memory], None]


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

    def __call__(self, inputs: Mapping[str, float | bool]) -> tuple[Any, ...]:
        """Call it once: inputs by name; those left out keep their values. Returns the outputs in their order."""
        code, memory = self._code, self._memory
        for name, value in inputs.items():
            if name.upper() not in self.inputs:
                raise StructuredTextError(f"{code.unit.name} has no input {name!r}")
            kind = code.variables[name.upper()].type
            memory[code.places[name.upper()]] = value if kind == "BOOL" else types.converted(kind, value)
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

    def _initial(self, variable: Variable) -> Any:
        if variable.initial is None:
            return False if variable.type == "BOOL" else 0 if variable.type in types.INTEGERS else 0.0
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
