"""Fuzzy Control Language (IEC 61131-7), read as text: nothing in it is evaluated.

Words, numbers and signs, each with its line; then the declarations of a function block (variables, terms, singletons,
ranges); then its rules.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

from flcs.exchange.fcl_writer import AND_METHODS
from flcs.exchange.system import Antecedent, Consequent, FuzzySystem, SystemRule, Term, refuse

_TOKEN = re.compile(
    r"(?P<skip>\s+|\(\*.*?\*\)|//[^\n]*)|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<sign>:=|\.\.|[-+:;(),])",
    re.DOTALL | re.ASCII,
)


@dataclass(frozen=True)
class FclToken:
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
    def next(self) -> FclToken:
        """The token that comes next."""
        return self._all[self._place]

    def take(self) -> FclToken:
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

    def expect(self, *words: str) -> FclToken:
        """Take the next token, which must be one of these."""
        if not self.at(*words):
            self.complain(" or ".join(map(repr, words)))
        return self.take()

    def name(self) -> FclToken:
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


def _split(text: str) -> list[FclToken]:
    found, place, line = [], 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            refuse(line, "a word, a number or a sign of the language", repr(text[place]))
        kind = str(match.lastgroup)
        if kind != "skip":
            found.append(FclToken(kind, match[0], line))
        line += match[0].count("\n")
        place = match.end()
    return [*found, FclToken("end", "", line)]


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


_NORMS = {word: name for name, word in AND_METHODS.items()}


@dataclass
class _Said:
    """A rule's conclusions by output, with its weight and line."""

    line: int
    on: bool
    values: dict[str, float] = field(default_factory=dict)


class _FclReader(Declarations):
    """A function block, piece by piece."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.rules: dict[tuple[int, ...], _Said] = {}
        self.norms: set[str] = set()
        self.used: set[tuple[str, str]] = set()

    def system(self) -> FuzzySystem:
        """Read the whole file."""
        tokens = self.tokens
        tokens.expect("FUNCTION_BLOCK")
        name = tokens.name().text
        blocks = {
            "VAR_INPUT": self._variables, "VAR_OUTPUT": self._variables, "FUZZIFY": self._fuzzify,
            "DEFUZZIFY": self._defuzzify, "RULEBLOCK": self._ruleblock,
        }  # fmt: skip
        while not tokens.at("END_FUNCTION_BLOCK"):
            word = tokens.expect(*blocks).text.upper()
            blocks[word](word)
        tokens.take()
        if tokens.next.kind != "end":
            tokens.complain("one function block in a file")
        return self._built(name)

    def _ruleblock(self, _: str) -> None:
        tokens = self.tokens
        tokens.name()
        norm, joined = "", ""
        while not tokens.skip("END_RULEBLOCK"):
            word = tokens.expect("AND", "OR", "ACT", "ACCU", "RULE").text.upper()
            if word == "RULE":
                self._rule(joined)
                continue
            tokens.expect(":")
            choices = {"AND": tuple(_NORMS), "ACT": ("PROD", "MIN"), "ACCU": JOINED}
            method = tokens.expect(*choices.get(word, ("MAX", "ASUM", "BSUM"))).text.upper()
            norm = method if word == "AND" else norm
            joined = method if word == "ACCU" else joined
            tokens.expect(";")
        self.norms.add(norm or "MIN")  # the standard's basic level

    def _rule(self, joined: str) -> None:
        tokens = self.tokens
        tokens.number()
        line = tokens.expect(":").line
        tokens.expect("IF")
        terms = self._conditions(line)
        tokens.expect("THEN")
        values = dict([self._conclusion(joined)])
        while tokens.skip(",", "AND"):
            values.update([self._conclusion(joined)])
        on = True
        if tokens.skip("WITH"):
            weight = tokens.number()
            if weight not in {0.0, 1.0}:
                refuse(line, "WITH 1 (the rule is on) or WITH 0 (off): rules have no other weights", weight)
            on = weight == 1.0
        tokens.expect(";")
        said = self.rules.setdefault(terms, _Said(line, on))
        if said.on != on or values.keys() & said.values.keys():
            refuse(line, "each combination of terms once for each output, with one weight", "another one")
        said.values.update(values)

    def _conditions(self, line: int) -> tuple[int, ...]:
        tokens, chosen = self.tokens, {}
        opened = 0
        while True:
            while tokens.skip("("):
                opened += 1
            name, at = self._declared("VAR_INPUT")
            if name not in self.inputs or name in chosen:
                refuse(at, "each input once, after its FUZZIFY block", repr(name))
            tokens.expect("IS")
            if tokens.at("NOT"):
                tokens.complain("a term: rules have no NOT")
            label, labels = tokens.name(), [term.label for term in self.inputs[name].terms]
            if label.text not in labels:
                refuse(label.line, f"a term of {name!r}: {', '.join(labels)}", repr(label.text))
            chosen[name] = labels.index(label.text)
            while opened and tokens.skip(")"):
                opened -= 1
            if not tokens.skip("AND"):
                break
        if opened or chosen.keys() != set(self.variables["VAR_INPUT"]):
            refuse(line, f"a term for each of {', '.join(self.variables['VAR_INPUT'])}, joined by AND", sorted(chosen))
        return tuple(chosen[name] for name in self.variables["VAR_INPUT"])

    def _conclusion(self, joined: str) -> tuple[str, float]:
        name, line = self._declared("VAR_OUTPUT")
        self.tokens.expect("IS")
        label = self.tokens.name()
        singletons = self.outputs[name].singletons if name in self.outputs else {}
        if label.text not in singletons:
            refuse(line, f"a singleton of {name!r}, declared in its DEFUZZIFY block before", repr(label.text))
        if (name, label.text) in self.used and (joined or self.joined.get(name, "MAX")) == "MAX":
            refuse(
                line, "a singleton of its own for each rule: of rules with one, ACCU : MAX counts the strongest "
                "alone (ACCU : NSUM adds them)", f"{label.text!r} again",
            )  # fmt: skip
        self.used.add((name, label.text))
        return name, singletons[label.text]

    def _built(self, name: str) -> FuzzySystem:
        names = self.variables["VAR_OUTPUT"]
        for wanted, found in (("FUZZIFY", self.inputs), ("DEFUZZIFY", self.outputs)):
            group = self.variables["VAR_INPUT"] if wanted == "FUZZIFY" else names
            missing = [item for item in group if item not in found]
            if missing or not group:
                refuse(self.tokens.next.line, f"a block {wanted} for each variable", f"none for {missing or 'any'}")
        if len(self.norms) != 1:
            refuse(self.tokens.next.line, "rule blocks with one and the same AND", sorted(self.norms))
        rules = []
        for terms, said in self.rules.items():
            if said.values.keys() != set(names):
                refuse(said.line, f"a conclusion for each of {', '.join(names)}", sorted(said.values))
            rules.append(SystemRule(terms, tuple((said.values[output],) for output in names), said.on, said.line))
        return FuzzySystem(
            name, tuple(self.inputs[item] for item in self.variables["VAR_INPUT"]),
            tuple(_consequent(n, self.outputs[n]) for n in names),
            tuple(rules), _NORMS[self.norms.pop()],
        )  # fmt: skip


def _consequent(name: str, found: Output) -> Consequent:
    low, high = found.ends or (None, None)
    return Consequent(name, low, high, found.default, found.line)


def read(text: str) -> FuzzySystem:
    """Return the system of an FCL file.

    Parameters
    ----------
    text : str
        The whole file: one function block.

    Raises
    ------
    ExchangeError
        With the line, what was expected and what came.
    """
    return _FclReader(text).system()
