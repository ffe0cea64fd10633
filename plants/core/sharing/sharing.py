"""Fewer operations for the same values: what a whole program's sums and products have in common is computed once.

The tape itself only knows that equal operations on equal numbers are one. Here sums and products are taken as what they
are, of any number of terms in any order and of either sign: a + b + c and c + d + a share a + c, a - b is the negative
of b - a, a b + a c is a (b + c), and powers share powers.

There are two ways to compute less: common pairs of terms, and factors taken out of sums. Pairs are found greedily: the
pair of terms that most sums (or products) share becomes one entry. A factor is taken out where nothing else needs the
products: a b + a c becomes a (b + c).

Source: the greedy choice of the most frequent pair is that of Hosangadi, Fallah and Kastner, Optimizing polynomial
expressions by algebraic factorization and common subexpression elimination, IEEE Trans. CAD 25 (2006) 2012-2022.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

from plants.core.sharing.conversion import read, write
from plants.core.sharing.forms import PRODUCT, SUM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plants.core.sharing.forms import Bag, LinearForms, Ref
    from plants.core.tracing.trace import Program


_LONGEST = 64  # terms of one sum or product that are looked at in pairs; all others wait for the next round

_Pair = tuple[int, int, int]  # two items, and the sign of the second to the first


def share_pairs(forms: LinearForms, entries: Iterable[int]) -> None:
    """Take common pairs out of all products, and out of all sums, among `entries` until none occurs twice."""
    order = list(entries)
    for kind, pairs in ((PRODUCT, _Products), (SUM, _Sums)):
        pairs(forms, [entry for entry in order if forms.kinds[entry] == kind]).share()


class _Pairs:
    """How often each pair occurs, kept up to date while entries change."""

    def __init__(self, forms: LinearForms, entries: list[int]) -> None:
        self.forms = forms
        self.counts: dict[_Pair, int] = {}
        self.places: dict[_Pair, dict[int, None]] = {}
        self.heap: list[tuple[int, _Pair]] = []
        self.items: dict[int, dict[int, None]] = {entry: {} for entry in entries}  # of each entry: those looked at
        occurrences: Counter[int] = Counter()
        for entry in entries:
            occurrences.update({item: abs(c) for item, c in forms.bags[entry].items()})
        for entry in entries:
            often = [item for item in forms.bags[entry] if occurrences[item] > 1]
            if len(often) > _LONGEST:
                often = sorted(often, key=lambda item: (-occurrences[item], item))[:_LONGEST]
            for item in often:
                self._attach(entry, item)

    def share(self) -> None:
        """Take pairs out, the most frequent first."""
        while self.heap:
            count, pair = heapq.heappop(self.heap)
            now = self.counts[pair]
            if now == -count:
                self._take_out(pair)
            elif 1 < now < -count:  # where it has grown it stands further up
                heapq.heappush(self.heap, (-now, pair))

    def _attach(self, entry: int, item: int) -> None:
        for pair, times in self._pairs_of(entry, item):
            count = self.counts.get(pair, 0) + times
            self.counts[pair] = count
            self.places.setdefault(pair, {})[entry] = None
            if count > 1:
                heapq.heappush(self.heap, (-count, pair))
        self.items[entry][item] = None

    def _detach(self, entry: int, item: int) -> None:
        if self.items[entry].pop(item, 0) is not None:
            return
        for pair, times in self._pairs_of(entry, item):
            self.counts[pair] -= times
            self.places[pair].pop(entry, None)

    def _take_out(self, pair: _Pair) -> None:
        """Give a pair an entry of its own, or the one that is just this pair, and put it in place of the pair."""
        places = sorted(self.places[pair])
        shared = next((entry for entry in places if self._is(entry, pair)), None)
        if shared is None:
            shared = self._new(pair)
        else:
            for item in pair[:2]:
                self._detach(shared, item)
        for entry in places:
            if entry != shared:
                touched = dict.fromkeys((*pair[:2], shared))
                for item in touched:
                    self._detach(entry, item)
                bag = self.forms.changed(entry)
                self._exchange(bag, pair, shared)
                for item in [item for item in touched if item in bag]:
                    if bag[item] == 0:
                        del bag[item]
                    else:
                        self._attach(entry, item)

    def _pairs_of(self, entry: int, item: int) -> Iterator[tuple[_Pair, int]]:
        """Yield the pairs of an item with those of an entry that are looked at, and how often each fits in."""
        raise NotImplementedError

    def _new(self, pair: _Pair) -> int:
        raise NotImplementedError

    def _is(self, entry: int, pair: _Pair) -> bool:
        raise NotImplementedError

    def _exchange(self, bag: Bag, pair: _Pair, shared: int) -> None:
        raise NotImplementedError


class _Sums(_Pairs):
    def _pairs_of(self, entry: int, item: int) -> Iterator[tuple[_Pair, int]]:
        bag = self.forms.bags[entry]
        c = bag[item]
        if abs(c) != 1:
            return
        for other in self.items[entry]:
            if abs(bag[other]) == 1:
                yield (item, other, c * bag[other]) if item < other else (other, item, c * bag[other]), 1

    def _new(self, pair: _Pair) -> int:
        return self.forms.sum({pair[0]: 1, pair[1]: pair[2]})[1]

    def _is(self, entry: int, pair: _Pair) -> bool:
        return self.forms.bags[entry].keys() == {*pair[:2]}

    def _exchange(self, bag: Bag, pair: _Pair, shared: int) -> None:
        c = bag[pair[0]] * self.forms.bags[shared][pair[0]]
        bag[pair[0]] = bag[pair[1]] = 0
        bag[shared] = bag.get(shared, 0) + c


class _Products(_Pairs):
    def _pairs_of(self, entry: int, item: int) -> Iterator[tuple[_Pair, int]]:
        bag = self.forms.bags[entry]
        e = abs(bag[item])
        if e > 1:
            yield (item, item, 1), e // 2
        for other in self.items[entry]:
            times = min(e, abs(bag[other]))
            yield (item, other, 1) if item < other else (other, item, 1), times

    def _new(self, pair: _Pair) -> int:
        signs = [-1 if self.forms.divides_by(item) else 1 for item in pair[:2]]
        if pair[0] == pair[1]:
            return self.forms.product(1.0, {pair[0]: 2})[1]
        if signs == [-1, -1]:
            signs = [1, 1]
        return self.forms.product(1.0, dict(zip(pair[:2], signs, strict=True)))[1]

    def _is(self, entry: int, pair: _Pair) -> bool:
        bag = self.forms.bags[entry]
        below = all(self.forms.divides_by(item) for item in pair[:2])
        return sum(abs(e) for e in bag.values()) == 2 and not below

    def _exchange(self, bag: Bag, pair: _Pair, shared: int) -> None:
        first, second, _ = pair
        times = abs(bag[first]) // 2 if first == second else min(abs(bag[first]), abs(bag[second]))
        for item in (first, second):
            bag[item] -= times if bag[item] > 0 else -times
        bag[shared] = bag.get(shared, 0) + (-times if self.forms.divides_by(shared) else times)


def factor(forms: LinearForms, outputs: Iterable[Ref]) -> None:
    """Take the factor that most terms of a sum share out of them, in each sum and in what is left inside."""
    wanted = [entry for _, entry in outputs]
    order = forms.order(wanted)
    uses = Counter(wanted)
    for entry in order:
        uses.update(list(forms.parts(entry)))
    waiting = [entry for entry in order if forms.kinds[entry] == SUM]
    while waiting:
        entry = waiting.pop()
        inner = _take_out(forms, uses, entry)
        if inner is not None:
            waiting += [entry, *inner]


def _take_out(forms: LinearForms, uses: Counter[int], entry: int) -> list[int] | None:
    """Take one factor out of a sum; return the new sums inside, or None where no factor is shared."""
    bag = forms.bags[entry]
    terms: dict[int, list[int]] = {}
    for item, c in bag.items():
        if forms.kinds[item] == PRODUCT and uses[item] == 1 and abs(c) == 1:
            for shared in _candidates(forms, forms.bags[item]):
                terms.setdefault(shared, []).append(item)
    if not terms:
        return None
    best = max(terms, key=lambda shared: (len(terms[shared]), -shared))
    if len(terms[best]) < 2:
        return None
    return _rewrite(forms, uses, forms.changed(entry), best, terms[best])


def _candidates(forms: LinearForms, factors: Bag) -> list[int]:
    """Return the factors without which the rest of a product is no dearer."""
    above = sum(e for e in factors.values() if e > 0)
    return [item for item, e in factors.items() if e < 0 or above > 1]


def _rewrite(forms: LinearForms, uses: Counter[int], bag: Bag, shared: int, terms: list[int]) -> list[int]:
    inside: Bag = {}
    e = 1 if forms.bags[terms[0]][shared] > 0 else -1
    for item in terms:
        rest = dict(forms.bags[item])
        rest[shared] -= e
        sign, left = forms.product(1.0, {other: n for other, n in rest.items() if n != 0})
        inside[left] = inside.get(left, 0) + sign * bag.pop(item)
    known = len(forms.kinds)
    sign, inner = forms.sum({item: c for item, c in inside.items() if c != 0})
    other, product = forms.product(1.0, _times(forms, inner, shared, e))
    bag[product] = bag.get(product, 0) + sign * other
    if bag[product] == 0:
        del bag[product]
    for new in range(known, len(forms.kinds)):
        uses.update(list(forms.parts(new)))
    uses.update([product])
    return [new for new in range(known, len(forms.kinds)) if forms.kinds[new] == SUM]


def _times(forms: LinearForms, inner: int, shared: int, e: int) -> Bag:
    factors = dict(forms.factors(inner))
    factors[shared] = factors.get(shared, 0) + e
    return factors


_COPIED = 12  # terms: longer sums and products of several uses are not opened
_ROUNDS = 8  # of each way, at most
_WORTH = 0.99  # a round that leaves more than this share of the operations is the last


def operations(program: Program) -> int:
    """Return the number of operations of a program: each sum, product, quotient, negation and function is one."""
    return sum(program.counts().values())


def shared(program: Program) -> Program:
    """Return a program of the same values with fewer operations.

    Parameters
    ----------
    program : Program

    Returns
    -------
    Program
        On a tape of its own; the given program itself where none with fewer operations was found. The same for the
        same program, whatever else is on its tape. The values are the same up to rounding, as long as products of some
        of the factors stay within the range of doubles. What is kept (:meth:`Tape.keep`) is not looked through.
        Selects, limits and functions stay as they are, but for the signs of odd and even functions' arguments.

    Notes
    -----
    Terms that cancel are dropped and sums are added up in another order: code that relies on the rounding of one
    operation, as compensated sums do, must keep its intermediate results.
    """
    found = [program, *(_settled(program, _COPIED, by_factors=by_factors) for by_factors in (False, True))]
    best = min(range(3), key=lambda way: operations(found[way]))  # the first of equals
    return _settled(found[best], 0, by_factors=best == 2)


def _settled(program: Program, copied: int, *, by_factors: bool) -> Program:
    """Repeat rounds while they help."""
    for _ in range(_ROUNDS):
        before, other = operations(program), _round(program, copied, by_factors=by_factors)
        if operations(other) < before:
            program = other
        if operations(program) > _WORTH * before:
            break
    return program


def _round(program: Program, copied: int, *, by_factors: bool) -> Program:
    """Take out common pairs and then common factors, or the other way round; there is no best order."""
    forms, outputs = read(program, copied)
    if by_factors:
        factor(forms, outputs)
    share_pairs(forms, forms.order(entry for _, entry in outputs))
    if not by_factors:
        factor(forms, outputs)
    return write(forms, outputs, program.inputs)
