"""Structured Text from its characters to a tree: what function blocks and functions need of IEC 61131-3.

Words first (names, numbers, signs, with the lines they stand in); then expressions, statements, variables, functions
and function blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

_TOKEN = re.compile(
    r"(?P<space>\s+|\(\*.*?\*\))"
    r"|(?P<real>\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d+)?)"
    r"|(?P<int>\d[\d_]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>:=|<=|>=|<>|\*\*|[-+*/()<>=:;,&])",
    re.DOTALL,
)
_WORDS = (
    "FUNCTION FUNCTION_BLOCK PROGRAM END_FUNCTION END_FUNCTION_BLOCK END_PROGRAM VAR VAR_INPUT VAR_OUTPUT VAR_TEMP "
    "VAR_IN_OUT VAR_EXTERNAL VAR_GLOBAL END_VAR IF THEN ELSIF ELSE END_IF CASE OF END_CASE FOR TO BY DO END_FOR WHILE "
    "END_WHILE REPEAT UNTIL END_REPEAT EXIT RETURN AND OR XOR NOT MOD TRUE FALSE AT CONSTANT RETAIN ARRAY STRUCT TYPE "
    "BOOL BYTE WORD DWORD LWORD SINT INT DINT LINT USINT UINT UDINT ULINT REAL LREAL TIME DATE STRING STEP ACTION ON "
    "CONFIGURATION RESOURCE TASK TRANSITION EN ENO R_EDGE F_EDGE"
)
KEYWORDS = frozenset(_WORDS.split())


class StructuredTextError(ValueError):
    """A text that is not Structured Text, or does not mean anything."""


@dataclass(frozen=True)
class Token:
    """A word with its line; `text` of names is in capitals."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> list[Token]:
    """Return the words of a text, without comments.

    Raises
    ------
    StructuredTextError
        For a character that starts no word, with its line.
    """
    found, place, line = list[Token](), 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise StructuredTextError(f"line {line}: unexpected {text[place]!r}")
        kind, word = str(match.lastgroup), match[0]
        if kind != "space":
            found.append(Token(kind, word.upper() if kind == "name" else word.replace("_", ""), line))
        line += word.count("\n")
        place = match.end()
    return [*found, Token("end", "", line)]


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
class DeclaredVariable:
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
    variables: list[DeclaredVariable] = field(default_factory=list)
    body: tuple[Assign | If, ...] = ()


_LEVELS = (("OR",), ("XOR",), ("AND", "&"), ("=", "<>"), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "MOD"))
SECTIONS = ("VAR_INPUT", "VAR_OUTPUT", "VAR", "VAR_TEMP")


def parse(text: str) -> list[Unit]:
    """Return the functions and function blocks of a text.

    Raises
    ------
    StructuredTextError
        Where it is not Structured Text, with the line.
    """
    reader, units = _SyntaxReader(tokens(text)), list[Unit]()
    while reader.now.kind != "end":
        units.append(reader.unit())
    return units


class _SyntaxReader:
    """Recursive descent, one word ahead."""

    def __init__(self, words: list[Token]) -> None:
        self.words, self.place = words, 0

    @property
    def now(self) -> Token:
        return self.words[self.place]

    def take(self, *texts: str, kind: str = "") -> Token:
        """Return the next word, which must be one of `texts` or of a kind, and go on."""
        word = self.now
        if (texts and word.text not in texts) or (kind and word.kind != kind):
            self.refuse(" or ".join(texts) or kind)
        self.place += 1
        return word

    def refuse(self, wanted: str) -> NoReturn:
        raise StructuredTextError(f"line {self.now.line}: expected {wanted}, got {self.now.text or 'the end'!r}")

    def identifier(self) -> Token:
        """Return the next word, which must be a name of the author's own."""
        word = self.now
        if word.text in KEYWORDS or "__" in word.text or word.text.endswith("_"):
            self.refuse("an identifier")
        return self.take(kind="name")

    def unit(self) -> Unit:
        kind = self.take("FUNCTION", "FUNCTION_BLOCK").text
        unit = Unit(kind, self.identifier().text, "")
        if kind == "FUNCTION":
            self.take(":")
            unit.result = self.take(kind="name").text
        while self.now.text in SECTIONS:
            self.section(unit)
        unit.body = self.statements(f"END_{kind}")
        self.take(f"END_{kind}")
        return unit

    def section(self, unit: Unit) -> None:
        section = self.take(*SECTIONS).text
        while self.now.text != "END_VAR":
            names = [self.identifier().text]
            while self.now.text == ",":
                self.take(",")
                names.append(self.identifier().text)
            self.take(":")
            kind, initial = self.take(kind="name").text, None
            if self.now.text == ":=":
                self.take(":=")
                initial = self.expression()
            self.take(";")
            unit.variables += [DeclaredVariable(name, section, kind, initial) for name in names]
        self.take("END_VAR")

    def statements(self, *ends: str) -> tuple[Assign | If, ...]:
        found = list[Assign | If]()
        while self.now.text not in ends:
            if self.now.text == "IF":
                found.append(self.choice())
            elif self.now.text != ";":
                target = self.identifier()
                self.take(":=")
                found.append(Assign(target.text, self.expression(), target.line))
            self.take(";")
        return tuple(found)

    def choice(self) -> If:
        self.take("IF")
        branches = [self.branch()]
        while self.now.text in {"ELSIF", "ELSE"}:
            if self.take("ELSIF", "ELSE").text == "ELSIF":
                branches.append(self.branch())
            else:
                branches.append((None, self.statements("END_IF")))
        self.take("END_IF")
        return If(tuple(branches))

    def branch(self) -> tuple[Expression | None, tuple[Assign | If, ...]]:
        condition = self.expression()
        self.take("THEN")
        return condition, self.statements("ELSIF", "ELSE", "END_IF")

    def expression(self, level: int = 0) -> Expression:
        """Operators of one level of precedence, from the left."""
        if level == len(_LEVELS):
            return self.power()
        left = self.expression(level + 1)
        while self.now.kind in {"sign", "name"} and self.now.text in _LEVELS[level]:
            word = self.take(*_LEVELS[level])
            left = Expression(word.text.replace("&", "AND"), "", (left, self.expression(level + 1)), word.line)
        return left

    def power(self) -> Expression:
        left = self.unary()
        while self.now.text == "**":
            word = self.take("**")
            left = Expression("**", "", (left, self.unary()), word.line)
        return left

    def unary(self) -> Expression:
        if self.now.text in {"-", "NOT"}:
            word = self.take("-", "NOT")
            return Expression("negative" if word.text == "-" else "NOT", "", (self.primary(),), word.line)
        return self.primary()

    def primary(self) -> Expression:
        word = self.now
        if word.text == "(":
            self.take("(")
            inner = self.expression()
            self.take(")")
            return inner
        if word.kind in {"real", "int"}:
            return Expression(word.kind, self.take().text, (), word.line)
        if word.text in {"TRUE", "FALSE"}:
            return Expression("bool", self.take().text, (), word.line)
        name = self.identifier()
        if self.now.text != "(":
            return Expression("name", name.text, (), name.line)
        self.take("(")
        arguments = [self.expression()]
        while self.now.text == ",":
            self.take(",")
            arguments.append(self.expression())
        self.take(")")
        return Expression("call", name.text, tuple(arguments), name.line)
