"""Energy and powers of a plant along a recorded run, integrated over each step to the accuracy of its integrator.

The state in the middle of a step follows from the states and rates at its ends (cubic Hermite interpolation, order 4),
so Simpson's rule needs no second simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from plants import Plant
    from plants.core.trajectory import Trajectory
    from sscq.loop_spec import LoopSpec
    from sscq.situation import Situation

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Powers:
    """Energy [n + 1], and what the plant dissipated and took in from its disturbances in each step [n], J."""

    energy: Array
    dissipated: Array
    disturbed: Array


def powers(plant: Plant, spec: LoopSpec, run: Trajectory, situation: Situation) -> Powers:
    """Return energy and powers of a run whose inputs are held over each step.

    Raises
    ------
    ValueError
        If a command's power is not command times rate: then the plant is not collocated, whatever it declares.
    """
    p = plant.values("parameters", situation.parameters)
    x, u = run.states, run.group("inputs")[:-1]
    w = run.group("disturbances") if plant.disturbances else np.zeros((len(x), 0))
    t, h = run.time, np.diff(run.time)
    half = 0.5 * (t[:-1] + t[1:])
    drift = _drift(plant, situation)
    at = {
        "start": (t[:-1], x[:-1], u, w[:-1]),
        "end": (t[1:], x[1:], u, w[:-1] + drift(t[:-1], t[1:])),
    }
    rates = {key: _columns(plant.derivative, where, p, x.shape[1]) for key, where in at.items()}
    _require_moving(situation, x, h[-1] * rates["end"][-1])
    middle = 0.5 * (x[:-1] + x[1:]) + h[:, None] / 8.0 * (rates["start"] - rates["end"])
    at["middle"] = (half, middle, u, w[:-1] + drift(t[:-1], half))
    places = [spec.output_index(str(c.rate)) for c in plant.channels]

    def of_inputs(where: Any) -> Array:
        return np.asarray((_columns(plant.outputs, where, p, len(plant.measurements))[:, places] * u).sum(axis=1))

    supplied = {key: _value(plant.supplied_power, where, p) for key, where in at.items()}
    commanded = {key: of_inputs(where) for key, where in at.items()}
    _require_collocated(plant, at["start"], p, supplied["start"], commanded["start"])
    return Powers(
        energy=_value(plant.energy, (t, x, np.concatenate([u, u[-1:]]), w), p),
        dissipated=_simpson(h, {key: _value(plant.entropy_rate, where, p) for key, where in at.items()}),
        disturbed=_simpson(h, {key: supplied[key] - commanded[key] for key in at}),
    )


def _drift(plant: Plant, situation: Situation) -> Callable[[Array, Array], Array]:
    """Return how far the disturbances [n, n_w] move from one time [n] to another: their smooth parts do."""
    smooth = [
        [part for part in signal.parts if not (part.jumps or part.random)] for signal in situation.excitations(plant)
    ]

    def at(t: Array) -> Array:
        sums = [sum((part.value(t, part.settings(1.0), 0.0) for part in parts), 0.0 * t) for parts in smooth]
        return np.stack(sums, axis=1) if sums else np.zeros((len(t), 0))

    return lambda before, after: at(after) - at(before)


def _require_moving(situation: Situation, x: Array, move: Array) -> None:
    """Refuse a run that stands still although its rates are not 0: it diverged, and was left where it was."""
    if not np.isfinite(x).all() or ((x[-1] == x[-2]) & (np.abs(move) > 1e-9 * (1.0 + np.abs(x[-1])))).any():
        raise ValueError(f"situation {situation.name!r} diverges, so there is no account of its energy")


def _require_collocated(plant: Plant, where: Any, p: Any, supplied: Array, commanded: Array) -> None:
    t, x, u, w = where
    without = _value(plant.supplied_power, (t, x, 0.0 * u, w), p)
    size = np.abs(supplied).max(initial=1.0)
    if np.abs(supplied - without - commanded).max(initial=0.0) > 1e-9 * size:
        raise ValueError(
            f"plant {plant.name!r} declares collocated channels, but the power of its commands is not command times "
            "rate, so the energy-Lyapunov identity does not hold; declare collocated=False"
        )


def _simpson(h: Array, values: dict[str, Array]) -> Array:
    return np.asarray(h / 6.0 * (values["start"] + 4.0 * values["middle"] + values["end"]))


def _value(block: Any, where: Any, p: Any) -> Array:
    t, x, u, w = where
    return np.array(np.broadcast_to(block(t, tuple(x.T), tuple(u.T), tuple(w.T), p), t.shape), float)


def _columns(block: Any, where: Any, p: Any, count: int) -> Array:
    t, x, u, w = where
    values = block(t, tuple(x.T), tuple(u.T), tuple(w.T), p)
    return np.stack([np.broadcast_to(value, t.shape) for value in tuple(values)[:count]], axis=1)
