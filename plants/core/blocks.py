"""A plant's blocks: their arguments and sizes, as programs, at random points inside the bounds.

Also whether they can be compiled at all, and if not, which line prevents it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.accelerations import layout, n_accelerations
from plants.core.tracing.tape import TracingError
from plants.core.tracing.trace import Program, names, trace
from plants.core.user_functions.block import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant
    from plants.core.quantities import Quantity
    from plants.core.tracing.calls import CalledFunction


_NUMBERS = ("t", "h")  # arguments that are numbers, not tuples


@dataclass(frozen=True)
class BlockForm:
    """How a block is called and how many numbers it gives.

    Attributes
    ----------
    groups : tuple of str
        Its arguments.
    size : int
    what : str
        What the numbers are, for messages.
    number : bool
        Whether it gives one number and no tuple.
    """

    groups: tuple[str, ...]
    size: int
    what: str
    number: bool = False

    def checked(self, name: str, result: Any) -> Any:
        """Return what the block gave, or raise where its form is not the block's."""
        if self.number and isinstance(result, (tuple, list)):
            raise TracingError(f"{name} must return a number, got a {type(result).__name__} of {len(result)}")
        if name == "mass_matrix" and not all(
            isinstance(row, (tuple, list)) and len(row) ** 2 == self.size for row in result
        ):
            raise TracingError(f"mass_matrix must return {self.what}")
        nested = (
            [part for part in result if isinstance(part, (tuple, list))] if isinstance(result, (tuple, list)) else []
        )
        if nested and name != "mass_matrix":
            message = f"{name} must return a flat tuple of numbers, got a {type(nested[0]).__name__} inside it"
            raise TracingError(f"{message}; write return (a, b)")
        return result


def forms(plant: Plant) -> dict[str, BlockForm]:
    """Return the form of every block that `plant` gives, in the order in which they are checked."""
    usual = ("t", "x", "u", "w", "p")
    n_x, n_u, n_y = len(plant.states), len(plant.inputs), len(plant.measurements)
    n = n_accelerations(plant)
    known = {
        "mass_matrix": BlockForm(usual, n * n, f"{n} rows of {n} numbers"),
        "force": BlockForm(usual, n, "one number per acceleration"),
        "acceleration": BlockForm(("t", "x", "a", "u", "w", "p"), n, "one number per acceleration"),
        "kinematics": BlockForm(usual, n_x - n, f"one rate per state that is not accelerated ({_others(plant)})"),
        "derivative": BlockForm(usual, n_x, f"one rate per state ({_labels(plant.states)})"),
        "after_step": BlockForm((*usual, "h"), n_x, f"one value per state ({_labels(plant.states)})"),
        "advance": BlockForm((*usual, "h"), n_x, f"one value per state ({_labels(plant.states)})"),
        "outputs": BlockForm(usual, n_y, f"one number per measurement ({_labels(plant.measurements)})"),
        "energy": BlockForm(usual, 1, "one number [J]", number=True),
        "supplied_power": BlockForm(usual, 1, "one number [W]", number=True),
        "entropy_rate": BlockForm(usual, 1, "one number [W]", number=True),
        "allocate": BlockForm(("t", "x", "commands", "p"), n_u, f"one number per input ({_labels(plant.inputs)})"),
    }
    return {name: form for name, form in known.items() if getattr(plant, name) is not None}


def _others(plant: Plant) -> str:
    return _labels(tuple(plant.states[k] for k in layout(plant).others)) if plant.has_loop else "none"


def _labels(quantities: tuple[Quantity, ...]) -> str:
    return ", ".join(q.name for q in quantities) or "none"


def shape(plant: Plant, group: str) -> Any:
    """Return the names of the symbols of one argument of a block."""
    if group in _NUMBERS:
        return group
    counts = {
        "x": len(plant.states), "u": len(plant.inputs), "w": len(plant.disturbances), "p": len(plant.parameters),
        "a": n_accelerations(plant), "commands": len(plant.channels),
    }  # fmt: skip
    return names(group, counts[group])


def program(plant: Plant, name: str, form: BlockForm) -> Program:
    """Return a block as a program."""
    block = getattr(plant, name)

    def called(*arguments: Any) -> Any:
        return form.checked(name, block(*arguments))

    called.__qualname__ = name  # what errors call it
    return trace(called, *(shape(plant, group) for group in form.groups))


def called(plant: Plant) -> list[CalledFunction]:
    """Return the functions of a plant that are calls of what numba made of them: they have no equations."""
    found = [one for name, form in forms(plant).items() for one in program(plant, name, form).called()]
    return list({one.name: one for one in found}.values())


@dataclass(frozen=True)
class BlockSample:
    """Points at which blocks are compared: arrays [n, n_points]; the first point is the nominal one."""

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    w: np.ndarray
    p: np.ndarray
    commands: np.ndarray
    a: np.ndarray
    h: np.ndarray

    @classmethod
    def draw(cls, plant: Plant, points: int, rng: np.random.Generator) -> BlockSample:
        """Draw random states, inputs and disturbances inside their bounds."""
        channels = [(c.low, c.high) for c in plant.channels]
        inputs = plant.inputs
        if plant.allocate is None and len(channels) == len(inputs):
            pairs = zip(inputs, channels, strict=True)
            inputs = tuple(replace(q, low=max(q.low, low), high=min(q.high, high)) for q, (low, high) in pairs)
        n_commands, n = len(channels), n_accelerations(plant)
        commands = [np.clip(rng.standard_normal(points), low, high) for low, high in channels]
        return cls(
            t=np.concatenate([[0.0], rng.uniform(0.0, 100.0, points - 1)]),
            x=_drawn(plant.states, points, rng),
            u=_drawn(inputs, points, rng),
            w=_drawn(plant.disturbances, points, rng),
            p=np.repeat(np.array(plant.nominal())[:, None], points, axis=1),
            commands=np.array(commands).reshape(n_commands, points),
            a=np.concatenate([np.zeros((n, 1)), rng.standard_normal((n, points - 1))], axis=1),
            h=np.full(points, plant.step),
        )

    def group(self, name: str) -> np.ndarray:
        """Return one argument of all points."""
        return getattr(self, name)

    def arguments(self, form: BlockForm, point: int | None = None) -> list[Any]:
        """Return the arguments of a block: tuples of arrays, or of floats at one point."""
        if point is None:
            return [self.group(g) if g in _NUMBERS else tuple(self.group(g)) for g in form.groups]
        return [
            float(self.group(group)[point])
            if group in _NUMBERS
            else tuple(float(row[point]) for row in self.group(group))
            for group in form.groups
        ]


def _drawn(quantities: tuple[Quantity, ...], points: int, rng: np.random.Generator) -> np.ndarray:
    rows = [_drawn_one(q, points, rng) for q in quantities]
    return np.array(rows).reshape(len(quantities), points)


def _drawn_one(quantity: Quantity, points: int, rng: np.random.Generator) -> np.ndarray:
    low, high, nominal = quantity.low, quantity.high, quantity.nominal
    if math.isfinite(low) and math.isfinite(high):
        values = rng.uniform(low, high, points)
    elif math.isfinite(low):
        values = low + (nominal - low + 1.0) * rng.uniform(0.0, 2.0, points)
    elif math.isfinite(high):
        values = high - (high - nominal + 1.0) * rng.uniform(0.0, 2.0, points)
    else:
        values = nominal + (1.0 + abs(nominal)) * rng.standard_normal(points)
    values[0] = nominal
    return values


def as_tuple(result: Any, size: int, plant: str) -> tuple[Any, ...]:
    """Return a block's result as a tuple of `size` numbers, or raise with what was expected."""
    values = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(values) != size:
        message = f"a block of plant {plant!r} must return {size} numbers, got {len(values)}; plants.check tells which"
        raise ValueError(message)
    return values


def allocate_inputs(plant: Plant, t: Any, x: Any, commands: Any, p: Any) -> tuple[Any, ...]:
    """Return the plant inputs [n_u] that the channels' commands make; without an allocation they are the commands."""
    if plant.allocate is None:
        return tuple(commands)
    return as_tuple(plant.allocate(t, x, tuple(commands), p), len(plant.inputs), plant.name)


_BLOCKS = ("derivative", "outputs", "energy", "supplied_power", "entropy_rate", "advance", "after_step")


class SlowPlantWarning(UserWarning):
    """A plant that cannot be compiled: it is simulated step by step in Python."""


def obstacle(plant: Plant) -> str | None:
    """Return what keeps `plant` from being compiled, with file and line; None if nothing does."""
    shapes = tuple(
        names(prefix, len(getattr(plant, kind)))
        for prefix, kind in (("x", "states"), ("u", "inputs"), ("w", "disturbances"), ("p", "parameters"))
    )
    for name in _BLOCKS:
        block = getattr(plant, name)
        if block is not None:
            more = ("h",) if name in {"advance", "after_step"} else ()
            found = prevents(block, "t", *shapes, *more)
            if found is not None:
                return f"{name} of plant {plant.name!r}: {found}"
    return None


def prevents(block: Callable[..., Any], *shapes: Any) -> str | None:
    """Return what prevents a block from being traced; None if it can be.

    An error that the block's own code raises counts as well: a library that knows no traced numbers says so in its way.
    """
    try:
        trace(block, *shapes)
    except TracingError as error:
        return str(error)
    except (TypeError, ValueError, AttributeError, NotImplementedError, AssertionError) as error:
        return f"{place_of(error)}: {type(error).__name__}: {error}"
    return None
