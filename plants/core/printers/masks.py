"""Conditions of selects as comparisons: what a block writes with numbers costs one instruction and no arithmetic.

A block has no truth values: it multiplies numbers that are 1 or 0 and selects where a number is above 0. Printed as it
is written, a test of a limit is a subtraction, a comparison, a select of 1 or 0, a product with the other tests and a
comparison again, all in the chain from one state to the next. The same truth is ``high > x`` joined by ``&``:

- x - y > 0 exactly where x > y, by IEEE arithmetic with subnormal numbers (NaN: neither; equal infinities: neither);
- i z > 0 exactly where i > 0 and z > 0, for a number i that is 1 or 0 (0 times infinity is NaN: not above 0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plants.core.tracing.tape import Tape

Comparison = tuple[int, int | None]  # two nodes a > b; None stands for 0


class Masks:
    """The conditions of one tape as comparisons that all have to hold.

    Parameters
    ----------
    tape : Tape
    product : callable
        ``node -> node or None``: the product that is fused with a sum; such a difference is rounded once as a whole and
        stays a number.
    """

    def __init__(self, tape: Tape, product: Callable[[int], int | None]) -> None:
        self._tape, self._product = tape, product

    def comparisons(self, node: int) -> tuple[Comparison, ...]:
        """Return the comparisons that hold together exactly where the node is above 0."""
        name, arguments = self._tape.operations[node], self._tape.arguments[node]
        if name == "keep":
            return self.comparisons(arguments[0])
        if name == "sub" and self._product(node) is None:
            return ((arguments[0], arguments[1]),)
        if name == "where" and self._at_most_zero(arguments[2]):
            return self._joined(arguments[0], arguments[1])
        if name == "mul":
            for one, other in (arguments, arguments[::-1]):
                if self._is_indicator(one):
                    return self._joined(one, other)
        return () if self._tape.constants.get(node, 0.0) > 0.0 else ((node, None),)

    def operands(self, node: int) -> tuple[int, ...]:
        """Return the nodes that the condition reads."""
        return tuple(n for pair in self.comparisons(node) for n in pair if n is not None)

    def text(self, node: int, texts: Mapping[int, str]) -> str:
        """Return the condition with the texts of the nodes it reads."""
        found = [f"{texts[a]} > {'0.0' if b is None else texts[b]}" for a, b in self.comparisons(node)]
        return found[0] if len(found) == 1 else " & ".join(f"({comparison})" for comparison in found)

    def _joined(self, one: int, other: int) -> tuple[Comparison, ...]:
        return tuple(dict.fromkeys((*self.comparisons(one), *self.comparisons(other))))

    def _at_most_zero(self, node: int) -> bool:
        return self._tape.constants.get(node, 1.0) <= 0.0

    def _is_indicator(self, node: int) -> bool:
        """Whether the node is 1 or 0 whatever the inputs are."""
        name, arguments = self._tape.operations[node], self._tape.arguments[node]
        if name in {"where", "mul", "keep"}:
            return all(self._is_indicator(a) for a in arguments[name == "where" :])
        return self._tape.constants.get(node) in {0.0, 1.0}
