"""Declarations of a function block in Fuzzy Control Language: variables, terms, singletons, ranges."""

from __future__ import annotations

from dataclasses import dataclass, field

from flcs.exchange.fcl_tokens import Tokens
from flcs.exchange.system import Antecedent, Term, refuse

JOINED = ("MAX", "NSUM", "SUM")
"""How rules with one singleton may be joined."""


@dataclass
class Output:
    """A DEFUZZIFY block: singletons by name, and what else it says."""

    line: int
    singletons: dict[str, float] = field(default_factory=dict)
    default: float | None = None
    ends: tuple[float, float] | None = None


class Declarations:
    """Declarations as they are read.

    Attributes
    ----------
    variables : dict of VAR_INPUT and VAR_OUTPUT to names
    inputs : dict of name to Antecedent
    outputs : dict of name to Output
    joined : dict of output to how its rules with one singleton are joined
    """

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.variables: dict[str, list[str]] = {"VAR_INPUT": [], "VAR_OUTPUT": []}
        self.inputs: dict[str, Antecedent] = {}
        self.outputs: dict[str, Output] = {}
        self.joined: dict[str, str] = {}

    def _variables(self, word: str) -> None:
        while not self.tokens.skip("END_VAR"):
            self.variables[word].append(self.tokens.name().text)
            for expected in (":", "REAL", ";"):
                self.tokens.expect(expected)

    def _declared(self, word: str) -> tuple[str, int]:
        token = self.tokens.name()
        if token.text not in self.variables[word]:
            refuse(token.line, f"a variable of {word}: {', '.join(self.variables[word])}", repr(token.text))
        return token.text, token.line

    def _fuzzify(self, _: str) -> None:
        tokens = self.tokens
        name, line = self._declared("VAR_INPUT")
        terms, ends = [], None
        while not tokens.skip("END_FUZZIFY"):
            if tokens.at("RANGE"):
                ends = self._range()
                continue
            tokens.expect("TERM")
            label = tokens.name()
            tokens.expect(":=")
            terms.append(Term(label.text, "points", self._points(), line=label.line))
        low, high = ends or (None, None)
        self.inputs[name] = Antecedent(name, low, high, tuple(terms), line)

    def _points(self) -> tuple[tuple[float, float], ...]:
        tokens, points, line = self.tokens, [], self.tokens.next.line
        while not tokens.skip(";"):
            if not tokens.at("("):
                tokens.complain("points (place, membership) of straight lines, and ';'")
            tokens.take()
            x = tokens.number()
            tokens.expect(",")
            points.append((x, tokens.number()))
            tokens.expect(")")
        if points != sorted(points, key=lambda point: point[0]):
            refuse(line, "points in increasing order", points)
        return tuple(points)

    def _range(self) -> tuple[float, float]:
        tokens = self.tokens
        line = tokens.take().line
        for expected in (":=", "("):
            tokens.expect(expected)
        low = tokens.number()
        tokens.expect("..")
        high = tokens.number()
        for expected in (")", ";"):
            tokens.expect(expected)
        return (low, high) if low < high else refuse(line, "RANGE := (low .. high) with low < high", (low, high))

    def _defuzzify(self, _: str) -> None:
        tokens = self.tokens
        name, line = self._declared("VAR_OUTPUT")
        output = self.outputs[name] = Output(line)
        while not tokens.skip("END_DEFUZZIFY"):
            word = tokens.next.text.upper()
            if word == "RANGE":
                output.ends = self._range()
                continue
            tokens.expect("TERM", "METHOD", "ACCU", "DEFAULT")
            label = tokens.name().text if word == "TERM" else ""
            tokens.expect(":=" if word in {"TERM", "DEFAULT"} else ":")
            if word == "METHOD":
                tokens.expect("COGS")
            elif word == "ACCU":
                self.joined[name] = tokens.expect(*JOINED).text.upper()
            elif word == "DEFAULT":
                output.default = None if tokens.skip("NC") else tokens.number()
            elif tokens.at("("):
                tokens.complain("a singleton, TERM name := number (sets over the output are not constant gains)")
            else:
                output.singletons[label] = tokens.number()
            tokens.expect(";")
