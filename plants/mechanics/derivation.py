"""The ways to derive a form: all that are asked for are gone, the one with the fewest operations is kept.

Derived parts are kept on disk, under the hash of the declaration, the options and what derives: a warm start derives
nothing. A file is sealed JSON: operations by name, arguments by number. What cannot be read is derived again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plants.core.kernel import cache
from plants.core.tracing import scalar
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.algebra.calculus import Parts, Taped
from plants.mechanics.declaration.declaration import DeclarationError, MechanismDeclaration
from plants.mechanics.equations import Equations
from plants.mechanics.forms import multipliers
from plants.mechanics.forms.reduced import reduced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plants.mechanics.algebra.calculus import Calculus
    from plants.mechanics.forms.chaplygin.split import Split

    Facts = dict[str, Any]


_SCHEMA = 2


def stored_parts(
    declared: MechanismDeclaration, options: dict[str, Any], derive: Callable[[], tuple[Parts, dict[str, Any]]]
) -> tuple[Parts, dict[str, Any]]:
    """Return parts and facts about them from the cache folder, else derived (and kept there).

    Parameters
    ----------
    options : dict
        All that decides what is derived beside the declaration.
    derive : callable
        ``() -> parts, facts``; facts are plain data.
    """
    key = storage_key(declared, options)
    path = cache.folder() / f"mechanism_{key}.json"
    found = _read(path, key)
    if found is None:
        made, facts = derive()
        body = _dumped(_written(made, facts))
        cache.seal(path, key, body.encode())
        found = _loaded(json.loads(body))  # cold and warm starts go the same way
    return found


def storage_key(declared: MechanismDeclaration, options: dict[str, Any]) -> str:
    """Return the name under which a derivation is kept."""
    named = [declared.name, json.dumps(options, sort_keys=True), _versions(), *digests(declared)]
    return _digest("\n".join(named))[:24]


def digests(declared: MechanismDeclaration) -> list[str]:
    """Return what tells one declaration from another: its expressions' digests, kind by kind."""
    shapes = declared.tape.shapes
    velocities = declared.velocities
    groups = [
        [declared.kinetic], [declared.potential], *declared.forces.values(), declared.positions, declared.rows,
        [gap.distance for gap in declared.gaps], declared.places, [value for _, value in declared.measured],
        velocities.rates if velocities else (), *(velocities.columns if velocities else ()),
    ]  # fmt: skip
    sizes = [str(len(declared.quantities[kind])) for kind in "qvuwps"]
    independent = ",".join(map(str, declared.independent))
    return [*sizes, independent, *(",".join(shapes[value.index].hex() for value in group) for group in groups)]


@remembered
def _versions() -> str:
    kit = Path(__file__).parent
    core = kit.parent / "core"
    files = [core / f"{name}.py" for name in ("elementary", "linear_solve", "replay")]
    for folder in ("sharing", "tracing"):
        files += sorted((core / folder).glob("*.py"))
    texts = [path.read_bytes() for path in (*sorted(kit.rglob("*.py")), *files)]
    return importlib.metadata.version("symengine") + hashlib.sha256(b"".join(texts)).hexdigest()


def _written(made: Parts, facts: dict[str, Any]) -> dict[str, Any]:
    program, tape = made.program, made.program.tape
    nodes = tape.needed(program.outputs)
    place = {node: k for k, node in enumerate(nodes)}
    lines: list[list[Any]] = []
    for node in nodes:
        operation = tape.operations[node]
        if operation == "input":
            lines.append(["input", tape.input_names[node]])
        elif operation == "const":
            lines.append(["const", tape.constants[node].hex()])
        else:
            lines.append([operation, *(place[a] for a in tape.arguments[node])])
    outputs = [place[node] for node in program.outputs]
    return {
        "schema": _SCHEMA,
        "inputs": program.inputs,
        "lines": lines,
        "outputs": outputs,
        "slices": made.slices,
        "facts": facts,
    }


def _read(path: Path, key: str) -> tuple[Parts, dict[str, Any]] | None:
    found = cache.sealed(path, key)
    if found is None:
        return None
    try:
        return _loaded(json.loads(found))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError):
        return None


def _dumped(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _loaded(record: dict[str, Any]) -> tuple[Parts, dict[str, Any]]:
    if record["schema"] != _SCHEMA:
        raise ValueError(record["schema"])
    tape, numbers = Tape(), []
    for operation, *arguments in record["lines"]:
        if operation == "input":
            numbers.append(tape.input(arguments[0]))
        elif operation == "const":
            numbers.append(tape.constant(float.fromhex(arguments[0])))
        elif operation in scalar.OPERATIONS:
            numbers.append(tape.apply(operation, *(numbers[k] for k in arguments)))
        else:
            raise KeyError(operation)
    for name in record["inputs"]:
        tape.input(name)
    program = Program(tape, tuple(record["inputs"]), tuple(numbers[k].index for k in record["outputs"]))
    slices = {name: (int(first), int(last)) for name, (first, last) in record["slices"].items()}
    return Parts(program, slices), dict(record["facts"])


WAYS = ("smaller", "symbols", "tape")
LARGE = 4000
"""Operations of the tape's own derivation beyond which no expansion is tried."""


def derived(
    declared: MechanismDeclaration, form: str, derivatives: str, feedback: tuple[float, float] | None
) -> tuple[Parts, Facts]:
    """Return a form's parts, from the cache folder where they are there, and how they were derived.

    Parameters
    ----------
    derivatives : str
        A name of :data:`WAYS`.
    feedback : (alpha, beta), optional
        Baumgarte's.

    Returns
    -------
    Parts
    dict
        "derivatives": the way that was kept; "operations": of one evaluation, by way; "feedback": Baumgarte's
        coefficients; "independent": which rates Chaplygin's form has, by number. No names: they are not in the key.

    Raises
    ------
    SymbolicError
        Where computer algebra is asked for and cannot differentiate what is declared.
    """
    options = {"form": form, "derivatives": derivatives, "feedback": feedback}
    return stored_parts(declared, options, lambda: _smallest(declared, form, derivatives, feedback))


def _smallest(declared: MechanismDeclaration, form: str, derivatives: str, feedback: Any) -> tuple[Parts, Facts]:
    facts: Facts = {"feedback": feedback}
    if form == "chaplygin":
        split = _split(declared, derivatives)
        facts["independent"] = list(split.independent)
        found = _mechanised(declared, split)
    else:
        found = _generic(declared, form, derivatives, feedback)
    parts, sizes = {}, {}
    for name, made in found:
        parts[name] = made.condensed()
        sizes[name] = _size(declared, form, parts[name], facts)
        if name == "tape" and sizes[name] > LARGE and derivatives == "smaller":
            break
    best = min(sizes, key=lambda name: sizes[name])
    return parts[best], {**facts, "derivatives": best, "operations": sizes}


def _generic(declared: MechanismDeclaration, form: str, derivatives: str, feedback: Any) -> Iterator[tuple[str, Parts]]:
    def derive(calculus: Calculus) -> Parts:
        if form in multipliers.MULTIPLIER_FORMS:
            return multipliers.with_multipliers(calculus, declared, feedback)
        return reduced(calculus, declared)

    if derivatives != "symbols":
        yield "tape", derive(Taped(declared))
    if derivatives != "tape":
        yield from _by_algebra(derive, declared, required=derivatives == "symbols")


def _by_algebra(
    derive: Callable[[Calculus], Parts], declared: MechanismDeclaration, *, required: bool
) -> Iterator[tuple[str, Parts]]:
    from plants.mechanics.algebra.symbolic import Symbolic, SymbolicError  # symengine: a stored derivation needs none

    for name, normal in (("symbols", True), ("symbols, as derived", False)):
        try:
            yield name, derive(Symbolic(declared, trigonometric=normal))
        except SymbolicError:
            if required:
                raise
            return


def _split(declared: MechanismDeclaration, derivatives: str) -> Split:
    from plants.mechanics.forms.chaplygin.split import split_of  # symengine, as above

    if derivatives == "tape":
        raise DeclarationError(
            f"mechanism {declared.name!r}: form 'chaplygin' is a procedure of computer algebra; leave out "
            "derivatives='tape'"
        )
    return split_of(declared)


def _mechanised(declared: MechanismDeclaration, split: Split) -> Iterator[tuple[str, Parts]]:
    """With names kept and replaced, in trigonometric normal form and as derived."""
    from plants.mechanics.forms.chaplygin.equations import chaplygin  # symengine, as above

    for kept, normal in ((True, True), (True, False), (False, True), (False, False)):
        name = ("names kept" if kept else "names replaced") + ("" if normal else ", as derived")
        yield name, chaplygin(declared, split=split, kept=kept, trigonometric=normal)


def state_names(declared: MechanismDeclaration, form: str, facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a form's positions and velocities."""
    names = {kind: tuple(q.name for q in declared.quantities[kind]) for kind in "qvsr"}
    if form == "joints":
        return names["s"], names["r"]
    if form == "quasi" and declared.velocities is not None:
        return names["q"], declared.velocities.names
    if form == "chaplygin":
        return names["q"], tuple(names["v"][k] for k in facts["independent"])
    return names["q"], names["v"]


def _size(declared: MechanismDeclaration, form: str, parts: Parts, facts: Facts) -> int:
    state = state_names(declared, form, facts)
    return Equations(form, declared, parts, Full(declared) if declared.gaps else None, *state, facts).operations  # type: ignore[arg-type]
