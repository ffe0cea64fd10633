"""Printed formulas as functions of numbers: a reader that knows arithmetic, sine and cosine and nothing else.

The published plain text lost its raised digits, its fraction bars and its spaces. So

- factors stand side by side, `e1e2cos(θ1)`: the longest name that fits is the next factor;
- a 2 behind a factor is its square, `cos(γ)2`, `e12` (the square of e1);
- 12 in front of factors is one half, `12sin(2β)`; 2 there is two;
- round and square brackets are alike;
- a sign at a line's end is printed again where the next line begins: `++` is +, `--` is -.

    sum     = [sign] product {sign product}
    product = [number] factor {factor}
    factor  = (name | sin ( sum ) | cos ( sum ) | ( sum )) [2]
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Value = Callable[[Mapping[str, float]], float]
    Part = tuple[Value, str]

_NUMBERS = {"12": (0.5, "½"), "2": (2.0, "2")}
_CLOSING = {"(": ")", "[": "]"}
_FUNCTIONS = {"sin": math.sin, "cos": math.cos}
LONGEST = 400  # characters; the longest printed formula has fewer than half as many
DEEPEST = 20  # brackets inside one another


class FormulaError(ValueError):
    """A formula that is not arithmetic of known names: says which, and where."""


@dataclass(frozen=True)
class Formula:
    """A formula that was read.

    Attributes
    ----------
    name : str
    value : callable
        Mapping of names to numbers, to a number.
    written : str
        The formula with its squares, fractions and spaces put back.
    """

    name: str
    value: Value
    written: str

    def __call__(self, values: Mapping[str, float]) -> float:
        """Evaluate for the numbers of all names."""
        return self.value(values)


def read(name: str, text: str, names: Iterable[str]) -> Formula:
    """Read a printed formula.

    Parameters
    ----------
    name : str
        What it defines, for errors.
    text : str
    names : iterable of str
        That may stand in it.

    Raises
    ------
    FormulaError
        Where it is not a sum of products of known names, naming the coefficient and the position.
    """
    if len(text) > LONGEST:
        raise FormulaError(f"{name}: a formula of at most {LONGEST} characters was expected, got {len(text)}")
    return Formula(name, *_FormulaReader(name, text, names).everything())


class _FormulaReader:
    """Recursive descent, one method for each rule of the grammar; each gives the value and how it is written."""

    def __init__(self, name: str, text: str, names: Iterable[str]) -> None:
        self.name, self.text, self.at, self.depth = name, text, 0, 0
        longest_first = sorted(names, key=len, reverse=True)
        self.words = re.compile("|".join(re.escape(word) for word in longest_first))

    def everything(self) -> Part:
        found = self.sum()
        if self.at < len(self.text):
            raise self.refused("the end, or a sign between terms")
        return found

    def refused(self, wanted: str) -> FormulaError:
        """Say what is wrong here."""
        got = f"{self.text[self.at]!r}" if self.at < len(self.text) else "the end"
        around = f"{self.text[max(0, self.at - 12) : self.at]}>>>{self.text[self.at : self.at + 12]}"
        return FormulaError(
            f"{self.name}: expected {wanted} at position {self.at + 1}, got {got} in {around!r}; "
            "repair the text in experiments/reproduce/printed_unicycle/printed"
        )

    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def sign(self) -> float:
        """+1 or -1 at a sign, which may be printed twice; 0 where there is none."""
        sign = self.next()
        if sign not in {"+", "-"}:
            return 0.0
        self.at += 2 if self.text.startswith(2 * sign, self.at) else 1
        return 1.0 if sign == "+" else -1.0

    def sum(self) -> Part:
        first = self.sign() or 1.0
        value, written = self.product()
        terms, text = [(first, value)], written if first > 0.0 else f"−{written}"
        while sign := self.sign():
            value, written = self.product()
            terms.append((sign, value))
            text += f" {'+' if sign > 0.0 else '−'} {written}"
        return (lambda values: sum(sign * term(values) for sign, term in terms)), text

    def product(self) -> Part:
        number = next((digits for digits in _NUMBERS if self.text.startswith(digits, self.at)), "")
        self.at += len(number)
        factors = [self.factor()]
        while self.next() and self.next() not in "+-)]":
            factors.append(self.factor())
        scale, written = _NUMBERS.get(number, (1.0, ""))
        text = " ".join([*([written] if written else []), *(text for _, text in factors)])
        return (lambda values: scale * math.prod(factor(values) for factor, _ in factors)), text

    def factor(self) -> Part:
        base, written = self.base()
        if self.next() != "2":
            return base, written
        self.at += 1
        return (lambda values: base(values) ** 2), f"{written}²"

    def base(self) -> Part:
        for function in _FUNCTIONS:
            if self.text.startswith(f"{function}(", self.at):
                self.at += len(function)
                return self.applied(function)
        if self.next() and self.next() in _CLOSING:
            return self.bracket()
        word = self.words.match(self.text, self.at)
        if not word or not word.group():
            raise self.refused("a known name, sin, cos or an opening bracket")
        self.at = word.end()
        name = word.group()
        return (lambda values: values[name]), name

    def applied(self, function: str) -> Part:
        inside, written = self.bracket()
        apply = _FUNCTIONS[function]
        return (lambda values: apply(inside(values))), f"{function}{written}"

    def bracket(self) -> Part:
        opening = self.next()
        closing = _CLOSING[opening]
        if self.depth == DEEPEST:
            raise self.refused(f"at most {DEEPEST} brackets inside one another")
        self.at, self.depth = self.at + 1, self.depth + 1
        inside, written = self.sum()
        if self.next() != closing:
            raise self.refused(f"{closing!r}")
        self.at, self.depth = self.at + 1, self.depth - 1
        return inside, f"{opening}{written}{closing}"
