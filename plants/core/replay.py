"""A program's operations carried out on other numbers: floats, arrays of points, symbols of another tape.

One traced block so serves many points at once, and derivatives of one block can stand inside another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
from plants.core.tracing import calls, scalar
from plants.core.tracing.tape import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plants.core.tracing.tape import Tape
    from plants.core.tracing.trace import Program


def replay(program: Program, *values: Any) -> tuple[Any, ...]:
    """Return the program's outputs for other inputs.

    Parameters
    ----------
    program : Program
    *values : number or ndarray
        In the order of ``program.inputs``; traced numbers must be of one tape.

    Returns
    -------
    tuple
        In the order of ``program.outputs``. An output that depends on no input is a plain float.
    """
    given = dict(zip(program.inputs, values, strict=True))
    tape, results = program.tape, {}
    for node in tape.needed(program.outputs):
        name = tape.operations[node]
        if name == "input":
            results[node] = given[tape.input_names[node]]
        elif name == "const":
            results[node] = tape.constants[node]
        else:
            results[node] = _carried_out(name, *(results[a] for a in tape.arguments[node]))
    return tuple(results[node] for node in program.outputs)


def substitute(tape: Tape, values: Iterable[Any], places: Mapping[int, Any]) -> list[Any]:
    """Return `values` with other numbers in place of some inputs of their tape.

    Parameters
    ----------
    tape : Tape
    values : iterable of traced numbers of this tape and of plain ones
    places : mapping of node number to number
        What stands for an input: traced on the same tape, or plain where all inputs are replaced.
    """
    wanted = list(values)
    done: dict[int, Any] = dict(places)
    moved = set(places)
    for node in tape.needed(value.index for value in wanted if isinstance(value, Traced)):
        arguments = tape.arguments[node]
        if node in moved:
            continue
        if node in tape.constants:
            done[node] = tape.constants[node]
        elif moved.isdisjoint(arguments):
            done[node] = Traced(tape, node)
        else:
            done[node] = _again(tape.operations[node], [done[a] for a in arguments])
            moved.add(node)
    return [done[value.index] if isinstance(value, Traced) else value for value in wanted]


def _again(operation: str, arguments: list[Any]) -> Any:
    if operation == "keep" and isinstance(arguments[0], Traced):
        return arguments[0].tape.keep(arguments[0])  # rounded here before, rounded here now
    return _carried_out(operation, *arguments)


def _carried_out(operation: str, *values: Any) -> Any:
    if not calls.is_call(operation):
        return _OPERATIONS[operation](*values)
    tape = next((value.tape for value in values if isinstance(value, Traced)), None)
    return calls.evaluate(operation, *values) if tape is None else tape.apply(operation, *values)


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, float) and isinstance(b, float):
        return scalar.divide(a, b)
    with np.errstate(all="ignore"):
        return a / b


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "neg": lambda a: -a,
    "keep": lambda a: a,
}
_OPERATIONS = {name: _ARITHMETIC.get(name) or getattr(elementary, name) for name in scalar.OPERATIONS}
