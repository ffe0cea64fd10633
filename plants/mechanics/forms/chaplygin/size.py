"""How long equations are: with names kept, with common parts shared, and with everything written out.

Counts are exact, and nothing is expanded for them: a number's written-out length is 1 and those of its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.linear_solve import solve_symmetric
from plants.core.tracing.tape import Tape, Traced
from plants.core.tracing.trace import Program
from plants.mechanics.algebra.calculus import triangle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plants.mechanics.algebra.calculus import Parts
    from plants.mechanics.forms.chaplygin.equations import Mechanised
    from plants.mechanics.forms.chaplygin.named_scalars import Kept


def written_out(tape: Tape, nodes: Iterable[int]) -> int:
    """Return the operations of the nodes where nothing is shared: each number is written out wherever it is used."""
    wanted = list(nodes)
    sizes: dict[int, int] = {}
    for node in tape.needed(wanted):
        leaf = tape.operations[node] in {"input", "const"}
        sizes[node] = 0 if leaf else 1 + sum(sizes[a] for a in tape.arguments[node])
    return sum(sizes[node] for node in wanted)


def whole(parts: Parts, solve: Callable[..., Any] = solve_symmetric) -> Program:
    """Return the state's rates as one program: kinematics, and accelerations by L D L'."""
    tape = parts.program.tape

    def numbers(name: str) -> list[Any]:
        return [_value(tape, node) for node in parts.program.outputs[slice(*parts.slices[name])]]

    right = numbers("right")
    accelerations = solve(triangle(numbers("matrix"), len(right)), right)
    outputs = tuple(tape.lift(value).index for value in (*numbers("kinematics"), *accelerations))
    return Program(tape, parts.program.inputs, outputs)


def with_names(found: Mechanised, *, written_back: bool = False) -> int:
    """Return the operations of a right-hand side where nothing is shared but names, those of the solve included.

    Parameters
    ----------
    found : Mechanised
    written_back : bool
        Replace the names of the derivation first: only the solve's are kept.
    """
    kept, lists = found.kept, found.lists
    names: list[Any] = [] if written_back else kept.ordered(found.equations)
    values = kept.written_back(found.equations) if written_back else found.equations
    tape, nodes = _apart(kept, names, [*(kept.definitions[name] for name in names), *values])
    m = len(lists["right"])
    return written_out(tape, nodes) + _solve_size(tape, nodes[-m - m * (m + 1) // 2 :], m)


def _apart(kept: Kept, names: Sequence[Any], values: Sequence[Any]) -> tuple[Tape, list[int]]:
    """Land values in which names are inputs."""
    landing = kept.calculus.landing(())
    for symbol in dict.fromkeys([*names, *(s for value in values for s in kept.calculus.stands_on(value))]):
        landing.place(symbol, landing.tape.input(str(symbol)))
    return landing.tape, list(landing.nodes(values))


def _solve_size(tape: Tape, nodes: Sequence[int], m: int) -> int:
    """Operations of the solve, its matrix (lower triangle) and right side given as names or constants."""
    own = Tape()
    entries = [tape.constants[node] if node in tape.constants else own.input(f"e{k}") for k, node in enumerate(nodes)]
    solution = solve_symmetric(triangle(entries[:-m], m), entries[-m:])
    return sum(own.counts(own.lift(value).index for value in solution).values())


def _value(tape: Tape, node: int) -> Any:
    return tape.constants[node] if node in tape.constants else Traced(tape, node)
