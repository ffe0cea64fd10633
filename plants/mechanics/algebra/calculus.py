"""What a way to derive must offer, what comes out of it, and the way that derives on the tape itself.

Two calculi give the same blocks: :class:`Taped`, which expands nothing, so that what the user factored stays
factored, and computer algebra (:mod:`plants.mechanics.algebra.symbolic`). A formulation derives named lists of
numbers as one program in the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from plants.core.replay import replay, substitute
from plants.core.sharing.sharing import shared
from plants.core.tracing.gradients import along, gradient
from plants.core.tracing.tape import Tape, Traced
from plants.core.tracing.trace import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaration.declaration import MechanismDeclaration


class Calculus(Protocol):
    """Numbers with + - * / that can be differentiated, and landed as a program."""

    def symbol(self, name: str) -> Any:
        """Return the symbol called `name` on the declaration's tape."""

    def lift(self, values: Sequence[Any]) -> list[Any]:
        """Return declared expressions as numbers of this calculus."""

    def gradient(self, value: Any, symbols: Sequence[Any]) -> list[Any]:
        """Return d value / d symbols."""

    def along(self, values: Sequence[Any], symbols: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
        """Return sum_j d values / d symbols[j] * directions[j]."""

    def replace(self, values: Sequence[Any], symbols: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return `values` with `numbers` in place of `symbols`."""

    def short(self, value: Any) -> Any:
        """Return `value` in its shortest form."""

    def land(self, values: Sequence[Any], inputs: Sequence[str]) -> Program:
        """Return the program that gives `values` from `inputs`."""


@dataclass(frozen=True)
class Parts:
    """Named results of one program.

    Attributes
    ----------
    program : Program
        Its inputs are t, the state (positions, velocities), inputs, disturbances and parameters.
    slices : mapping of name to (first, last)
        Where each list lies among the program's outputs.
    """

    program: Program
    slices: Mapping[str, tuple[int, int]]

    @classmethod
    def of(
        cls,
        lists: Mapping[str, Sequence[Any]],
        calculus: Calculus,
        declared: MechanismDeclaration,
        *,
        positions: tuple[str, int],
        velocities: tuple[str, int],
    ) -> Parts:
        """Land named lists of numbers; the state's symbols are given as (letter, count)."""
        state = tuple(f"{letter}{k}" for letter, count in (positions, velocities) for k in range(count))
        rest = tuple(f"{kind}{k}" for kind in "uwp" for k in range(len(declared.quantities[kind])))
        slices: dict[str, tuple[int, int]] = {}
        flat: list[Any] = []
        for name, values in lists.items():
            slices[name] = (len(flat), len(flat) + len(values))
            flat.extend(values)
        return cls(calculus.land(flat, ("t", *state, *rest)), slices)

    def condensed(self) -> Parts:
        """Return the same parts with what their expressions have in common computed once."""
        return Parts(shared(self.program), self.slices)

    def __call__(self, names: Sequence[str], t: Any, x: Any, u: Any, w: Any, p: Any) -> list[list[Any]]:
        """Return the lists called `names` at one state: floats, arrays of points or traced numbers."""
        wanted = [k for name in names for k in range(*self.slices[name])]
        program = Program(self.program.tape, self.program.inputs, tuple(self.program.outputs[k] for k in wanted))
        values = iter(replay(program, t, *x, *u, *w, *p))
        return [[next(values) for _ in range(*self.slices[name])] for name in names]


def triangle(values: Sequence[Any], n: int) -> list[list[Any]]:
    """Return the symmetric matrix [n][n] of its lower triangle, row by row."""
    rows = [list(values[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]) for i in range(n)]
    return [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def in_rows(entries: Sequence[Any], n: int) -> list[list[Any]]:
    """Return the matrix [...][n] of its entries, row by row."""
    return [list(entries[k : k + n]) for k in range(0, len(entries), n)]


class Taped:
    """The calculus of numbers on a tape.

    One of two ways to the same blocks; the other is :class:`plants.mechanics.algebra.symbolic.Symbolic`.
    """

    def __init__(self, declared: MechanismDeclaration) -> None:
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
