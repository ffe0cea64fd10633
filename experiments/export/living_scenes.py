"""What a living page knows: names of slots and signals, and the situations with their signals."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.export.loop_runs import between, simulated
from experiments.export.machine import identifier
from plants.core.loop_signals import Measured
from sscq.loop_spec import LoopSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.export.job import Job
    from experiments.export.loop_runs import LoopRun
    from experiments.export.machine import Machine
    from sscq.situation import Situation

    Array = NDArray[np.float64]

LARGEST = 8_000_000
"""Characters of signals in a page; situations beyond are left out, and the page says so."""
_ROUNDING = 1e-12


def gains_of(machine: Machine) -> list[str]:
    """Return the names of the gains that a controller schedules."""
    return [signal.name.removeprefix("gain_") for signal in machine.outputs if signal.name.startswith("gain_")]


def plant_name(job: Job) -> str:
    """Return the name of the plant's class in the page."""
    return f"{identifier(job.plant.name)}_plant"


def about(job: Job) -> dict[str, Any]:
    """Return what the page needs to know: names of machines, slots and signals, units, rates."""
    plant, machine = job.plant, job.machine
    measurements = {identifier(q.name): q.unit for q in plant.measurements}
    given = {signal.name: signal for signal in machine.inputs}
    return {
        "plant": plant_name(job), "controller": machine.name, "text": plant.text,
        "sampleTime": machine.sample_time, "steps": job.sub,
        "outputs": [identifier(c.output) for c in plant.channels],
        "scales": [c.scale for c in plant.channels],
        "measurements": list(measurements), "units": measurements,
        "compared": [identifier(plant.measurements[k].name) for k in compared(job)],
        "seen": [name for name in given if name in measurements],
        "gains": gains_of(machine),
        "limits": {identifier(c.output): [_finite(c.low), _finite(c.high)] for c in plant.channels},
        "inputs": [f"u_{identifier(q.name)}" for q in plant.inputs],
        "inputRest": [q.nominal for q in plant.inputs],
        "deadTime": None if plant.input_delay is None else f"p_{identifier(plant.input_delay)}",
        "states": [f"x_{identifier(q.name)}" for q in plant.states],
        "parameters": [f"p_{identifier(q.name)}" for q in plant.parameters],
        "parameterUnits": [q.unit for q in plant.parameters],
        "disturbances": [f"w_{identifier(q.name)}" for q in plant.disturbances],
        "rest": [q.rest for q in plant.disturbances],
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def scenes(job: Job) -> tuple[list[dict[str, Any]], dict[str, str], list[float]]:
    """Return what a page can run.

    Returns
    -------
    scenes : list of dict
        Situations with their signals.
    left_out : dict
        Why, by the name of each other situation.
    spans : list of float
        Range of each compared measurement over all scenes; 1 where it moved by no more than rounding.
    """
    found, left_out, size = list[dict[str, Any]](), dict[str, str](), 0
    runs: list[Array] = []
    reasons = {situation.name: _reason(situation) for situation in job.situations}
    able = [situation for situation in job.situations if not reasons[situation.name]]
    simulations = dict(zip((situation.name for situation in able), simulated(job, able), strict=True))
    for situation in job.situations:
        run = simulations.get(situation.name)
        if run is None:
            left_out[situation.name] = reasons[situation.name] or "it diverges"
            continue
        scene = _scene(job, situation, run)
        long = len(json.dumps(scene))
        if found and size + long > LARGEST:
            left_out[situation.name] = "it would make the page too large"
            continue
        size += long
        found.append(scene)
        runs.append(run.outputs[:, compared(job)])
    return found, left_out, _spans(np.concatenate(runs)).tolist() if runs else []


def compared(job: Job) -> list[int]:
    """Return places of measurements that the controller or a channel has and that follow no input at once."""
    seen = {signal.name for signal in job.machine.inputs} | {identifier(c.output) for c in job.plant.channels}
    by_input = Measured(job.plant).of_input
    return [k for k, q in enumerate(job.plant.measurements) if identifier(q.name) in seen and not by_input[k]]


def _reason(situation: Situation) -> str:
    """Why a page cannot run a situation; empty where it can."""
    words = [word.replace("_", " ") for word in between(situation) if word != "delay"]
    return f"{words[0]} between plant and controller" if words else ""


def _spans(values: Array) -> Array:
    spans = np.ptp(values, axis=0)
    moved = spans > _ROUNDING * np.maximum(1.0, np.abs(values).max(axis=0))
    return np.where(moved, spans, 1.0)


def _scene(job: Job, situation: Situation, run: LoopRun) -> dict[str, Any]:
    from flcs import FuzzyController

    names = [signal.name for signal in job.machine.inputs]
    references = run.inputs[:, [names.index(identifier(f"r_{c.output}")) for c in job.plant.channels]]
    delay = LoopSpec(job.plant, FuzzyController(job.kb).frozen(), (situation,), job.step).delays[0]
    return {
        "name": situation.name, "samples": len(run.inputs), "delay": [delay.input_steps, delay.input_part],
        "state": run.state.tolist(), "parameters": run.parameters.tolist(),
        "references": _packed(references), "disturbances": _packed(run.disturbances), "noise": _packed(run.noise),
        "outputs": _packed(run.outputs[:, compared(job)]),
    }  # fmt: skip


def _packed(columns: Array) -> list[float | str]:
    """Columns of a series: a number where it never changes, else its doubles in base 64."""
    found: list[float | str] = []
    for column in np.asarray(columns, dtype="<f8").T:
        if (column == column[0]).all():
            found.append(float(column[0]))
        else:
            found.append(base64.b64encode(np.ascontiguousarray(column).tobytes()).decode())
    return found
