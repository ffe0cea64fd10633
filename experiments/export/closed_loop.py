"""The loop closed with an exported controller: plant and integrator in C as well, against the compiled simulation.

The plant's excitation is recorded step by step and then given to both as a held series, so that both solve the same
equations; sensor noise is the simulation's. Situations in which more lies between plant and controller (dead times,
converters, lost packets, slow actuators) are left out, and so are those in which the loop diverges.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.export.machine import identifier
from plants.core.integrators import INTEGRATORS
from plants.core.loop_signals import Measured
from plants.core.printers import c
from plants.core.trace import Shape, names, trace
from plants.excitation import Recorded
from sscq.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from experiments.export.job import Job
    from plants import Plant
    from sscq.situation import Situation

    Array = NDArray[np.float64]

_DIRECT = (
    "delay", "output_delay", "jitter", "quantisation", "dropout", "command_dropout", "limits", "rate_limit",
    "dead_zone", "backlash",
)  # fmt: skip
_SECONDS = 600
_ROUNDING = 1e-12  # relative: less is no motion
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off")


@dataclass(frozen=True)
class Closed:
    """Largest differences of the closed loop's measurements, as shares of their ranges, by situation."""

    errors: dict[str, float]
    left_out: dict[str, str]

    @property
    def largest(self) -> float:
        """Largest of all."""
        return max(self.errors.values(), default=float("nan"))


def closed(job: Job, folder: Path) -> Closed:
    """Close the loop in each situation with the C export in `folder`, double precision.

    Raises
    ------
    subprocess.SubprocessError
        If something does not compile or run.
    """
    errors, left_out = {}, {}
    with tempfile.TemporaryDirectory() as name:
        program = _compiled(job, folder, Path(name))
        # What follows the input at once is looked at before the sample's command here, after it there.
        behind = [not by_input for by_input in Measured(job.plant).of_input]
        reasons = {situation.name: _indirect(job.plant, situation) for situation in job.situations}
        direct = [situation for situation in job.situations if not reasons[situation.name]]
        runs = dict(zip((situation.name for situation in direct), simulated(job, direct), strict=True))
        span = _spans([run.outputs for run in runs.values() if run is not None])
        for situation in job.situations:
            run = runs.get(situation.name)
            if run is None:
                left_out[situation.name] = reasons[situation.name] or "the simulated loop diverges"
                continue
            difference = np.abs(_run(program, job, run) - run.outputs) / span
            errors[situation.name] = float(difference[:, behind].max())
    return Closed(errors, left_out)


def _spans(outputs: Sequence[Array]) -> Array | float:
    """Ranges of the measurements [n_outputs] over all situations; 1 where one moves by rounding alone."""
    if not outputs:
        return 1.0
    together = np.concatenate(outputs)
    span, size = np.ptp(together, axis=0), np.abs(together).max(axis=0)
    return np.where(span > _ROUNDING * np.maximum(size, 1.0), span, 1.0)


def between(situation: Situation) -> list[str]:
    """Return what lies between plant and controller in a situation, beside noise: names of its settings."""
    plain = type(situation)()
    return [word for word in _DIRECT if getattr(situation, word) != getattr(plain, word)]


def _indirect(plant: Plant, situation: Situation) -> str:
    if plant.input_delay is not None:
        return "the plant has a dead time"
    used = between(situation)
    return f"{used[0].replace('_', ' ')} between plant and controller" if used else ""


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
    from flcs import FuzzyController

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
    truth = recorded["y"][every]
    return LoopRun(
        rows, seen - truth[:, places], recorded["w"], truth,
        np.array(job.plant.values("states", situation.initial)),
        np.array(job.plant.values("parameters", situation.parameters)),
    )  # fmt: skip


def _recorded(job: Job, loop: ClosedLoop, number: int) -> dict[str, Any]:
    groups = {name: loop.design.rows.span(name) for name in ("r", "y", "y_rate", "y_true")}
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
        "y": taken["y_true"], "w": taken.get("w", np.zeros((n, 0))),
    }  # fmt: skip


def _compiled(job: Job, folder: Path, work: Path) -> Path:
    plant = job.plant
    sizes = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
    block: list[Shape] = ["t", *(names(label, len(several)) for label, several in sizes.items())]

    def advance(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Any:
        if plant.advance is not None:
            new = plant.advance(t, x, u, w, p, h)
        else:
            new = INTEGRATORS[job.integrator](lambda at, state: tuple(plant.derivative(at, state, u, w, p)), t, x, h)  # type: ignore[misc]
        return new if plant.after_step is None else plant.after_step(t + h, tuple(new), u, w, p, h)

    def allocate(t: Any, x: Any, command: Any, p: Any) -> Any:
        return command if plant.allocate is None else plant.allocate(t, x, command, p)

    commands = names("c", len(plant.channels))
    parts = {
        "advance": trace(advance, *block, "h"),
        "outputs": trace(plant.outputs, *block),
        "allocate": trace(allocate, "t", block[1], commands, block[4]),
    }
    for label, program in parts.items():
        (work / f"{label}.c").write_text(c.function(f"plant_{label}", program), encoding="utf-8")
    (work / "loop.c").write_text(_loop(job), encoding="utf-8")
    sources = [str(path) for path in (*sorted(work.glob("*.c")), folder / f"{job.machine.name}.c")]
    gcc = shutil.which("gcc") or "gcc"
    command = [gcc, *_FLAGS, "-march=native", *sources, f"-I{folder}", "-o", str(work / "loop"), "-lm"]
    subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)  # noqa: S603
    return work / "loop"


def _run(program: Path, job: Job, run: LoopRun) -> Array:
    """True measurements [n_samples, n_outputs] of the loop in C."""
    numbers = [*run.state, *run.parameters]
    for k in range(len(run.inputs)):
        numbers += [*run.inputs[k], *run.noise[k]]
        numbers += run.disturbances[k * job.sub : (k + 1) * job.sub].ravel().tolist()
    sent = np.array(numbers, dtype="<f8").tobytes()
    done = subprocess.run([str(program)], input=sent, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
    found = np.frombuffer(done.stdout, dtype="<f8").reshape(-1, len(job.plant.measurements))
    return found[: len(run.outputs)]


def _loop(job: Job) -> str:
    plant, machine = job.plant, job.machine
    seen = [signal.name for signal in machine.inputs]
    outputs = [identifier(q.name) for q in plant.measurements]
    measured = [name for name in seen if name in outputs]
    sizes = {"X": plant.states, "U": plant.inputs, "W": plant.disturbances, "P": plant.parameters}
    setters = [f"        in.{name} = row[{k}];" for k, name in enumerate(seen)]
    for k, name in enumerate(measured):
        setters.append(f"        in.{name} = y[{outputs.index(name)}] + noise[{k}];")
    getters = [
        f"        c[{k}] = out.command_{identifier(channel.output)};" for k, channel in enumerate(plant.channels)
    ]
    return _LOOP.format(
        name=machine.name, n=len(seen), v=len(measured), sub=job.sub, h=repr(job.step), setters="\n".join(setters),
        getters="\n".join(getters), y=len(plant.measurements), c=len(plant.channels),
        start=", ".join(repr(q.nominal) for q in plant.inputs),
        **{key: len(several) for key, several in sizes.items()},
    )  # fmt: skip


_LOOP = """#include <stdio.h>
#include <string.h>
#include "{name}.h"

void plant_advance(const double *in, double *out);
void plant_outputs(const double *in, double *out);
void plant_allocate(const double *in, double *out);

static int taken(double *numbers, size_t count)
{{
    return count == 0 || fread(numbers, sizeof(double), count, stdin) == count;
}}

int main(void)
{{
    /* t, x, u, w, p, h: what the plant's functions take */
    double block[1 + {X} + {U} + {W} + {P} + 1], *x = block + 1, *u = x + {X}, *w = u + {U}, *p = w + {W};
    static const double start[] = {{{start}, 0.0}};
    double row[{n}], noise[{v} + 1], y[{y}], c[{c}], given[1 + {X} + {c} + {P}], held[{sub} * ({W} + 1)], next[{X}];
    {name}_state state;
    {name}_inputs in;
    {name}_outputs out;
    long k = 0;
    int j;
    memset(block, 0, sizeof block);
    memcpy(u, start, {U} * sizeof(double));
    if (!taken(x, {X}) || !taken(p, {P}))
        return 2;
    block[1 + {X} + {U} + {W} + {P}] = {h};
    {name}_reset(&state);
    while (taken(row, {n}) && taken(noise, {v}) && taken(held, {sub} * {W})) {{
        block[0] = (double)k * {h};
        memcpy(w, held, {W} * sizeof(double));
        plant_outputs(block, y);
{setters}
        {name}_step(&state, &in, &out);
{getters}
        given[0] = block[0];
        memcpy(given + 1, x, {X} * sizeof(double));
        memcpy(given + 1 + {X}, c, {c} * sizeof(double));
        memcpy(given + 1 + {X} + {c}, p, {P} * sizeof(double));
        plant_allocate(given, u);
        if (fwrite(y, sizeof(double), {y}, stdout) != {y})
            return 3;
        for (j = 0; j < {sub}; j++, k++) {{
            block[0] = (double)k * {h};
            memcpy(w, held + j * {W}, {W} * sizeof(double));
            plant_advance(block, next);
            memcpy(x, next, sizeof next);
        }}
    }}
    return 0;
}}
"""
