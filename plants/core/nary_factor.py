"""Factors taken out of sums: a b + a c becomes a (b + c) where nothing else needs the two products."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plants.core.nary import PRODUCT, SUM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plants.core.nary import Bag, Forms, Ref


def factor(forms: Forms, outputs: Iterable[Ref]) -> None:
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


def _take_out(forms: Forms, uses: Counter[int], entry: int) -> list[int] | None:
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


def _candidates(forms: Forms, factors: Bag) -> list[int]:
    """Return the factors without which the rest of a product is no dearer."""
    above = sum(e for e in factors.values() if e > 0)
    return [item for item, e in factors.items() if e < 0 or above > 1]


def _rewrite(forms: Forms, uses: Counter[int], bag: Bag, shared: int, terms: list[int]) -> list[int]:
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


def _times(forms: Forms, inner: int, shared: int, e: int) -> Bag:
    factors = dict(forms.factors(inner))
    factors[shared] = factors.get(shared, 0) + e
    return factors
