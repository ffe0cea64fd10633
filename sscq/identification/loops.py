"""Loops of identified plants in a scenario: exact steps of the plants, the project's own laws, all side by side.

    signals = ScenarioSignals(step, set_point, load, noise_seed=0)
    quality = run_loops(ensemble.spread(), 1.0, law, gains, signals)      # gains [n_candidates, n_gains]
    quality.error                                                         # [n_candidates, n_members]

Everything is a deviation from where the loop rests: at the origin of the log, with the input in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
from plants.core.kernel.kernel import ALIVE, KernelDesign, build
from plants.core.kernel.lanes import LaneLoop, Uniform
from plants.core.kernel.run import RolloutJob, grid, run
from plants.identification.row import Row, column, curved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers.pid import PID
    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.lanes import Lane
    from sscq.identification.ensemble import PlantMembers

    Array = NDArray[np.float64]

_PLANT = ("x_x", "x_y", "y_x", "y_y", "x_v", "y_v", "x_before", "y_before", "x_after", "y_after")
_OF_MEMBER = (*_PLANT, "curve", "noise", "sense", "lost_beyond")
_SUMS = ("error", "travel")
_LOST = 1e3  # moves of the set point, or of what a load of that size would do: no loop comes back from there


@dataclass(frozen=True, eq=False)
class ScenarioSignals:
    """What happens to the loops, row by row.

    Attributes
    ----------
    step : float
        Sample time of the law and distance of the rows [s].
    set_point, load : array [n]
        Deviations of the set point, and loads at the plant's input.
    noise_seed : int or None
        Of the sensor noise, which is the same draw for all loops; None: no noise.
    """

    step: float
    set_point: Array
    load: Array
    noise_seed: int | None = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.set_point)

    @property
    def noise(self) -> Array:
        """Sensor noise of unit deviation [n]."""
        if self.noise_seed is None:
            return np.zeros(len(self))
        return np.random.default_rng([self.noise_seed, len(self)]).standard_normal(len(self))


@dataclass(frozen=True, eq=False)
class LoopQualities:
    """Sums over a scenario, of candidates and members [n_candidates, n_members]; a lost loop has infinite ones.

    Attributes
    ----------
    error : array
        Integral of the magnitude of the control error, without noise [y s].
    travel : array
        Sum of the magnitudes of the output's moves [u].
    """

    error: Array
    travel: Array

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Whether a loop ran away."""
        return ~np.isfinite(self.error)


def run_loops(
    members: Sequence[PlantMembers],
    sense: float,
    law: PID,
    gains: Array,
    signals: ScenarioSignals,
    threads: int | None = None,
) -> LoopQualities:
    """Run every candidate on every member.

    Parameters
    ----------
    members : sequence of PlantMembers
    sense : float
        Of the plants; the law's action has to fit.
    law : PID
        With the sample time of the signals; its limits are deviations.
    gains : array [n_candidates, n_gains]
    signals : ScenarioSignals
    threads : int, optional
        None: all processors. The result does not depend on it.
    """
    gains = np.atleast_2d(np.asarray(gains, float))
    kernel = _kernel(law)
    rows = [Row.of(group.structure, group.parameters, signals.step) for group in members]
    late = np.concatenate([row.rows for row in rows])
    depth = int(late.max()) + 2
    job = RolloutJob(
        start=_starts(kernel, members, rows, sense, signals, law, depth),
        theta=gains,
        codes=late[:, None],
        keys=np.zeros((1, 1, 2), np.int64),
        series=np.array([signals.set_point, signals.load, signals.noise]),
        n_steps=len(signals),
        step=signals.step,
        integers={"depth": depth},
    )
    found, _, _ = run(kernel, job, grid(len(late), len(gains), kernel.lanes), threads=threads)
    table = found.reshape(len(late), len(gains), -1).transpose(2, 1, 0)
    lost = ~(table[0] > 0.0) | ~np.isfinite(table).all(axis=0)
    return LoopQualities(*(np.where(lost, np.inf, one) for one in table[1:]))


def _starts(
    kernel: Kernel,
    members: Sequence[PlantMembers],
    rows: Sequence[Row],
    sense: float,
    signals: ScenarioSignals,
    law: PID,
    depth: int,
) -> Array:
    """Initial workspaces [n_members, rows and ring]."""
    size = max(float(np.abs(signals.set_point).max()), float(np.finfo(float).tiny))
    parts = []
    for group, row in zip(members, rows, strict=True):
        curve, noise = (column(group.structure, group.parameters, name) for name in ("curve", "noise"))
        reach = size + np.abs(signals.load).max() * np.abs(group.parameters[:, 0])
        values = (
            *(row.whole.states[:, i, j] for i in range(2) for j in range(2)),
            *row.whole.input.T,
            *row.before.T,
            *row.after.T,
            curve,
            noise,
            np.full(len(group), sense),
            _LOST * reach,
        )
        parts.append(np.stack(values, axis=1))
    starts = np.zeros((sum(map(len, members)), kernel.rows.count + depth))
    starts[:, kernel.rows.span("member")] = np.concatenate(parts)
    starts[:, kernel.rows.span(ALIVE)] = 1.0
    starts[:, kernel.rows.span("law")] = law.initial()
    return starts


def step_answers(group: PlantMembers, n: int, step: float) -> Array:
    """Return outputs [n_members, n], rows `step` seconds apart, after a step of the input by 1; without the curve."""
    row = Row.of(group.structure, group.parameters, step)
    state, found = np.zeros((len(group), 2)), np.zeros((len(group), n))
    for k in range(1, n):
        acting = [(k - 1 >= late).astype(float)[:, None] for late in (row.rows + 1, row.rows)]
        state = np.einsum("nij,nj->ni", row.whole.states, state) + row.before * acting[0] + row.after * acting[1]
        found[:, k] = state[:, 1]
    return found


@dataclass(frozen=True, eq=False)
class LoopResponses:
    """Signals of one candidate on every member, row by row, without noise in the output [n_members, n].

    Attributes
    ----------
    output, command : array
        Deviations from where the loop rests.
    """

    output: Array
    command: Array


def respond(
    members: Sequence[PlantMembers], sense: float, law: PID, gains: Array, signals: ScenarioSignals
) -> LoopResponses:
    """Return the signals of one candidate [n_gains] on every member; in NumPy, for pictures and as a second opinion."""
    found = [_responses(group, sense, law, np.asarray(gains, float), signals) for group in members]
    return LoopResponses(*(np.concatenate(several) for several in zip(*found, strict=True)))


def _responses(
    group: PlantMembers, sense: float, law: PID, gains: Array, signals: ScenarioSignals
) -> tuple[Array, Array]:
    row, n, h = Row.of(group.structure, group.parameters, signals.step), len(signals), signals.step
    curve, noise = (column(group.structure, group.parameters, name) for name in ("curve", "noise"))
    every, unit = np.arange(len(group)), signals.noise
    output, command, acting = np.zeros((3, len(group), n))
    state, states = np.zeros((len(group), 2)), tuple(np.full(len(group), value) for value in law.initial())
    before = np.zeros(len(group))
    for k in range(n):
        r = signals.set_point[k]
        measured = state[:, 1] + noise * unit[k]
        rates = (r - signals.set_point[max(k - 1, 0)]) / h, (measured - before) / h if k else np.zeros(len(group))
        output[:, k] = state[:, 1]
        command[:, k], states = law.law(k * h, r + 0.0 * measured, measured, *rates, states, tuple(gains))
        acting[:, k], before = sense * curved(command[:, k], curve), measured
        late = [np.where(k >= lag, acting[every, np.maximum(k - lag, 0)], 0.0) for lag in (row.rows + 1, row.rows)]
        state = np.einsum("nij,nj->ni", row.whole.states, state) + row.whole.input * (sense * signals.load[k])
        state += row.before * late[0][:, None] + row.after * late[1][:, None]
    return output, command


# -------------------------------------------------------------------------------------------------------------- kernel


@lru_cache(maxsize=16)
def _kernel(law: PID) -> Kernel:
    """The compiled loops of a law."""
    design = KernelDesign("loops of identified plants", results=(ALIVE, *_SUMS), integers=["depth"])
    rows = design.rows
    for name in (ALIVE, "x", "y", "before", "after", "v", "measured_before", "u_before", *_SUMS):
        rows.add(name)
    rows.add("member", len(_OF_MEMBER))
    rows.add("law", law.n_states)
    rows.add("theta", len(law.gain_names))
    design.kept += ["v", "before", "after"]
    given = (
        "set_point = series[0, step]",
        "set_point_before = series[0, max(step - 1, 0)]",
        "load = series[1, step]",
        "unit_noise = series[2, step]",
    )
    design.before += [Uniform(given), LaneLoop("law", (partial(_law, law),))]
    # The ring of past inputs stands behind the kernel's own rows: its depth is that of the latest plant.
    first, v = "start.shape[1] - depth", rows.first["v"]
    ring = (
        f"for lane in range({design.lanes}):",
        "    late = codes[lane_start[chunk, lane], 0]",
        f"    S[{first} + step % depth, lane] = S[{v}, lane]",
        f"    S[{rows.first['after']}, lane] = S[{first} + (step - late) % depth, lane]",
        f"    S[{rows.first['before']}, lane] = S[{first} + (step - late - 1) % depth, lane]",
    )
    design.before += [Uniform(ring), LaneLoop("plant", (_plant,))]
    return build(design)


def _law(law: PID, lane: Lane) -> None:
    """Measure, let the law answer, count."""
    given = dict(zip(_OF_MEMBER, lane["member"], strict=True))
    r, h, y = lane.uniform("set_point"), lane.uniform("h"), lane.one("y")
    measured = y + given["noise"] * lane.uniform("unit_noise")
    # No row before the first: the rates begin at zero.
    started = lane.uniform("t")
    rates = ((r - lane.uniform("set_point_before")) / h, (measured - lane.one("measured_before")) / h)
    y_rate = elementary.where(started, rates[1], 0.0)
    command, states = law.law(lane.uniform("t"), r, measured, rates[0], y_rate, lane["law"], lane["theta"])
    alive, error = lane.one(ALIVE), r - y
    size = elementary.abs(error)
    lost = size - given["lost_beyond"]
    here = elementary.where(lost, 0.0, alive)
    lane[ALIVE] = (here,)
    lane["law"] = states
    lane["measured_before"] = (measured,)
    lane["error"] = (lane.one("error") + here * size * h,)
    lane["travel"] = (lane.one("travel") + here * elementary.abs(command - lane.one("u_before")),)
    lane["u_before"] = (command,)
    lane["v"] = (here * given["sense"] * curved(command, given["curve"]),)


def _plant(lane: Lane) -> None:
    """Go on by a row; what is lost stands still."""
    g: dict[str, Any] = dict(zip(_OF_MEMBER, lane["member"], strict=True))
    x, y, alive, load = lane.one("x"), lane.one("y"), lane.one(ALIVE), lane.uniform("load")
    v = g["sense"] * load
    for name in ("x", "y"):
        free = g[f"{name}_x"] * x + g[f"{name}_y"] * y + g[f"{name}_v"] * v
        moved = free + g[f"{name}_before"] * lane.one("before") + g[f"{name}_after"] * lane.one("after")
        lane[name] = (elementary.where(alive, moved, 0.0),)
