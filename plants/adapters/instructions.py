"""Somebody else's expression graph as a block: a list of operations that runs on floats, arrays and traced numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plants.core.plant import Plant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.quantities import Quantity

BLOCKS = ("derivative", "outputs", "energy", "supplied_power", "entropy_rate")
SEVERAL = frozenset({"derivative", "outputs"})  # these give a tuple, the others one number
KINDS = ("states", "inputs", "disturbances", "parameters")


@dataclass
class Instructions:
    """Operations in order; each writes one place.

    Attributes
    ----------
    lines : list of (function, places of its arguments)
        A line writes the place of its own number.
    outputs : list of int
        Places of the results.
    """

    lines: list[tuple[Callable[..., Any], tuple[int, ...]]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    _inputs: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, function: Callable[..., Any], *places: int) -> int:
        """Append an operation on earlier places and return its place."""
        self.lines.append((function, places))
        return len(self.lines) - 1

    def constant(self, value: float) -> int:
        """Append a constant."""
        return self.add(_FixedNumber(float(value)))

    def input(self, kind: int, number: int = 0) -> int:
        """Return the place of an argument: time (kind 0), or a number of the tuple x, u, w, p (kinds 1 to 4)."""
        key = (kind, number)
        if key not in self._inputs:
            self._inputs[key] = self.add(_Input(kind, number))
        return self._inputs[key]

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        """Run it on (t, x, u, w, p)."""
        found: list[Any] = []
        for function, places in self.lines:
            given = arguments if isinstance(function, _Input) else [found[place] for place in places]
            found.append(function(*given))
        return tuple(found[place] for place in self.outputs)

    def block(self, name: str) -> Callable[..., Any]:
        """Return the block called `name`: a function (t, x, u, w, p)."""

        def block(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
            values = self(t, x, u, w, p)
            return values if name in SEVERAL else values[0]

        block.__name__ = block.__qualname__ = name
        return block


@dataclass(frozen=True)
class _FixedNumber:
    value: float

    def __call__(self) -> float:
        return self.value


@dataclass(frozen=True)
class _Input:
    kind: int
    number: int

    def __call__(self, *arguments: Any) -> Any:
        return arguments[self.kind][self.number] if self.kind else arguments[0]


def plant_of(
    name: str,
    expressions: Mapping[str, Any],
    symbols: Mapping[str, Sequence[tuple[Any, Quantity]]],
    translate: Callable[[str, Any], Instructions],
    more: Mapping[str, Any],
) -> Plant:
    """Return a plant whose blocks are translated expressions.

    Parameters
    ----------
    expressions : mapping of block name to expression
        "derivative", and any of the others of :data:`BLOCKS`.
    symbols : mapping of "states", "inputs", ... to pairs of symbol and quantity
    translate : callable (block name, expression) -> Instructions
    more : mapping
        Anything else that a plant declares.

    Raises
    ------
    ValueError
        For a block that there is not, or a number of rates that is not that of the states.
    """
    unknown = set(expressions) - set(BLOCKS)
    if unknown or "derivative" not in expressions:
        raise ValueError(
            f"plant {name!r}: expressions are of {', '.join(BLOCKS)}, the first always; got {', '.join(expressions)}"
        )
    code = {block: translate(block, expression) for block, expression in expressions.items()}
    _check_sizes(name, code, symbols, more)
    declared: dict[str, Any] = {kind: tuple(quantity for _, quantity in symbols[kind]) for kind in KINDS}
    declared |= {block: found.block(block) for block, found in code.items()}
    return Plant(name=name, **declared, **more)


def _check_sizes(
    name: str, code: Mapping[str, Instructions], symbols: Mapping[str, Sequence[Any]], more: Mapping[str, Any]
) -> None:
    wanted = dict.fromkeys(code, 1) | {"derivative": len(symbols["states"])}
    if "outputs" in code:
        if "measurements" not in more:
            raise ValueError(f"plant {name!r}: name its outputs with measurements=(plants.Quantity(...), ...)")
        wanted["outputs"] = len(more["measurements"])
    for block, found in code.items():
        if len(found.outputs) != wanted[block]:
            raise ValueError(f"{block} of plant {name!r} must have {wanted[block]} entries, got {len(found.outputs)}")
