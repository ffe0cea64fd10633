"""The laws of a recorded run, once more in plain Python: what they stored and demanded, and whether it was the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.core.trajectory import Trajectory
    from sscq.loop_spec import LoopSpec

    Array = NDArray[np.float64]


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
