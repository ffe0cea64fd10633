"""Derivatives on the tape itself: no expression is expanded, what the user factored stays factored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.gradients import along, gradient
from plants.core.replay import replay, substitute
from plants.core.tape import Tape, Traced
from plants.core.trace import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.mechanics.declaring.declared import Declaration


class Taped:
    """The calculus of numbers on a tape.

    One of two ways to the same blocks; the other is :class:`plants.mechanics.deriving.symbolic.Symbolic`.
    """

    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
        self.tape = Tape()
        self._inputs = {name: self.tape.input(name) for name in declared.tape.input_names.values()}

    def symbol(self, name: str) -> Traced:
        """Return the symbol called `name` on the declaration's tape."""
        return self.tape.input(name)

    def lift(self, values: Sequence[Traced]) -> list[Any]:
        """Return the declared expressions in this calculus."""
        tape = self.declared.tape
        names = tuple(tape.input_names.values())
        program = Program(tape, names, tuple(value.index for value in values))
        return [self.tape.lift(value) for value in replay(program, *(self.tape.input(name) for name in names))]

    def gradient(self, value: Any, symbols: Sequence[Traced]) -> list[Any]:
        """Return d value / d symbols."""
        return gradient(self.tape.lift(value), symbols)

    def along(self, values: Sequence[Any], symbols: Sequence[Traced], directions: Sequence[Any]) -> list[Any]:
        """Return sum_j d values / d symbols[j] * directions[j]."""
        return along([self.tape.lift(value) for value in values], symbols, directions)

    def replace(self, values: Sequence[Any], symbols: Sequence[Traced], numbers: Sequence[Any]) -> list[Any]:
        """Return `values` with `numbers` in place of `symbols`."""
        nodes = {symbol.index: self.tape.lift(number) for symbol, number in zip(symbols, numbers, strict=True)}
        return substitute(self.tape, [self.tape.lift(value) for value in values], nodes)

    def short(self, value: Any) -> Any:
        """Nothing to shorten: nothing was expanded."""
        return value

    def land(self, values: Sequence[Any], inputs: Sequence[str]) -> Program:
        """Return the program that gives `values` from `inputs`."""
        return Program(self.tape, tuple(inputs), tuple(self.tape.lift(value).index for value in values))
