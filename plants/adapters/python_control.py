"""python-control, both ways: a plant as its NonlinearIOSystem, and its systems as plants.

Source: S. Fuller et al., The Python Control Systems Library, 60th IEEE Conf. on Decision and Control (2021) 4875.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.adapters.control_blocks import check_no_feedthrough, linear, nonlinear, numbers
from plants.adapters.optional import package
from plants.core.plant import Channel, Plant, Quantity
from plants.core.traceable import SlowPlantWarning, obstacle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
