"""Blocks to programs: run a block once on named symbols and keep what its outputs need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core import scalar
from plants.core.partials import chain
from plants.core.tape import Tape, Traced, TracingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Program:
    """Straight-line code: named inputs to a flat list of outputs.

    Attributes
    ----------
    tape : Tape
    inputs : tuple of str
        In the order of the block's arguments, flat.
    outputs : tuple of int
        Node numbers.
    """

    tape: Tape
    inputs: tuple[str, ...]
    outputs: tuple[int, ...]

    def counts(self) -> dict[str, int]:
        """Return the number of operations by name."""
        return self.tape.counts(self.outputs)

    def __call__(self, *values: float) -> tuple[float, ...]:
        """Evaluate the tape node by node with plain floats (tests compare this with the block itself)."""
        given = dict(zip(self.inputs, values, strict=True))
        tape, results = self.tape, {}
        for node in tape.needed(self.outputs):
            name = tape.operations[node]
            if name == "input":
                results[node] = float(given[tape.input_names[node]])
            elif name == "const":
                results[node] = tape.constants[node]
            else:
                results[node] = scalar.OPERATIONS[name](*(results[a] for a in tape.arguments[node]))
        return tuple(results[node] for node in self.outputs)


Shape = str | tuple["Shape", ...]


def symbols(tape: Tape, shape: Shape) -> Any:
    """Return traced inputs in the shape of `shape`: a name, or a tuple of shapes."""
    return tape.input(shape) if isinstance(shape, str) else tuple(symbols(tape, part) for part in shape)


def flat(value: Any) -> list[Any]:
    """Return the numbers of nested tuples and lists, left to right."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def trace(block: Callable[..., Any], *shapes: Shape) -> Program:
    """Run `block` once with symbols.

    Parameters
    ----------
    block : callable
        A plain function of numbers and flat tuples of numbers.
    *shapes : str or tuple of str
        One per argument: a name for a number, a tuple of names for a tuple.

    Raises
    ------
    TracingError
        Where the block decides on a traced number, or returns something that is not a number.
    """
    tape = Tape()
    result = block(*(symbols(tape, shape) for shape in shapes))
    return Program(tape, tuple(flat(shapes)), as_nodes(tape, result, block))


def as_nodes(tape: Tape, result: Any, block: Callable[..., Any]) -> tuple[int, ...]:
    """Node numbers of a block's result, or an error that names the block."""
    leaves = flat(result)
    for leaf in leaves:
        if not isinstance(leaf, Traced) and not isinstance(leaf, (int, float)):
            name = getattr(block, "__qualname__", repr(block))
            message = f"{name} must return a number or a tuple of numbers, got {type(leaf).__name__} in its result"
            raise TracingError(message)
    return tuple(tape.lift(leaf).index for leaf in leaves)


def names(prefix: str, count: int) -> tuple[str, ...]:
    """Return ``prefix0 .. prefix{count-1}``."""
    return tuple(f"{prefix}{k}" for k in range(count))


def differentiate(outputs: Sequence[Traced], inputs: Sequence[Traced]) -> list[list[Any]]:
    """Jacobian d outputs[i] / d inputs[j] by forward mode, as numbers on the same tape (0.0 where there is none).

    Selects and limits are differentiated branch by branch; `floor` and `sign` have derivative 0.
    """
    if not outputs:
        return []
    tape = outputs[0].tape
    order = tape.needed(node.index for node in outputs)
    columns = [tangents(tape, order, {seed.index: 1.0}) for seed in inputs]
    return [[column.get(node.index, 0.0) for column in columns] for node in outputs]


def depends(row: Sequence[Any]) -> bool:
    """Whether a row of slopes has an entry that is not 0 everywhere."""
    return not all(isinstance(slope, float) and slope == 0.0 for slope in row)


def tangents(tape: Tape, order: Iterable[int], seeds: Mapping[int, Any]) -> dict[int, Any]:
    """Tangents of the nodes in `order` that have one, from those of `seeds` (by node number); all else stays put."""
    result: dict[int, Any] = dict(seeds)
    for node in order:
        parts = {k: result[a] for k, a in enumerate(tape.arguments[node]) if a in result}
        if parts:
            value = chain(tape, node, parts)
            value = result[node] + value if node in result else value
            if not (isinstance(value, float) and value == 0.0):
                result[node] = value
    return result
