"""Words of Structured Text: names, numbers, signs, with the lines they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
