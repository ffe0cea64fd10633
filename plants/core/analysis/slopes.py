"""A plant's rates and outputs with all their slopes, as one program for any number of points.

Beside them the states that a plant's `after_step` changes: there it is not at rest, whatever its rates say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from plants.core.blocks import allocate_inputs, as_tuple
from plants.core.quantities import Quantity
from plants.core.replay import replay
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, differentiate, flat, names, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant

    Array = NDArray[np.float64]
    Numbers = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True)
class Local:
    """Rates, outputs and slopes at one point [...] or at many [n_points, ...]; residuals of constraints, slopes G."""

    rates: Array
    output: Array
    A: Array
    B: Array
    E: Array
    C: Array
    D: Array
    F: Array
    residuals: Array
    G: Array


class Slopes:
    """A plant's rates and outputs with all their slopes, traced once for any number of points.

    Parameters
    ----------
    plant : Plant
    commands : bool
        Whether the inputs are the channels' commands.
    """

    def __init__(self, plant: Plant, *, commands: bool = False) -> None:
        self.plant = plant
        self.commands = commands and plant.allocate is not None
        self.inputs = _commanded(plant) if commands else plant.inputs
        if self.commands:
            self.inputs = tuple(Quantity(f"command {c.output}", "", low=c.low, high=c.high) for c in plant.channels)
        self.sizes = (len(plant.states), len(self.inputs), len(plant.disturbances), len(plant.measurements))
        self._program = self._trace()

    def nominal_input(self) -> Array:
        """Return the nominal inputs [n_u]."""
        return np.array([q.nominal for q in self.inputs])

    def _trace(self) -> Program:
        plant, tape = self.plant, Tape()
        n_x, n_u, n_w, _ = self.sizes
        shapes = ("t", names("x", n_x), names("u", n_u), names("w", n_w), names("p", len(plant.parameters)))
        t, x, u, w, p = (symbols(tape, shape) for shape in shapes)
        inputs = allocate_inputs(plant, t, x, u, p) if self.commands else u
        values = [
            *as_tuple(plant.derivative(t, x, inputs, w, p), n_x, plant.name),  # type: ignore[misc]
            *as_tuple(plant.outputs(t, x, inputs, w, p), len(plant.measurements), plant.name),
        ]
        results = [tape.lift(value) for value in values]
        slopes = differentiate(results, [*x, *u, *w])
        wanted = [*results, *(slope for row in slopes for slope in row)]
        if plant.constraints is not None:
            residuals = [tape.lift(value) for value in plant.constraints(t, x, inputs, w, p)]
            wanted += [*residuals, *(slope for row in differentiate(residuals, x) for slope in row)]
        return Program(tape, tuple(flat(shapes)), tuple(tape.lift(value).index for value in wanted))

    def at(self, t: float | Array, x: Array, u: Array, w: Array, p: Array) -> Local:
        """Return everything at one point, or at many where the arrays are [n, n_points]."""
        n_x, n_u, n_w, n_y = self.sizes
        given = [t, *x, *u, *w, *p]
        many = np.broadcast_shapes(*(np.shape(value) for value in given))
        values = replay(self._program, *(float(v) if not many else np.asarray(v, float) for v in given))
        table = np.array([np.broadcast_to(value, many) for value in values], float)
        table = np.moveaxis(table, 0, -1)
        n_f, n_z = n_x + n_y, n_x + n_u + n_w
        rates, output = table[..., :n_x], table[..., n_x:n_f]
        rest, bound = table[..., n_f : n_f * (1 + n_z)], table[..., n_f * (1 + n_z) :]
        n_r = bound.shape[-1] // (1 + n_x)
        slopes = rest.reshape(*many, n_f, n_z)
        ends = (n_x, n_x + n_u)
        A, B, E = np.split(slopes[..., :n_x, :], ends, axis=-1)
        C, D, F = np.split(slopes[..., n_x:, :], ends, axis=-1)
        G = bound[..., n_r:].reshape(*many, n_r, n_x)
        return Local(rates, output, A, B, E, C, D, F, bound[..., :n_r], G)


def _commanded(plant: Plant) -> tuple[Quantity, ...]:
    """The inputs where each is a channel's command: inside the channel's limits as well."""
    if len(plant.channels) != len(plant.inputs):
        return plant.inputs
    return tuple(
        replace(q, low=max(q.low, c.low), high=min(q.high, c.high))
        for q, c in zip(plant.inputs, plant.channels, strict=True)
    )


ROUNDING = 1e-9  # of 1 + |state|: a projection moves what is on its constraint by rounding


def changes(plant: Plant, t: float, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> str:
    """Return how `after_step` changes a state with the plant's own step, in words; empty where it leaves it as it is.

    Parameters
    ----------
    x, u, w, p : sequences or arrays of float
        State, plant inputs, disturbances, parameters.
    """
    if plant.after_step is None:
        return ""
    x, u, w, p = (tuple(float(value) for value in values) for values in (x, u, w, p))
    result = plant.after_step(t, x, u, w, p, plant.step)
    new = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    moved = [
        f"{q.name} from {before:.6g} to {float(after):.6g} {q.unit}"
        for q, before, after in zip(plant.states, x, new, strict=True)
        if not abs(after - before) <= ROUNDING * (1.0 + abs(before))  # NaN counts
    ]
    return ", ".join(moved)
