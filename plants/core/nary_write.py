"""From sums and products of any number of terms back to a tape."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plants.core.nary import CONST, DIVISORS, INPUT, PRODUCT, SUM
from plants.core.tape import Tape
from plants.core.trace import Program

if TYPE_CHECKING:
    from plants.core.nary import Bag, Forms, Ref
    from plants.core.tape import Traced


def write(forms: Forms, outputs: list[Ref], inputs: tuple[str, ...]) -> Program:
    """Return the program of these entries."""
    writer = _Writer(forms, outputs)
    for entry in writer.order:
        writer.write(entry)
    return Program(writer.tape, inputs, tuple(writer.value(ref).index for ref in outputs))


class _Writer:
    """A tape that grows; entries stand on it as they are or negated, whichever needs no negation of its own."""

    def __init__(self, forms: Forms, outputs: list[Ref]) -> None:
        self.forms, self.tape = forms, Tape()
        self.order = forms.order(entry for _, entry in outputs)
        self.signs: dict[int, int] = {}
        self.nodes: dict[int, Traced] = {}
        self.negated = self._wanted_negated(outputs)

    def _wanted_negated(self, outputs: list[Ref]) -> set[int]:
        """Entries of which only the negative is asked for where a sign cannot be absorbed; or a factor of theirs.

        Sums absorb signs; a factor may so be negated if nothing but sums needs it besides.
        """
        others = [entry for entry in self.order if self.forms.kinds[entry] != SUM]
        uses = Counter(part for entry in others for part in self.forms.parts(entry))
        asked = {sign: {entry for s, entry in self._fixed(outputs) if s == sign} for sign in (1, -1)}
        result: set[int] = set()
        for entry in sorted(asked[-1] - asked[1]):
            if self.forms.kinds[entry] == PRODUCT:
                factors = [i for i, e in self.forms.bags[entry].items() if e % 2 and uses[i] == 1 and self._mixed(i)]
                result.update([i for i in factors if i not in asked[1]][:1])
            else:
                result.add(entry)
        return result

    def _fixed(self, outputs: list[Ref]) -> list[Ref]:
        """Return the references that are neither terms of sums nor factors of products."""
        kept = [
            ref for e in self.order if self.forms.kinds[e] not in DIVISORS for ref in self.forms.arguments.get(e, ())
        ]
        return [*outputs, *kept]

    def _mixed(self, entry: int) -> bool:
        return self.forms.kinds[entry] == SUM and len({c > 0 for c in self.forms.bags[entry].values()}) == 2

    def value(self, ref: Ref) -> Traced:
        """Return what a reference stands for, sign included."""
        sign, entry = ref
        return self.nodes[entry] if sign * self.signs[entry] > 0 else -self.nodes[entry]

    def write(self, entry: int) -> None:
        kind, sign = self.forms.kinds[entry], 1
        if kind == INPUT:
            node = self.tape.input(self.forms.names[entry])
        elif kind == CONST:
            node = self.tape.constant(self.forms.values[entry])
        elif kind == SUM:
            sign, node = self._sum(entry, self.forms.bags[entry])
        elif kind == PRODUCT:
            sign, node = self._product(self.forms.bags[entry])
        elif kind in DIVISORS:
            ((_, inner),) = self.forms.arguments[entry]
            sign, node = self.signs[inner], self.nodes[inner]
        else:
            values = [self.value(ref) for ref in self.forms.arguments[entry]]
            node = self.tape.keep(values[0]) if kind == "keep" else self.tape.apply(kind, *values)
        self.signs[entry], self.nodes[entry] = sign, node

    def _sum(self, entry: int, bag: Bag) -> tuple[int, Traced]:
        """Add up, what is no product first: products that follow can be fused with the sum so far."""
        terms = sorted(bag, key=lambda item: (self.forms.kinds[item] == PRODUCT, self.nodes[item].index))
        signed = [(bag[item] * self.signs[item], self.nodes[item]) for item in terms]
        if not signed:
            return 1, self.tape.constant(0.0)
        sign = -1 if entry in self.negated else 1
        if not any(sign * c > 0 for c, _ in signed):
            sign = -sign
        first = next(k for k, (c, _) in enumerate(signed) if sign * c > 0)
        c, node = signed.pop(first)
        total = node if abs(c) == 1 else node * (sign * c)
        for c, node in signed:
            term = node if abs(c) == 1 else node * abs(c)
            total = total + term if sign * c > 0 else total - term
        return sign, total

    def _product(self, bag: Bag) -> tuple[int, Traced]:
        sign = 1
        above: list[Traced] = []
        below: list[Traced] = []
        for item, e in bag.items():
            sign *= self.signs[item] if e % 2 else 1
            (above if e > 0 else below).extend([self.nodes[item]] * abs(e))
        node = math.prod(above[1:], start=above[0]) if above else self.tape.constant(1.0)
        if below:
            kinds = {self.forms.divides_by(item) or "div" for item, e in bag.items() if e < 0}
            node = self.tape.apply(
                kinds.pop() if len(kinds) == 1 else "div", node, math.prod(below[1:], start=below[0])
            )
        return sign, node
