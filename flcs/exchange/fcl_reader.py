"""Fuzzy Control Language (IEC 61131-7), read as text: nothing in it is evaluated.

Read are one function block with REAL variables, terms as points, singletons with method COGS, rule blocks with AND
(PROD or MIN) of one term for each input, and WITH 0 or 1. What else the language has (COG, OR, NOT, other weights) is
refused with its line, because a knowledge base of constant gains has no place for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flcs.exchange.fcl_blocks import JOINED, Declarations, Output
from flcs.exchange.fcl_writer import AND_METHODS
from flcs.exchange.system import Consequent, FuzzySystem, SystemRule, refuse

_NORMS = {word: name for name, word in AND_METHODS.items()}


@dataclass
class _Said:
    """A rule's conclusions by output, with its weight and line."""

    line: int
    on: bool
    values: dict[str, float] = field(default_factory=dict)


class _Reader(Declarations):
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
    return _Reader(text).system()
