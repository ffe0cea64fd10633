"""Fuzzy Control Language (IEC 61131-7) of a system with singletons, written.

One function block; terms as points, singletons for conclusions (method COGS: centre of gravity for singletons, which is
the mean weighted with the firing strengths), the reference gain as DEFAULT, and one rule block for each output, so that
every rule has one conclusion, which all dialects read; rules in small letters, which some programs insist on. Gaussian
terms and bells are no part of the standard.
Source: IEC 61131-7 (2000), Programmable controllers, part 7: Fuzzy control programming, clause 5 and annex.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flcs.exchange.system import ExchangeError

if TYPE_CHECKING:
    from flcs.exchange.system import Antecedent, Consequent, FuzzySystem, Term

AND_METHODS = {"product": "PROD", "minimum": "MIN"}
_WORDS = (
    "FUNCTION_BLOCK END_FUNCTION_BLOCK VAR_INPUT VAR_OUTPUT VAR END_VAR FUZZIFY END_FUZZIFY DEFUZZIFY "
    "END_DEFUZZIFY RULEBLOCK END_RULEBLOCK TERM METHOD DEFAULT RANGE RULE IF THEN IS NOT AND OR WITH ACT ACCU "
    "OPTION END_OPTION NC COG COGS COA LM RM MIN MAX PROD BDIF ASUM BSUM NSUM REAL"
)
KEYWORDS = frozenset(_WORDS.split())


def write(system: FuzzySystem) -> str:
    """Return the text of an FCL file.

    Raises
    ------
    ExchangeError
        If the system has what the language lacks: Gaussian terms, bells, affine conclusions, names of other letters.
    """
    _check(system)
    lines = [f"FUNCTION_BLOCK {system.name}", "", "VAR_INPUT"]
    lines += [f"    {item.name} : REAL;{_taught(item)}" for item in system.inputs]
    lines += ["END_VAR", "", "VAR_OUTPUT", *(f"    {item.name} : REAL;" for item in system.outputs), "END_VAR"]
    for item in system.inputs:
        lines += ["", f"FUZZIFY {item.name}", *(f"    {_term(term)}" for term in item.terms), "END_FUZZIFY"]
    for k, output in enumerate(system.outputs):
        lines += ["", *_defuzzified(output, k, system)]
    for k, output in enumerate(system.outputs):
        lines += ["", *_rules(output, k, system)]
    return "\n".join([*lines, "", "END_FUNCTION_BLOCK"]) + "\n"


def _check(system: FuzzySystem) -> None:
    names = [system.name, *(item.name for item in system.inputs), *(item.name for item in system.outputs)]
    names += [term.label for item in system.inputs for term in item.terms]
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.upper() in KEYWORDS:
            raise ExchangeError(
                f"FCL needs names of letters, digits and underscores that are no keywords, got {name!r}"
            )
    for item in system.inputs:
        for term in item.terms:
            if term.kind != "points":
                raise ExchangeError(
                    f"IEC 61131-7 has terms of straight lines only, got {term.kind} terms for {item.name!r}; design "
                    "with network.shape=triangular, or export fis"
                )
    if any(len(value) > 1 for rule in system.rules for value in rule.values):
        raise ExchangeError("IEC 61131-7 has constant conclusions only, got gains linear in the inputs; export fis")


def _taught(item: Antecedent) -> str:
    return "" if item.low is None or item.high is None else f" (* taught from {item.low!r} to {item.high!r} *)"


def _term(term: Term) -> str:
    points = " ".join(f"({_real(x)}, {_real(grade)})" for x, grade in term.points)
    return f"TERM {term.label} := {points};"


def _defuzzified(output: Consequent, place: int, system: FuzzySystem) -> list[str]:
    lines = [f"DEFUZZIFY {output.name}"]
    for k, rule in enumerate(system.rules, 1):
        lines.append(f"    TERM rule{k} := {_real(rule.values[place][0])};")
    lines += ["    ACCU : MAX;", "    METHOD : COGS;"]
    lines += [] if output.default is None else [f"    DEFAULT := {_real(output.default)};"]
    if output.low is not None and output.high is not None:
        lines.append(f"    RANGE := ({_real(output.low)} .. {_real(output.high)});")
    return [*lines, "END_DEFUZZIFY"]


def _rules(output: Consequent, place: int, system: FuzzySystem) -> list[str]:
    lines = [f"RULEBLOCK for_{output.name}", f"    AND : {AND_METHODS[system.conjunction]};", "    ACT : PROD;"]
    first = place * len(system.rules)
    for k, rule in enumerate(system.rules, 1):
        pairs = zip(system.inputs, rule.terms, strict=True)
        conditions = " and ".join(f"{item.name} is {item.terms[term].label}" for item, term in pairs)
        weight = "" if rule.on else " with 0.0"
        lines.append(f"    RULE {first + k} : if {conditions} then {output.name} is rule{k}{weight};")
    return [*lines, "END_RULEBLOCK"]


def _real(value: float) -> str:
    """A real literal of the standard (with a point), the shortest that reads back to the same bits."""
    digits, e, exponent = repr(float(value)).partition("e")
    return (digits if "." in digits else f"{digits}.0") + e + exponent
