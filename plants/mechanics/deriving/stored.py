"""Derived parts on disk, under the hash of the declaration, the options and what derives: a warm start derives nothing.

A file is JSON: operations by name, arguments by number. What cannot be read is derived again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plants.core import cache, scalar
from plants.core.tape import Tape
from plants.core.trace import Program
from plants.mechanics.deriving.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.mechanics.declaring.declared import Declaration

_SCHEMA = 2


def parts(
    declared: Declaration, options: dict[str, Any], derive: Callable[[], tuple[Parts, dict[str, Any]]]
) -> tuple[Parts, dict[str, Any]]:
    """Return parts and facts about them from the cache folder, else derived (and kept there).

    Parameters
    ----------
    options : dict
        All that decides what is derived beside the declaration.
    derive : callable
        ``() -> parts, facts``; facts are plain data.
    """
    path = cache.folder() / f"mechanism_{key(declared, options)}.json"
    found = _read(path)
    if found is None:
        made, facts = derive()
        body = _dumped(_written(made, facts))
        cache.keep(path, _dumped({"digest": _digest(body), "record": json.loads(body)}))
        found = _loaded(json.loads(body))  # cold and warm starts go the same way
    return found


def key(declared: Declaration, options: dict[str, Any]) -> str:
    """Return the name under which a derivation is kept."""
    named = [declared.name, json.dumps(options, sort_keys=True), _versions(), *digests(declared)]
    return _digest("\n".join(named))[:24]


def digests(declared: Declaration) -> list[str]:
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
    kit = Path(__file__).parents[1]
    names = (
        "tape",
        "trace",
        "partials",
        "gradients",
        "replay",
        "sharing",
        "nary*",
        "elementary",
        "scalar",
        "linear_solve",
    )
    core = [path for name in names for path in sorted((kit.parent / "core").glob(f"{name}.py"))]
    texts = [path.read_bytes() for path in (*sorted(kit.rglob("*.py")), *core)]
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


def _read(path: Path) -> tuple[Parts, dict[str, Any]] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return _loaded(found["record"]) if found["digest"] == _digest(_dumped(found["record"])) else None
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError):
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
