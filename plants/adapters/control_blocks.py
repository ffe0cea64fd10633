"""Systems of python-control as blocks of a plant: matrices, or functions of their own that are traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.numpy_number import as_array, as_number, as_numbers, point_by_point
from plants.core.tape import Tape
from plants.core.trace import depends, differentiate, names, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.plant import Plant


def numbers(system: Any) -> dict[str, float]:
    """Return the numeric ``params`` of a system."""
    return {key: value for key, value in system.params.items() if isinstance(value, (int, float))}


def linear(system: Any) -> dict[str, Any]:
    """Return the blocks of x' = A x + B u, y = C x + D u."""
    A, B, C, D = (np.asarray(matrix, float).tolist() for matrix in (system.A, system.B, system.C, system.D))

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        return tuple(_dot(a, x) + _dot(b, u) for a, b in zip(A, B, strict=True))

    def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        return tuple(_dot(c, x) + _dot(d, u) for c, d in zip(C, D, strict=True))

    return {"derivative": derivative, "outputs": outputs}


def _dot(row: Sequence[float], values: Sequence[Any]) -> Any:
    total: Any = 0.0
    for factor, value in zip(row, values, strict=True):
        if factor != 0.0:
            total = total + factor * value
    return total


def nonlinear(system: Any) -> dict[str, Any]:
    """Return blocks that call the system's own functions."""
    keys = list(numbers(system))

    def block(function: Any, size: int, what: str) -> Any:
        def of_numbers(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
            params = {**system.params, **dict(zip(keys, map(as_number, p), strict=True))}
            return as_numbers(function(as_number(t), as_array(x), as_array(u), params), size, what)

        return point_by_point(of_numbers)

    blocks = {"derivative": block(system.updfcn, system.nstates, f"updfcn of {system.name}")}
    if system.outfcn is not None:
        blocks["outputs"] = block(system.outfcn, system.noutputs, f"outfcn of {system.name}")
    return blocks


def check_no_feedthrough(plant: Plant) -> None:
    """Refuse outputs of channels that depend on an input in the same moment: a sampled loop cannot close on them."""
    tape = Tape()
    kinds = (plant.states, plant.inputs, plant.disturbances, plant.parameters)
    x, u, w, p = (
        symbols(tape, names(prefix, len(quantities))) for prefix, quantities in zip("xuwp", kinds, strict=True)
    )
    measured = [tape.lift(value) for value in plant.outputs(tape.input("t"), x, u, w, p)]
    slopes = differentiate(measured, u)
    for channel in plant.channels:
        if depends(slopes[plant.index("measurements", channel.output)]):
            raise ValueError(
                f"output {channel.output!r} of {plant.name!r} follows an input without delay (D is not 0): add the "
                "sensor's or the actuator's lag to the system"
            )
