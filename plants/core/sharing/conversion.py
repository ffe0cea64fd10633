"""From the tape to sums and products of any number of terms, and back to a tape."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plants.core.sharing.forms import CONST, DIVISORS, INPUT, PRODUCT, SUM, Bag, LinearForms, Terms
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program

if TYPE_CHECKING:
    from plants.core.sharing.forms import Ref
    from plants.core.tracing.tape import Traced


_ODD = frozenset({"sin", "tan", "asin", "tanh", "sign"})  # f(-x) = -f(x), to the last bit
_EVEN = frozenset({"cos", "abs"})


def read(program: Program, copied: int) -> tuple[LinearForms, list[Ref]]:
    """Return a program as sums and products, and what its outputs are there.

    Parameters
    ----------
    program : Program
    copied : int
        Sums and products that are used several times are written out at each use in a larger one up to this number of
        terms: they may have more in common with others than this whole. Those of one use are always written out.
    """
    reader = _ProgramReader(program, copied)
    for node in program.tape.needed(program.outputs):
        reader.read(node)
    return reader.forms, [reader.ref(node) for node in program.outputs]


class _ProgramReader:
    """Sums and products on their way; each becomes an entry where it is not a part of a larger one."""

    def __init__(self, program: Program, copied: int) -> None:
        self.forms, self.tape, self.copied = LinearForms(), program.tape, copied
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


def write(forms: LinearForms, outputs: list[Ref], inputs: tuple[str, ...]) -> Program:
    """Return the program of these entries."""
    writer = _Writer(forms, outputs)
    for entry in writer.order:
        writer.write(entry)
    return Program(writer.tape, inputs, tuple(writer.value(ref).index for ref in outputs))


class _Writer:
    """A tape that grows; entries stand on it as they are or negated, whichever needs no negation of its own."""

    def __init__(self, forms: LinearForms, outputs: list[Ref]) -> None:
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
