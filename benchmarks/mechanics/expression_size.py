"""Lengths of equations of motion: names kept or replaced, common subexpressions taken out or not, two forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import symengine as se

from benchmarks.runner.report import FigureSection
from experiments.reproduce.mechanics import systems
from experiments.runtime.tables import markdown_table
from plants.core.sharing.sharing import operations
from plants.core.tracing.tape import Traced
from plants.core.tracing.trace import Program
from plants.mechanics.algebra.calculus import Parts, triangle
from plants.mechanics.algebra.symbolic import Symbolic
from plants.mechanics.forms import multipliers, reduced, solving
from plants.mechanics.forms.chaplygin import size
from plants.mechanics.forms.chaplygin.equations import Mechanised, chaplygin, mechanised
from plants.mechanics.forms.chaplygin.named_scalars import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.runner.size import Size
    from plants.mechanics import Mechanism
    from plants.mechanics.declaration.declaration import MechanismDeclaration


@dataclass(frozen=True)
class ExpressionCase:
    """A benchmark system, its independent coordinates, and published lengths by the column they belong to."""

    make: Callable[[], Mechanism]
    independent: str
    published: Mapping[str, float]


FULL, FULL_ROUTH = "Chaplygin, fully substituted", "Routh, fully substituted"
FULL_OTHER = "Chaplygin, fully substituted, one reciprocal a pivot"
BLOCKS, NAMES, SINES = "blocks, nothing shared", "names kept", "names kept, sines named"
NAMES_CSE, BLOCKS_CSE = "names, symengine's cse", "blocks, symengine's cse"
NAMES_TAPE, BLOCKS_TAPE = "names, tape", "blocks, tape"
NAMES_SHARED, BLOCKS_SHARED = "names, shared", "blocks, shared"
NAMES_SHORT, BLOCKS_SHORT = "names, normal form, shared", "blocks, normal form, shared"
QUASI, QUASI_SHORT = "quasi-velocities, shared", "quasi-velocities, normal form, shared"
_PUBLISHED = (FULL_OTHER, FULL_ROUTH, BLOCKS, NAMES, NAMES_CSE, BLOCKS_CSE, QUASI, QUASI_SHORT)


def _case(
    make: Callable[[], Mechanism], independent: str, *figures: float, sines: float | None = None
) -> ExpressionCase:
    published = dict(zip(_PUBLISHED, figures, strict=True))
    return ExpressionCase(make, independent, published | ({SINES: sines} if sines else {}))


CASES = {
    "sleigh": _case(systems.sleigh, "x th", 361, 1.6e3, 119, 91, 70, 66, 79, 18),
    "rolling disk": _case(systems.rolling_disk, "ps th ph", 929, 8.1e5, 366, 371, 182, 120, 198, 67),
    "trailers": _case(systems.trailers, "x th0", 1.4e3, 1.5e6, 1428, 545, 197, 224, 210, 225),
    "snakeboard": _case(systems.snakeboard, "th ps fb ff", 1.5e5, 2.7e5, 3241, 561, 246, 299, 130, 139, sines=508),
    "cart 1": _case(lambda: systems.cart(1), "fL fR al0", 3.0e4, 2.4e6, 2963, 2004, 544, 324, 276, 87),
    "cart 2": _case(lambda: systems.cart(2), "fL fR al0 al1", 3.6e5, 4.6e7, 7591, 4204, 976, 686, 561, 200),
    "cart 3": _case(
        lambda: systems.cart(3), "fL fR al0 al1 al2", 4.0e6, 7.6e8, 14621, 7706, 1517, 1154, 950, 391, sines=5869
    ),
}


def expression_size(size: Size) -> FigureSection:
    """Count the operations of each system's right-hand side in every way."""
    section = FigureSection(
        "expression_size", "Length of equations of motion: intermediate variables kept, replaced, shared"
    )
    lengths = {name: counted(case) for name, case in list(CASES.items())[: size.plants]}
    for name, found in lengths.items():
        nothing = found[BLOCKS] / found[NAMES]
        section.figure(f"{name}: blocks / names, nothing shared", nothing, "times", _pays(nothing))
        everything = found[BLOCKS_SHARED] / found[NAMES_SHARED]
        section.figure(f"{name}: blocks / names, both shared", everything, "times", _pays(everything))
    section.notes += [_table(lengths), _READING]
    return section


_READING = """Operations of one right-hand side, its solve by L D L' included. In brackets: a published derivation of
the same equations, with symengine's cse where something is shared. Names are the intermediate variables of the
mechanised Chaplygin equations in Voronets' form. In blocks each is replaced, so that only the solve has names; fully
substituted, not even that has (counted on the program without expanding it). The plants' solve forms L D again from L
and D, where the other one forms each product once: that tells only where nothing is shared. Tape: equal operations on
equal numbers once. Shared: common parts of sums and products once (plants/core/sharing/sharing.py).

Where figures differ from the published ones: sleigh and disk drop an entry of the inertia that is 0 under its names.
The trailers' slopes are sums of products here; written by hand with the sine of a difference they give 1,463 operations
for blocks, 1,646 fully substituted, 199 for names with cse. The snakeboard has the heading among its independent
coordinates; with x in its place it has 3,952 for blocks, 442 for names and 234 with cse. (Both are tests.)"""


def _pays(ratio: float) -> str:
    return "names pay" if ratio > 1.05 else "blocks pay" if ratio < 1.0 / 1.05 else "no difference"


def counted(case: ExpressionCase) -> dict[str, int]:
    """Return operations by column."""
    mech = case.make()
    mech.independent(*case.independent.split())
    declared = mech.declared()
    plain = mechanised(declared, trigonometric=False)
    names = chaplygin(declared, split=plain.split, trigonometric=False)
    blocks = chaplygin(declared, split=plain.split, trigonometric=False, kept=False)
    full, other = size.whole(names), size.whole(names, one_reciprocal)
    return {
        FULL: size.written_out(full.tape, full.outputs),
        FULL_OTHER: size.written_out(other.tape, other.outputs),
        FULL_ROUTH: _routh(declared),
        BLOCKS: size.with_names(plain, written_back=True),
        NAMES: size.with_names(plain),
        SINES: size.with_names(mechanised(declared, split=plain.split, trigonometric=False, sines=True)),
        NAMES_CSE: operations(size.whole(by_symengine(plain, names, written_back=False))),
        BLOCKS_CSE: operations(size.whole(by_symengine(plain, names, written_back=True))),
        NAMES_TAPE: operations(full),
        BLOCKS_TAPE: operations(size.whole(blocks)),
        NAMES_SHARED: _shared(names),
        BLOCKS_SHARED: _shared(blocks),
        NAMES_SHORT: _shared(chaplygin(declared, split=plain.split)),
        BLOCKS_SHORT: _shared(chaplygin(declared, split=plain.split, kept=False)),
        QUASI: _shared(reduced.reduced(Symbolic(declared, trigonometric=False), declared)),
        QUASI_SHORT: _shared(reduced.reduced(Symbolic(declared), declared)),
    }


def _shared(parts: Parts) -> int:
    return operations(size.whole(parts.condensed()))


def by_symengine(found: Mechanised, like: Parts, *, written_back: bool) -> Parts:
    """Land the equations with the common subexpressions that symengine finds in all definitions at once."""
    kept, lists = found.kept, found.lists
    wanted = [value for values in lists.values() for value in values]
    names = [] if written_back else kept.ordered(wanted)
    values = kept.written_back(wanted) if written_back else [se.sympify(value) for value in wanted]
    common, short = se.cse([*(kept.definitions[name] for name in names), *values])
    definitions = dict(common) | dict(zip(names, short, strict=False))
    landing = kept.calculus.landing(like.program.inputs)
    outputs = short[len(names) :]
    table = {name: kept.calculus.stands_on(definition) for name, definition in definitions.items()}
    for name in in_order([s for value in outputs for s in kept.calculus.stands_on(value)], table):
        landing.name(name, definitions[name])
    program = Program(landing.tape, like.program.inputs, landing.nodes(outputs))
    return Parts(program, like.slices)


def one_reciprocal(matrix: Any, right: Any) -> tuple[Any, ...]:
    """Solve by L D L' with one reciprocal a pivot; each entry of L D is formed once, before its division."""
    n = len(right)
    low: list[list[Any]] = [[0.0] * n for _ in range(n)]
    scaled: list[list[Any]] = [[0.0] * n for _ in range(n)]
    inverse: list[Any] = []
    for j in range(n):
        inverse.append(1.0 / (matrix[j][j] - solving.dot(low[j][:j], scaled[j][:j])))
        for i in range(j + 1, n):
            scaled[i][j] = matrix[i][j] - solving.dot(low[j][:j], scaled[i][:j])
            low[i][j] = scaled[i][j] * inverse[j]
    x = list(right)
    for i in range(n):
        x[i] = x[i] - solving.dot(low[i][:i], x[:i])
    x = [value * factor for value, factor in zip(x, inverse, strict=True)]
    for i in reversed(range(n)):
        x[i] = x[i] - solving.dot([low[k][i] for k in range(i + 1, n)], x[i + 1 :])
    return tuple(x)


def _routh(declared: MechanismDeclaration) -> int:
    """Written-out length of Routh's equations in their range-space form."""
    parts = multipliers.with_multipliers(Symbolic(declared, trigonometric=False), declared)
    tape, n = parts.program.tape, declared.n

    def numbers(name: str) -> list[Any]:
        nodes = parts.program.outputs[slice(*parts.slices[name])]
        return [tape.constants[node] if node in tape.constants else Traced(tape, node) for node in nodes]

    lower, load, entries, target = map(numbers, ("matrix", "load", "rows", "target"))
    rows = [entries[k * n : (k + 1) * n] for k in range(len(target))]
    solved, _ = solving.range_space(triangle(lower, n), load, rows, target)
    return size.written_out(tape, [tape.lift(value).index for value in solved])


def _table(lengths: Mapping[str, Mapping[str, int]]) -> str:
    """Columns are systems: there are fewer of them."""
    rows = [
        [column, *(_cell(found[column], CASES[name].published.get(column)) for name, found in lengths.items())]
        for column in next(iter(lengths.values()))
    ]
    return "\n".join(markdown_table(["operations", *lengths], rows))


def _cell(found: int, published: float | None) -> str:
    text = f"{found:,}" if found < 100_000 else f"{found:.2g}"
    return (
        text
        if published is None
        else f"{text} ({published:,.0f})"
        if published < 100_000
        else f"{text} ({published:.2g})"
    )
