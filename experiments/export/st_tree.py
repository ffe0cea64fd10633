"""The tree of a text in Structured Text: expressions, statements, variables, functions and function blocks."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Expression:
    """Operation and operands: "real", "int", "bool" (value), "name", "call" (name and arguments), or an operator."""

    kind: str
    value: str = ""
    operands: tuple[Expression, ...] = ()
    line: int = 0


@dataclass(frozen=True)
class Assign:
    """``target := value``."""

    target: str
    value: Expression
    line: int


@dataclass(frozen=True)
class If:
    """Conditions with their statements; the last one's condition is None for ELSE."""

    branches: tuple[tuple[Expression | None, tuple[Assign | If, ...]], ...]


@dataclass(frozen=True)
class Variable:
    """A declaration."""

    name: str
    section: str
    type: str
    initial: Expression | None


@dataclass
class Unit:
    """A function or a function block; `result` is a function's type."""

    kind: str
    name: str
    result: str
    variables: list[Variable] = field(default_factory=list)
    body: tuple[Assign | If, ...] = ()
