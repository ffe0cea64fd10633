"""A part of a machine in statements of a language: what it reads of the memory, computes, and writes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.export.machine import Machine, Part
    from plants.core.printers.python import Printed


@dataclass(frozen=True)
class PartStatements:
    """A part's text; a slot that is read has the name ``s`` with its place behind.

    Attributes
    ----------
    reads : tuple of (slot, place)
    lines : tuple of str
        What is computed.
    writes : tuple of (slot, place, value)
    kernels : frozenset of str
        Functions that the lines call.
    """

    reads: tuple[tuple[str, int], ...]
    lines: tuple[str, ...]
    writes: tuple[tuple[str, int, str], ...]
    kernels: frozenset[str]


def statements(machine: Machine, part: Part, printer: type[Printed]) -> PartStatements:
    """Return a part as a printer writes it; slots that nothing depends on are not read."""
    places, tape, outputs = machine.places, part.program.tape, part.program.outputs
    read = {node: name for node, name in tape.input_names.items() if name in part.program.inputs}
    code = printer(tape, outputs, {node: f"s{places[name]}" for node, name in read.items()})
    slots = [read[node] for node in sorted(set(tape.needed(outputs)) & read.keys())]
    return PartStatements(
        reads=tuple((slot, places[slot]) for slot in slots), lines=tuple(code.lines),
        writes=tuple((s, places[s], code.value(node)) for s, node in zip(part.writes, outputs, strict=True)),
        kernels=frozenset(code.kernels),
    )  # fmt: skip
