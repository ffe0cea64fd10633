"""Sums and products of any number of terms: the form in which a program's common parts are found.

A sum is a bag {item: coefficient}, a product a bag {item: exponent}; items are numbers of other entries. Signs and
constant factors stand outside: an entry is referred to by a sign and its number, so a - b and b - a are one entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Ref = tuple[int, int]  # sign and entry
Terms = dict[int, float]  # entries and their coefficients, on the way
Bag = dict[int, int]  # entries and their coefficients, 1 or -1 but for a few; or exponents

SUM, PRODUCT, CONST, INPUT = "sum", "product", "const", "input"
DIVISORS = ("div", "quotient")  # an entry to divide by: bags of products have it with a negative exponent


@dataclass
class LinearForms:
    """Entries in order of creation; equal ones are one.

    Attributes
    ----------
    kinds : list of str
        ``sum``, ``product``, ``const``, ``input``, ``div`` or ``quotient`` (an entry to divide by, and how), or any
        other operation of the tape, which is taken as it is.
    bags : dict of entry to bag
        Of sums and products.
    arguments : dict of entry to tuple of references
        Of all other operations.
    values, names : dict of entry to float, to str
        Of constants (never negative) and of inputs.
    """

    kinds: list[str] = field(default_factory=list)
    bags: dict[int, Bag] = field(default_factory=dict)
    arguments: dict[int, tuple[Ref, ...]] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    _seen: dict[tuple[str, object], int] = field(default_factory=dict)
    _keys: dict[int, tuple[str, object]] = field(default_factory=dict)

    def _entry(self, kind: str, key: object) -> int:
        found = self._seen.setdefault((kind, key), len(self.kinds))
        if found == len(self.kinds):
            self.kinds.append(kind)
            self._keys[found] = kind, key
        return found

    def input(self, name: str) -> Ref:
        """Return the input of this name."""
        entry = self._entry(INPUT, name)
        self.names[entry] = name
        return 1, entry

    def constant(self, value: float) -> Ref:
        """Return a constant as the sign and the entry of its magnitude."""
        size = abs(float(value))  # like terms are counted in integers
        entry = self._entry(CONST, size.hex())
        self.values[entry] = size
        return (-1 if math.copysign(1.0, value) < 0.0 else 1), entry

    def operation(self, name: str, arguments: tuple[Ref, ...]) -> Ref:
        """Return an operation that is no sum and no product."""
        entry = self._entry(name, arguments)
        self.arguments[entry] = arguments
        return 1, entry

    def divisor(self, kind: str, ref: Ref) -> Ref:
        """Return what stands for dividing by an entry."""
        entry = self._entry(kind, ref[1])
        self.arguments[entry] = ((1, ref[1]),)
        return ref[0], entry

    def sum(self, terms: Mapping[int, float]) -> Ref:
        """Return the sum of entries times coefficients, none of them 0."""
        if len(terms) == 1 or self._content(terms):
            return self._scaled(terms)
        items = sorted(self._with_signs(terms).items())
        if not items:
            return self.constant(0.0)
        sign = 1 if items[0][1] > 0 else -1
        if len(items) == 1 and abs(items[0][1]) == 1:
            return sign, items[0][0]
        bag = {item: sign * c for item, c in items}
        entry = self._entry(SUM, tuple(bag.items()))
        self.bags.setdefault(entry, bag)
        return sign, entry

    def _content(self, terms: Mapping[int, float]) -> bool:
        """Whether taking one factor out of all terms saves products."""
        sizes = {abs(c) for c in terms.values()}
        return len(sizes) == 1 and sizes != {1.0} and sum(self.kinds[item] != CONST for item in terms) > 1

    def _scaled(self, terms: Mapping[int, float]) -> Ref:
        """Return a sum whose coefficients are all of one size; of a single term it is the term."""
        ((item, c), *rest) = terms.items()
        sign, inner = (-1 if c < 0.0 else 1), item
        if rest:
            sign, inner = self.sum({item: math.copysign(1.0, c) for item, c in terms.items()})
        other, entry = self.product(abs(c), self.factors(inner))
        return sign * other, entry

    def _with_signs(self, terms: Mapping[int, float]) -> Bag:
        """Terms with coefficients of 1 and -1: others become factors."""
        result: Bag = {}
        for item, c in terms.items():
            entry = item if abs(c) == 1.0 else self.product(abs(c), self.factors(item))[1]
            result[entry] = result.get(entry, 0) + (1 if c > 0.0 else -1)
        return {item: c for item, c in result.items() if c != 0}

    def factors(self, entry: int) -> Bag:
        """Return an entry as a bag of factors."""
        return self.bags[entry] if self.kinds[entry] == PRODUCT else {entry: 1}

    def product(self, coefficient: float, factors: Mapping[int, int]) -> Ref:
        """Return the product of entries to their exponents, with a constant factor."""
        sign = -1 if coefficient < 0.0 else 1
        bag = {item: e for item, e in factors.items() if self.kinds[item] != CONST}
        size = math.prod([abs(coefficient), *(self.values[i] ** e for i, e in factors.items() if i not in bag)])
        if size == 0.0 or not bag:
            return sign, self.constant(size)[1]
        if size != 1.0:
            bag[self.constant(size)[1]] = 1
        if len(bag) == 1 and next(iter(bag.values())) == 1:
            return sign, next(iter(bag))
        bag = dict(sorted(bag.items()))
        entry = self._entry(PRODUCT, tuple(bag.items()))
        self.bags.setdefault(entry, bag)
        return sign, entry

    def divides_by(self, entry: int) -> str | None:
        """Return ``div`` or ``quotient`` for a divisor and for a product of divisors, None for all else."""
        if self.kinds[entry] != PRODUCT:
            return self.kinds[entry] if self.kinds[entry] in DIVISORS else None
        kinds = {self.divides_by(item) if e > 0 else None for item, e in self.bags[entry].items()}
        return None if None in kinds else kinds.pop() if len(kinds) == 1 else DIVISORS[0]

    def changed(self, entry: int) -> Bag:
        """Return the bag of an entry that is about to be written otherwise: it is not found by its old terms then."""
        self._seen.pop(self._keys.pop(entry, ("", None)), None)
        return self.bags[entry]

    def parts(self, entry: int) -> Iterable[int]:
        """Return the entries that one is made of."""
        bag = self.bags.get(entry)
        return bag if bag is not None else (item for _, item in self.arguments.get(entry, ()))

    def order(self, outputs: Iterable[int]) -> list[int]:
        """Return the entries that the outputs need, each behind its parts."""
        done: dict[int, None] = {}
        stack = [(entry, False) for entry in reversed(list(outputs))]
        while stack:
            entry, ready = stack.pop()
            if ready:
                done[entry] = None
            elif entry not in done:
                stack.append((entry, True))
                stack.extend((part, False) for part in reversed(list(self.parts(entry))) if part not in done)
        return list(done)
