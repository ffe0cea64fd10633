"""A part of a machine in statements of a language: what it reads of the memory, computes, and writes back.

Programs around it stand in the folders `templates`, as files of their language.

For languages without fused multiply-add: sums of products are rounded twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plants.core.printers.python import Printed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flcs.export.machine import Machine, MachinePart


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


def printed_parts(
    machine: Machine, printer: type[Printed], write: Callable[[MachinePart, PartStatements], Sequence[str]]
) -> tuple[list[str], set[str]]:
    """Return the text of every part, made by `write` of its statements, and the functions that all of them call."""
    several = [statements(machine, part, printer) for part in machine.parts]
    texts = ["\n".join(write(part, code)) for part, code in zip(machine.parts, several, strict=True)]
    return texts, {name for code in several for name in code.kernels}


def statements(machine: Machine, part: MachinePart, printer: type[Printed]) -> PartStatements:
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


def template(package: str, file: str, /, **words: object) -> str:
    """Return a file of a package's folder ``templates``, with `words` in place of the names in ``${...}``.

    Raises
    ------
    KeyError
        For a name that is not among the words.
    """
    return Template((files(package) / "templates" / file).read_text(encoding="utf-8")).substitute(words)


def single(value: float, complaint: str) -> float:
    """Return the number with the fewest digits that has the same value in single precision.

    Raises
    ------
    ValueError
        With the complaint, where a finite number has none.
    """
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if math.isfinite(value) and not np.isfinite(rounded):
        raise ValueError(complaint)
    return float(str(rounded))


class Unfused(Printed):
    """Printer whose fused sums are plain arithmetic in parentheses."""

    ELSEWHERE: ClassVar[str] = "code for elsewhere"

    def _fused(self, node: int, product: int) -> str:
        a, b, c = (self._text[k] for k in self._operands(node, product))
        if self.tape.operations[node] == "add":
            return f"({a} * {b} + {c})"
        return f"({a} * {b} - {c})" if product == self.tape.arguments[node][0] else f"({c} - {a} * {b})"

    def _expression(self, name: str, args: list[str]) -> str:
        return f"{args[0]} / {args[1]}" if name == "quotient" else super()._expression(name, args)


class Called(Unfused):
    """Printer whose elementary functions are calls under the language's own names; `kernels` has these names."""

    CALLS: ClassVar[Mapping[str, str]]
    DEFINE: ClassVar[str] = "{} = {}"  # name and expression

    def _assign(self, node: int, expression: str) -> None:
        self._text[node] = f"v{node}"
        self.lines.append(self.DEFINE.format(f"v{node}", expression))

    def _print_sincos(self, node: int) -> None:
        (angle,) = self.tape.arguments[node]
        self._assign(node, self._expression(self.tape.operations[node], [self._text[angle]]))

    def _expression(self, name: str, args: list[str]) -> str:
        if name not in self.CALLS:
            return super()._expression(name, args)
        self.kernels.add(self.CALLS[name])
        return f"{self.CALLS[name]}({', '.join(args)})"
