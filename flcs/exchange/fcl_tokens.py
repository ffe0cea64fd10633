"""Words, numbers and signs of a file in Fuzzy Control Language, each with its line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NoReturn

from flcs.exchange.system import refuse

_TOKEN = re.compile(
    r"(?P<skip>\s+|\(\*.*?\*\)|//[^\n]*)|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign>:=|\.\.|[-+:;(),])",
    re.DOTALL | re.ASCII,
)


@dataclass(frozen=True)
class Token:
    """A piece of the text: its kind ("number", "word", "sign", "end"), text and line."""

    kind: str
    text: str
    line: int


class Tokens:
    """The tokens of a text, taken one after the other."""

    def __init__(self, text: str) -> None:
        self._all = list(_split(text))
        self._place = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self._all[self._place]

    def take(self) -> Token:
        """Take the next token."""
        token = self.next
        self._place += token.kind != "end"
        return token

    def at(self, *words: str) -> bool:
        """Whether the next token is one of these, in capitals or not."""
        return self.next.text.upper() in words

    def skip(self, *words: str) -> bool:
        """Take the next token if it is one of these."""
        found = self.at(*words)
        if found:
            self.take()
        return found

    def expect(self, *words: str) -> Token:
        """Take the next token, which must be one of these."""
        if not self.at(*words):
            self.complain(" or ".join(map(repr, words)))
        return self.take()

    def name(self) -> Token:
        """Take a name."""
        return self.take() if self.next.kind == "word" else self.complain("a name")

    def number(self) -> float:
        """Take a number with its sign."""
        sign = -1.0 if self.at("-") else 1.0
        self.skip("-", "+")
        if self.next.kind != "number":
            self.complain("a number")
        value = sign * float(self.next.text)
        if not math.isfinite(value):
            self.complain("a finite number")
        self.take()
        return value

    def complain(self, expected: str) -> NoReturn:
        """Refuse the next token."""
        refuse(self.next.line, expected, repr(self.next.text) if self.next.kind != "end" else "the end of the file")


def _split(text: str) -> list[Token]:
    found, place, line = [], 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            refuse(line, "a word, a number or a sign of the language", repr(text[place]))
        kind = str(match.lastgroup)
        if kind != "skip":
            found.append(Token(kind, match[0], line))
        line += match[0].count("\n")
        place = match.end()
    return [*found, Token("end", "", line)]
