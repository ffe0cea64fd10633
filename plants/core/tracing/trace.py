"""Blocks to programs: run a block once on named symbols, keep what its outputs need, and differentiate that.

Derivatives are numbers on the same tape. The table of partial derivatives serves both directions of
differentiation (reverse: :mod:`plants.core.tracing.gradients`). Selects hand on the slope of the chosen branch;
`floor` and `sign` have derivative 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.tracing import calls, scalar
from plants.core.tracing.tape import Tape, Traced, TracingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def chain(tape: Tape, node: int, d: Mapping[int, Any]) -> Any:
    """Tangent of `node` from the tangents `d` of its arguments (by their place; those without one are left out)."""
    name = tape.operations[node]
    args = [Traced(tape, a) for a in tape.arguments[node]]
    if name in SELECTS:
        condition, then, other = SELECTS[name](args)
        return tape.apply("where", condition, d.get(then, 0.0), d.get(other, 0.0))
    total: Any = 0.0
    for k, dot in d.items():
        if calls.independent(name, k):
            continue
        total = total + partial(Traced(tape, node), args, k) * dot
    return total


def _f(name: str, *args: Traced) -> Traced:
    return args[0].tape.apply(name, *args)


def partial(out: Traced, arguments: list[Traced], k: int) -> Any:
    """Return the slope of a node by its argument at place `k`, on its tape; of a called function by differences."""
    name = out.tape.operations[out.index]
    if not calls.is_call(name):
        return PARTIAL[name](out, arguments, k)
    function, _ = calls.of(name)
    ends = [arguments[k] + function.reaches[k], arguments[k] - function.reaches[k]]
    above, below = (out.tape.apply(name, *arguments[:k], end, *arguments[k + 1 :]) for end in ends)
    return (above - below) / (ends[0] - ends[1])


def _d_pow(out: Traced, a: list[Traced], k: int) -> Traced:
    return a[1] * _f("pow", a[0], a[1] - 1.0) if k == 0 else out * _f("log", a[0])


PARTIAL: dict[str, Callable[[Traced, list[Traced], int], Any]] = {
    "add": lambda _o, _a, _k: 1.0,
    "sub": lambda _o, _a, k: 1.0 if k == 0 else -1.0,
    "mul": lambda _o, a, k: a[1 - k],
    "div": lambda o, a, k: 1.0 / a[1] if k == 0 else -o / a[1],
    "quotient": lambda o, a, k: _f("quotient", a[0].tape.constant(1.0) if k == 0 else -o, a[1]),
    "neg": lambda _o, _a, _k: -1.0,
    "keep": lambda _o, _a, _k: 1.0,
    "sin": lambda _o, a, _k: _f("cos", a[0]),
    "cos": lambda _o, a, _k: -_f("sin", a[0]),
    "tan": lambda o, _a, _k: 1.0 + o * o,
    "asin": lambda _o, a, _k: 1.0 / _f("sqrt", 1.0 - a[0] * a[0]),
    "acos": lambda _o, a, _k: -1.0 / _f("sqrt", 1.0 - a[0] * a[0]),
    "atan2": lambda _o, a, k: (a[1] if k == 0 else -a[0]) / (a[0] * a[0] + a[1] * a[1]),
    "exp": lambda o, _a, _k: o,
    "log": lambda _o, a, _k: 1.0 / a[0],
    "sqrt": lambda o, _a, _k: 0.5 / o,
    "tanh": lambda o, _a, _k: 1.0 - o * o,
    "pow": _d_pow,
    "abs": lambda _o, a, _k: _f("sign", a[0]),
    "sign": lambda _o, _a, _k: 0.0,
    "floor": lambda _o, _a, _k: 0.0,
}
# The condition, and the places of the arguments that are taken where it is positive and where it is not.
SELECTS: dict[str, Callable[[list[Traced]], tuple[Traced, int, int]]] = {
    "minimum": lambda a: (a[1] - a[0], 0, 1),
    "maximum": lambda a: (a[0] - a[1], 0, 1),
    "where": lambda a: (a[0], 1, 2),
}


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

    def called(self) -> list[calls.CalledFunction]:
        """Return the functions of the user that stay calls."""
        return calls.among(self.tape.operations[node] for node in self.tape.needed(self.outputs))

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
                results[node] = scalar.carried_out(name, *(results[a] for a in tape.arguments[node]))
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
            raise TracingError(message + ("; does it end with return?" if leaf is None else ""))
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
