"""Simulated loops to hold others against: all signals between plant and controller, under held series of excitation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs import FuzzyController
from plants.core.analysis.closed_loop import Measured
from plants.core.names import identifier
from plants.excitation import Recorded
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.export.job import Job
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]

_DIRECT = (
    "delay", "output_delay", "jitter", "quantisation", "dropout", "command_dropout", "limits", "rate_limit",
    "dead_zone", "backlash",
)  # fmt: skip


def between(situation: Situation) -> list[str]:
    """Return what lies between plant and controller in a situation, beside noise: names of its settings."""
    plain = type(situation)()
    return [word for word in _DIRECT if getattr(situation, word) != getattr(plain, word)]


@dataclass(frozen=True, eq=False)
class LoopRun:
    """One simulated loop.

    Attributes
    ----------
    inputs : array [n_samples, n_inputs]
        Of the machine, references among them; measurements are those of the simulation.
    noise : array [n_samples, n_measured]
        What the sensors added to the measurements that the machine sees.
    disturbances : array [n_steps, n_w]
    outputs : array [n_samples, n_outputs]
        True measurements of the plant.
    """

    inputs: Array
    noise: Array
    disturbances: Array
    outputs: Array
    state: Array
    parameters: Array


def simulated(job: Job, situations: Sequence[Situation]) -> list[LoopRun | None]:
    """Return the loop in each situation, under a held series of its own excitation; None where it diverges."""
    if not situations:
        return []
    loop = _loop_of(job, situations)
    free = [_recorded(job, loop, number) for number in range(len(situations))]
    held = [_holding(job, *pair) for pair in zip(situations, free, strict=True)]
    loop = _loop_of(job, held)
    found = list[LoopRun | None]()
    for number, situation in enumerate(situations):
        again = _recorded(job, loop, number)
        found.append(_run_of(job, situation, again) if free[number]["alive"] and again["alive"] else None)
    return found


def _loop_of(job: Job, situations: Sequence[Situation]) -> ClosedLoop:
    return ClosedLoop(
        job.plant, FuzzyController(job.kb).frozen(), situations, job.step, integrator=job.integrator,
        measures=("iae",), observe=True,
    )  # fmt: skip


def _holding(job: Job, situation: Situation, recorded: dict[str, Any]) -> Situation:
    if not recorded["alive"]:  # nothing was recorded after it diverged
        return situation
    series = {
        q.name: Recorded.held(recorded["w"][:, k], job.step) for k, q in enumerate(job.plant.disturbances)
    }  # fmt: skip
    return replace(situation, excitation=series) if series else situation


def _run_of(job: Job, situation: Situation, recorded: dict[str, Any]) -> LoopRun:
    every, measured = slice(None, None, recorded["sample"]), [s.name for s in job.machine.inputs]
    outputs = [identifier(q.name) for q in job.plant.measurements]
    places = [outputs.index(name) for name in measured if name in recorded["seen"]]
    seen = np.stack([recorded["seen"][name] for name in measured if name in recorded["seen"]], axis=1)[every]
    rows = np.zeros((len(seen), len(measured)))
    rows[:, measured.index("authority")] = 1.0
    for k, channel in enumerate(job.plant.channels):
        rows[:, measured.index(identifier(f"r_{channel.output}"))] = recorded["r"][every, k]
    truth, looked_at = recorded["y"][every], _looked_at(job, situation, recorded)
    return LoopRun(
        rows, seen - looked_at[:, places], recorded["w"], truth,
        *(np.array(values) for values in job.plant.start(situation.initial, situation.parameters)),
    )  # fmt: skip


def _looked_at(job: Job, situation: Situation, recorded: dict[str, Any]) -> Array:
    """True measurements [n_samples, n_outputs] when the controller looks at them.

    That is before it commands anything, while the record is made after that: they differ where a measurement follows
    the plant's input at once, as an acceleration does.
    """
    plant, every = job.plant, recorded["sample"]
    truth = recorded["y"][::every].copy()
    columns = np.flatnonzero(Measured(plant).of_input)
    if len(columns):
        nominal = np.array([[q.nominal for q in plant.inputs]])
        u = np.concatenate([nominal, recorded["u"][every - 1 : -1 : every]])[: len(truth)]
        x, w = recorded["x"][::every], recorded["w"][::every]
        t = job.step * every * np.arange(len(truth))
        values = plant.outputs(t, tuple(x.T), tuple(u.T), tuple(w.T), plant.values("parameters", situation.parameters))
        for k in columns:
            truth[:, k] = values[k]
    return truth


def _recorded(job: Job, loop: ClosedLoop, number: int) -> dict[str, Any]:
    groups = {name: loop.design.rows.span(name) for name in ("r", "x", "u", "y", "y_rate", "y_true")}
    if job.plant.disturbances:
        groups["w"] = loop.design.rows.span("w")
    if loop.spec.controller.schedule.signals:
        groups["extra"] = loop.design.rows.span("extra")
    rows = [row for span in groups.values() for row in range(span.start, span.stop)]
    outcome = loop.run(np.empty((1, 0)), [number], threads=1, record=rows, keep=True)
    n = len(outcome.record) - 1
    taken, first = {}, 0
    for name, span in groups.items():
        taken[name] = outcome.record[:n, first : first + span.stop - span.start, 0]
        first += span.stop - span.start
    seen: dict[str, Array] = {}
    for i, channel in enumerate(job.plant.channels):
        seen[identifier(channel.output)] = taken["y"][:, i]
        if channel.rate is not None and loop.spec.measures_rate(i):
            seen[identifier(channel.rate)] = taken["y_rate"][:, i]
    for k, name in enumerate(loop.spec.controller.schedule.signals):
        seen[identifier(name)] = taken["extra"][:, k]
    return {
        "alive": int(outcome.steps[0]) >= n, "sample": loop.spec.timing.sample, "seen": seen, "r": taken["r"],
        "y": taken["y_true"], "x": taken["x"], "u": taken["u"], "w": taken.get("w", np.zeros((n, 0))),
    }  # fmt: skip
