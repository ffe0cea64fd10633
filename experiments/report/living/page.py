"""A living page: plant and controller simulated in the browser while the reader drags gains, authority, situation.

One file without a network. It holds the two machines as JavaScript, the situations' signals as they were in the
compiled simulation, and that simulation's answers; in every situation the page says how far its own run is from them.
Node proves it on the page's own scripts.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
from dataclasses import replace
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.drawing.html import Html, element, head_line, whole_page
from flcs.export import targets
from flcs.export.loop_runs import LoopRun, between, simulated
from flcs.export.machine import Machine, Slots, part, program_name
from flcs.export.plant import plant_machine
from flcs.export.proof import OK, Proof, failure_text, output_of, unchecked, version
from flcs.export.scheduler import is_scheduler
from flcs.export.scripts import javascript
from flcs.export.targets import Target
from plants.core.analysis.closed_loop import Measured
from plants.core.blocks import called
from plants.core.names import identifier
from plants.core.tracing.calls import refusal
from sscq.loop.spec import LoopSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.export.job import Job
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


def draggable(machine: Machine) -> Machine:
    """Return a controller whose gains have factors: slots ``scale_`` before a gain's name, 1 at first.

    With factors of 1 not a bit differs.
    """
    gains = gains_of(machine)
    memory = dict(machine.memory) | {f"scale_{gain}": 1.0 for gain in gains}
    tick = next(p.every for p in machine.parts if p.name == "schedule")

    def drag(m: Slots) -> None:
        for gain in gains:
            m[f"gain_{gain}"] = m[f"gain_{gain}"] * m[f"scale_{gain}"]

    dragged = part("drag", drag, memory, tick)
    place = 1 + next(k for k, p in enumerate(machine.parts) if p.name == "schedule")
    parts = (*machine.parts[:place], dragged, *machine.parts[place:])
    return replace(machine, memory=memory, parts=parts)


def page(job: Job) -> str:
    """Return the page of an export; empty where none of its situations can be run in one."""
    machines = javascript.text(draggable(job.machine)) + "\n" + javascript.text(_plant(job))
    found, left_out, spans = scenes(job)
    if not found:
        return ""
    data = {"about": {**about(job), "spans": spans}, "scenes": found, "left_out": left_out}
    scripts = {"machines": machines, "loop": _own("loop.js"), "data": f"const DATA = {_json(data)};"}
    scripts["page"] = _own("living.js")
    plant = job.plant.name
    body = (
        head_line("Living loop", plant),
        element("main", id="living"),
        *(element("script", _inside(text), id=f"script-{name}") for name, text in scripts.items()),
    )
    return whole_page(f"{plant}: living loop", body, element("style", Html(_own("living.css"))))


def _plant(job: Job) -> Machine:
    return plant_machine(job.plant, job.step, job.integrator, commands=True, dead_time=False, name=plant_name(job))


def _own(name: str) -> str:
    return (resources("experiments.report.living") / name).read_text(encoding="utf-8")


def _inside(script: str) -> Html:
    """A script as it may stand in a page: nothing in it ends its element."""
    if "</script" in script.lower():
        raise ValueError("a text in the machines holds </script, which would end the page's script")
    return Html(script)


def _json(data: Any) -> str:
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c")


LARGEST = 8_000_000
"""Characters of signals in a page; situations beyond are left out, and the page says so."""
_ROUNDING = 1e-12


def gains_of(machine: Machine) -> list[str]:
    """Return the names of the gains that a controller schedules."""
    return [signal.name.removeprefix("gain_") for signal in machine.outputs if signal.name.startswith("gain_")]


def plant_name(job: Job) -> str:
    """Return the name of the plant's class in the page."""
    return program_name(f"{job.plant.name}_plant")


def _shown_unit(unit: str) -> str:
    """Nothing for what has no dimension."""
    return "" if unit == "1" else unit


def about(job: Job) -> dict[str, Any]:
    """Return what the page needs to know: names of machines, slots and signals, units, rates."""
    plant, machine = job.plant, job.machine
    measurements = {identifier(q.name): _shown_unit(q.unit) for q in plant.measurements}
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
        "parameterUnits": [_shown_unit(q.unit) for q in plant.parameters],
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


BOUND = 1e-9
"""Share of a measurement's range, over a whole closed loop: sums are rounded twice here and once there."""


def files(job: Job) -> dict[str, str]:
    """Return the page by its file name; nothing where no situation can be run in one, or a scheduler has no loop."""
    text = "" if is_scheduler(job.machine) or called(job.plant) else page(job)
    return {f"{job.machine.name}.html": text} if text else {}


def prove(job: Job, folder: Path) -> Proof:
    """Run the loop that is written in the page in every situation of it, and compare the plant's measurements."""
    if is_scheduler(job.machine):
        return unchecked("html", "no page: it shows a closed loop, and the scheduler alone has none")
    for one in called(job.plant):
        return unchecked("html", f"no page: {refusal(one, 'a plant in a page')}")
    if not (folder / f"{job.machine.name}.html").exists():
        return unchecked("html", "no page: in every situation more lies between plant and controller than it can show")
    node = shutil.which("node")
    if node is None:
        return unchecked("html", "Node is not installed")
    checker = f"Node {version(node)}"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.js"
        driver.write_text(_DRIVER, encoding="utf-8")
        try:
            told = json.loads(output_of([node, str(driver), str(folder / f"{job.machine.name}.html")]))
        except subprocess.SubprocessError as error:
            return Proof("html", checker, "failed", failure_text(error), BOUND)
    errors: dict[str, float] = {}
    for one in told["errors"].values():
        for signal, largest in one.items():
            errors[signal] = max(errors.get(signal, 0.0), float("inf") if largest is None else largest)
    good = bool(errors) and max(errors.values()) <= BOUND
    worst = max(errors, key=lambda signal: errors[signal], default="")
    reason = "" if good else f"{worst} differs by {errors.get(worst, 0.0):.3g} of its range; allowed are {BOUND:g}"
    shown = f"html/{job.machine.name}.html"
    numbers = {"situations": list(told["errors"]), "left_out": told["left_out"], "page": shown}
    return Proof("html", checker, OK if good else "failed", reason, BOUND, told["samples"], errors, numbers)


_DRIVER = """"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
for (const part of ["machines", "loop", "data"]) {
  vm.runInThisContext(page.split(`<script id="script-${part}">`)[1].split("</script>")[0], { filename: part });
}
process.stdout.write(vm.runInThisContext(`(() => {
  const { about } = DATA, errors = {};
  let samples = 0;
  for (const packed of DATA.scenes) {
    const scene = unpacked(packed);
    const run = closedLoop(globalThis[about.plant], globalThis[about.controller], about, scene);
    errors[scene.name] = agreement(about, scene, run);
    samples += scene.samples;
  }
  return JSON.stringify({ errors, samples, left_out: DATA.left_out });
})()`));
"""

PAGE = Target("html", "A living page: the loop in a browser", files, prove)
TARGETS: dict[str, Target] = {
    one.name: one
    for other in targets.TARGETS.values()
    for one in ((other, PAGE) if other.name == "python" else (other,))
}
"""All that can be written, by name: the targets of :mod:`flcs.export.targets`, and this page among them."""
