"""python-control, both ways: a plant as its NonlinearIOSystem, and its systems as plants.

A system becomes blocks by its matrices where it has them, else by tracing functions of its own.

Source: S. Fuller et al., The Python Control Systems Library, 60th IEEE Conf. on Decision and Control (2021) 4875.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.adapters.optional import package
from plants.core.blocks import SlowPlantWarning, obstacle
from plants.core.plant import Plant
from plants.core.quantities import Channel, Quantity
from plants.core.tracing.numpy_number import as_array, as_number, as_numbers, point_by_point
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import depends, differentiate, names, symbols

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def to_control(plant: Plant, parameters: Mapping[str, float] | None = None) -> Any:
    """Return `plant` as a ``control.NonlinearIOSystem`` in continuous time.

    Parameters
    ----------
    plant : Plant
    parameters : mapping, optional
        Replace nominal values; they are the system's ``params`` as well, and can be changed there.

    Returns
    -------
    control.NonlinearIOSystem
        Its states are the plant's, its inputs the plant's inputs and then its disturbances, its outputs the
        measurements, all by name. The region of the model is not watched.

    Raises
    ------
    ValueError
        For what no system of rates can show: jumps at the end of steps, a step map of the plant's own, dead time.
    """
    parts = {
        "jumps at the end of a step (after_step)": plant.after_step,
        "a step map of its own (advance)": plant.advance,
        "dead time of its inputs (input_delay)": plant.input_delay,
    }
    found = [what for what, given in parts.items() if given is not None]
    if found:
        raise ValueError(f"plant {plant.name!r} has {found[0]}, which a NonlinearIOSystem cannot carry")
    names, n_u = [q.name for q in plant.parameters], len(plant.inputs)
    nominal = dict(zip(names, plant.values("parameters", parameters), strict=True))

    def arguments(t: Any, x: Any, u: Any, params: Mapping[str, float]) -> tuple[Any, ...]:
        given = np.atleast_1d(u)
        p = tuple(float(params.get(name, nominal[name])) for name in names)
        return float(t), tuple(map(float, x)), tuple(map(float, given[:n_u])), tuple(map(float, given[n_u:])), p

    def update(t: Any, x: Any, u: Any, params: Mapping[str, float]) -> np.ndarray:
        return np.array(plant.derivative(*arguments(t, x, u, params)), float)  # type: ignore[misc]

    def output(t: Any, x: Any, u: Any, params: Mapping[str, float]) -> np.ndarray:
        return np.array(plant.outputs(*arguments(t, x, u, params)), float)

    return package("control").nlsys(
        update, output, name=plant.name, params=nominal,
        states=_labels(plant.states), inputs=_labels((*plant.inputs, *plant.disturbances)),
        outputs=_labels(plant.measurements),
    )  # fmt: skip


def _labels(quantities: Sequence[Quantity]) -> list[str]:
    """Names as python-control takes them: it reads a dot as the mark between a system and its signal."""
    return [quantity.name.replace(".", "_") for quantity in quantities]


def from_control(
    system: Any,
    name: str | None = None,
    *,
    channels: Sequence[Channel] | None = None,
    initial: Sequence[float] | None = None,
    **more: Any,
) -> Plant:
    """Return a system of python-control as a plant.

    Parameters
    ----------
    system : control.StateSpace, TransferFunction or NonlinearIOSystem
        In continuous time, its outputs without direct feed-through. A linear one is compiled; of a nonlinear one
        ``updfcn`` and ``outfcn`` are, where they compute without deciding: NumPy's arithmetic and elementary functions.
    name : str, optional
        Left out: the system's.
    channels : sequence of Channel, optional
        Left out: output i is controlled by input i, without limits.
    initial : sequence of float [n_x], optional
    **more
        Anything else that a :class:`plants.Plant` declares, as `entropy_rate`, `situations` or `step`.

    Returns
    -------
    Plant
        Numeric ``params`` of a nonlinear system are its parameters.

    Raises
    ------
    ValueError
        For a system in discrete time, or a controlled output that an input reaches directly.

    Warns
    -----
    SlowPlantWarning
        If the system's functions cannot be traced, with the line that prevents it. The plant then moves step by step
        in Python.
    """
    control = package("control")
    if isinstance(system, control.TransferFunction):
        system = control.ss(system)
    if system.isdtime(strict=True):
        raise ValueError(
            f"{system.name}: a plant of continuous time is wanted, this one has samples of {system.dt} s; give the "
            "system before it was sampled, or declare its step map as Plant.advance"
        )
    blocks = linear(system) if isinstance(system, control.StateSpace) else nonlinear(system)
    parameters = tuple(Quantity(key, "", float(value)) for key, value in numbers(system).items())
    start = [0.0] * system.nstates if initial is None else initial
    plant = Plant(
        name=name or system.name, **blocks, parameters=parameters,
        states=tuple(Quantity(label, "", float(x)) for label, x in zip(system.state_labels, start, strict=True)),
        inputs=tuple(Quantity(label, "") for label in system.input_labels),
        measurements=tuple(Quantity(label, "") for label in system.output_labels),
        channels=tuple(channels) if channels is not None else _paired(system),
        **{"text": f"From python-control's system {system.name!r}.", **more},
    )  # fmt: skip
    found = obstacle(plant)
    if found is not None:
        warnings.warn(f"{found}; it is simulated slowly", SlowPlantWarning, stacklevel=2)
    else:
        check_no_feedthrough(plant)
    return plant


def _paired(system: Any) -> tuple[Channel, ...]:
    if system.ninputs != system.noutputs:
        raise ValueError(
            f"{system.name} has {system.ninputs} inputs and {system.noutputs} outputs: say with "
            "channels=(plants.Channel(output=...), ...) and allocate= which output is controlled by what"
        )
    return tuple(Channel(output=label, collocated=False) for label in system.output_labels)
