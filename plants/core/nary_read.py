"""From the tape to sums and products of any number of terms."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plants.core.nary import DIVISORS, Bag, Forms, Terms

if TYPE_CHECKING:
    from plants.core.nary import Ref
    from plants.core.trace import Program

_ODD = frozenset({"sin", "tan", "asin", "tanh", "sign"})  # f(-x) = -f(x), to the last bit
_EVEN = frozenset({"cos", "abs"})


def read(program: Program, copied: int) -> tuple[Forms, list[Ref]]:
    """Return a program as sums and products, and what its outputs are there.

    Parameters
    ----------
    program : Program
    copied : int
        Sums and products that are used several times are written out at each use in a larger one up to this number of
        terms: they may have more in common with others than this whole. Those of one use are always written out.
    """
    reader = _Reader(program, copied)
    for node in program.tape.needed(program.outputs):
        reader.read(node)
    return reader.forms, [reader.ref(node) for node in program.outputs]


class _Reader:
    """Sums and products on their way; each becomes an entry where it is not a part of a larger one."""

    def __init__(self, program: Program, copied: int) -> None:
        self.forms, self.tape, self.copied = Forms(), program.tape, copied
        needed = self.tape.needed(program.outputs)
        self.uses = Counter(a for node in needed for a in self.tape.arguments[node])
        self.uses.update(program.outputs)
        self.sums: dict[int, Terms] = {}
        self.products: dict[int, tuple[float, Bag]] = {}
        self.refs: dict[int, Ref] = {}

    def read(self, node: int) -> None:
        name, arguments = self.tape.operations[node], self.tape.arguments[node]
        if name in {"add", "sub"}:
            self.sums[node] = self._sum(arguments, -1 if name == "sub" else 1)
        elif name == "neg":
            self._negate(node, arguments[0])
        elif name == "mul":
            self.products[node] = self._product(arguments)
        elif name in DIVISORS:
            self.products[node] = self._quotient(name, *arguments)
        else:
            self.refs[node] = self._opaque(node, name, arguments)

    def _opaque(self, node: int, name: str, arguments: tuple[int, ...]) -> Ref:
        if name == "input":
            return self.forms.input(self.tape.input_names[node])
        if name == "const":
            return self.forms.constant(self.tape.constants[node])
        refs = tuple(self.ref(a) for a in arguments)
        if name in _EVEN or name in _ODD:
            _, entry = self.forms.operation(name, ((1, refs[0][1]),))
            return (refs[0][0] if name in _ODD else 1), entry
        return self.forms.operation(name, refs)

    def ref(self, node: int) -> Ref:
        """Return the entry of a node, as which it is a part of others."""
        if node not in self.refs:
            if node in self.sums:
                self.refs[node] = self.forms.sum(self.sums[node])
            else:
                self.refs[node] = self.forms.product(*self.products[node])
        return self.refs[node]

    def _open(self, node: int, size: int) -> bool:
        """Whether a sum or product is written out in a larger one."""
        return self.uses[node] == 1 or size <= self.copied

    def _sum(self, arguments: tuple[int, ...], last: int) -> Terms:
        first, total = arguments[0], Terms()
        parts = [(1, first), (last, arguments[1])]
        if first in self.sums and self.uses[first] == 1:  # nobody else needs it: long sums grow in place
            total = self.sums.pop(first)
            del parts[0]
        for sign, node in parts:
            if node in self.sums and self._open(node, len(self.sums[node])):
                terms = self.sums[node]
            else:
                terms = self._term(node)
            for item, c in terms.items():
                _add(total, item, sign * c)
        return total

    def _term(self, node: int) -> Terms:
        """Return a node as one term; its constant factor is the coefficient, so that like terms meet."""
        if node in self.products:
            coefficient, factors = self.products[node]
            sign, entry = self.forms.product(1.0, factors)
            return {entry: sign * coefficient} if coefficient != 0.0 else {}
        sign, entry = self.ref(node)
        value = self.forms.values.get(entry)
        if value is not None and math.isfinite(value):
            return {self.forms.constant(1.0)[1]: sign * value} if value else {}
        return {entry: sign}

    def _negate(self, node: int, argument: int) -> None:
        if argument in self.sums and self._open(argument, len(self.sums[argument])):
            self.sums[node] = {item: -c for item, c in self.sums[argument].items()}
        elif argument in self.products:
            coefficient, factors = self.products[argument]
            self.products[node] = -coefficient, factors
        else:
            sign, entry = self.ref(argument)
            self.refs[node] = -sign, entry

    def _product(self, arguments: tuple[int, ...]) -> tuple[float, Bag]:
        total, bag = 1.0, Bag()
        for node in arguments:
            coefficient, factors = self._factors(node)
            total *= coefficient
            for item, e in factors.items():
                bag[item] = bag.get(item, 0) + e
        return total, bag

    def _quotient(self, name: str, above: int, below: int) -> tuple[float, Bag]:
        total, bag = self._product((above,))
        coefficient, factors = self._factors(below)
        size = 1.0 / coefficient if coefficient else math.inf
        if not math.isfinite(size) or min(factors.values(), default=1) < 0:  # a quotient below stays one
            sign, entry = self.ref(below)
            size, factors = float(sign), {entry: 1}
        for item, e in factors.items():
            sign, entry = self.forms.divisor(name, (1, item))
            bag[entry] = bag.get(entry, 0) - e
        return total * size, bag

    def _factors(self, node: int) -> tuple[float, Bag]:
        if node in self.products and self._open(node, len(self.products[node][1])):
            return self.products[node]
        sign, entry = self.ref(node)
        value = self.forms.values.get(entry)
        if value is not None and math.isfinite(value):
            return sign * value, {}
        return float(sign), {entry: 1}


def _add(total: Terms, item: int, c: float) -> None:
    """Add a term to a sum; what cancels is gone."""
    left = total.get(item, 0.0) + c
    if left == 0.0:
        total.pop(item, None)
    else:
        total[item] = left
