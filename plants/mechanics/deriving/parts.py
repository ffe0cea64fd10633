"""What a formulation derives: named lists of numbers, as one program in the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.replay import replay
from plants.core.sharing import shared
from plants.core.trace import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaring.declared import Declaration
    from plants.mechanics.deriving.calculus import Calculus


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
        declared: Declaration,
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
