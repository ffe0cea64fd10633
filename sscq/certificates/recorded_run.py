"""A recorded run read again: energy and powers of the plant in each step, and what the laws stored and demanded.

Powers are integrated over each step to the accuracy of its integrator. The state in the middle of a step follows from
the states and rates at its ends (cubic Hermite interpolation, order 4), so Simpson's rule needs no second simulation.
The laws are run once more in plain Python, which also tells whether they demand the same as recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from plants import Plant
    from plants.core.motion.trajectory import Trajectory
    from sscq.loop.spec import LoopSpec
    from sscq.situations.situation import Situation

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


@dataclass(frozen=True, eq=False)
class Replay:
    """Of each channel at each step [n + 1, n_channels], held between samples.

    Attributes
    ----------
    kp, kd : gains in force
    integral : stored integral action
    demand : kp e + integral + kd e', before limits
    command : what the law gave
    mismatch : float
        Largest difference between `command` and the recorded one, relative to 1 and its size.
    """

    kp: Array
    kd: Array
    integral: Array
    demand: Array
    command: Array
    mismatch: float


def replay(spec: LoopSpec, run: Trajectory, q: Array, rate: Array) -> Replay:
    """Run the laws on recorded outputs `q` and rates [n + 1, n_channels], which they saw without error."""
    gains, r = run.group("gains"), run.group("reference")
    parts = [_channel(spec, i, gains[:, spec.gains_of(i)], r[:, i], q[:, i], rate[:, i]) for i in range(len(spec.laws))]
    held = np.arange(len(q)) // spec.timing.sample
    integral, demand, command = (np.stack([part[k] for part in parts], axis=1)[held] for k in range(3))
    recorded = run.group("command")[: len(q) - 1]
    size = 1.0 + np.abs(recorded).max(initial=0.0)
    firsts = [spec.gains_of(i).start for i in range(len(spec.laws))]
    places = [[f + law.gain_names.index(g) for f, law in zip(firsts, spec.laws, strict=True)] for g in ("kp", "kd")]
    return Replay(
        kp=gains[:, places[0]],
        kd=gains[:, places[1]],
        integral=integral,
        demand=demand,
        command=command,
        mismatch=float(np.abs(command[:-1] - recorded).max(initial=0.0) / size),
    )


def _channel(spec: LoopSpec, i: int, gains: Array, r: Array, q: Array, rate: Array) -> list[list[float]]:
    """Integral, demand and command of one channel at every sample."""
    law: Any = spec.laws[i]
    every = slice(None, None, spec.timing.sample)
    rates = rate[every] if spec.measures_rate(i) else np.diff(q[every], prepend=q[0]) / spec.timing.sample_time
    place, c = law.state_names.index("integral"), law.initial()
    columns: list[list[float]] = [[], [], []]
    samples = zip(gains[every].tolist(), r[every].tolist(), q[every].tolist(), rates.tolist(), strict=True)
    for g, reference, y, y_rate in samples:
        e_rate = law.error_rate(0.0, y_rate, c)  # the reference stands still: the same on error and on measurement
        command, new = law.law(0.0, reference, y, 0.0, y_rate, c, g)
        demand = g[0] * (reference - y) + c[place] + g[2] * e_rate
        for column, value in zip(columns, (c[place], demand, command), strict=True):
            column.append(float(value))
        c = new
    return columns
