"""The loop closed with an exported controller: plant and integrator in C as well, against the compiled simulation.

The plant's excitation is recorded step by step and then given to both as a held series, so that both solve the same
equations; sensor noise is the simulation's. Situations in which more lies between plant and controller (dead times,
converters, lost packets, slow actuators) are left out, and so are those in which the loop diverges. Where both differ
by more than is allowed, the loop in C is run once more, begun a rounding beside. Roundings come in at every sample:
where the loop differs from itself by no less than its share of one of them, as one that sticks and slips may, the
difference is no measure of the export. Such situations are left out, and told.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.export.loop_runs import between, simulated
from flcs.export.proof import answer, output_of
from flcs.export.statements import template
from plants.core.analysis.closed_loop import Measured
from plants.core.blocks import allocate_inputs, called
from plants.core.motion.integrators import INTEGRATORS
from plants.core.names import identifier
from plants.core.printers import c
from plants.core.tracing.calls import refusal
from plants.core.tracing.trace import Shape, names, trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.export.job import Job
    from flcs.export.loop_runs import LoopRun
    from plants import Plant
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


CLOSED = 1e-9
"""Allowed of the loop closed with the export, in ranges of the measurements: stable loops forget roundings."""
_ROUNDING = 1e-12  # relative: less is no motion
_BESIDE = 1e-15  # of a state, or of 1 where it is less: a few roundings


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
    untold = [refusal(one, "a plant in C") for one in called(job.plant)][:1]
    if untold:
        return Closed({}, {situation.name: untold[0] for situation in job.situations})
    with tempfile.TemporaryDirectory() as name:
        program = compiled(job, folder, Path(name))
        # What follows the input at once is looked at before the sample's command here, after it there.
        behind = [not by_input for by_input in Measured(job.plant).of_input]
        reasons = {situation.name: _indirect(job.plant, situation) for situation in job.situations}
        direct = [situation for situation in job.situations if not reasons[situation.name]]
        runs = dict(zip((situation.name for situation in direct), simulated(job, direct), strict=True))
        span = _spans([run.outputs for run in runs.values() if run is not None])
        for situation in job.situations:
            one = runs.get(situation.name)
            if one is None:
                left_out[situation.name] = reasons[situation.name] or "the simulated loop diverges"
                continue
            found = run(program, job, one)
            errors[situation.name] = float((np.abs(found - one.outputs) / span)[:, behind].max())
            if errors[situation.name] <= CLOSED:
                continue
            again = run(program, job, _beside(one))
            own = float((np.abs(again - found) / span)[:, behind].max())
            if errors[situation.name] <= own * len(found):
                del errors[situation.name]
                left_out[situation.name] = f"begun {_BESIDE:g} beside, the loop differs from itself by {own:.2g}"
    return Closed(errors, left_out)


def _beside(one: LoopRun) -> LoopRun:
    return replace(one, state=one.state + _BESIDE * np.maximum(np.abs(one.state), 1.0))


def _spans(outputs: Sequence[Array]) -> Array | float:
    """Ranges of the measurements [n_outputs] over all situations; 1 where one moves by rounding alone."""
    if not outputs:
        return 1.0
    together = np.concatenate(outputs)
    span, size = np.ptp(together, axis=0), np.abs(together).max(axis=0)
    return np.where(span > _ROUNDING * np.maximum(size, 1.0), span, 1.0)


def _indirect(plant: Plant, situation: Situation) -> str:
    if plant.input_delay is not None:
        return "the plant has a dead time"
    used = between(situation)
    return f"{used[0].replace('_', ' ')} between plant and controller" if used else ""


_SECONDS = 600
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off")


def compiled(job: Job, folder: Path, work: Path) -> Path:
    """Compile plant, integrator and the exported controller in `folder` to one program in `work`; return it."""
    plant = job.plant
    sizes = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
    block: list[Shape] = ["t", *(names(label, len(several)) for label, several in sizes.items())]

    def advance(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Any:
        if plant.advance is not None:
            new = plant.advance(t, x, u, w, p, h)
        else:
            new = INTEGRATORS[job.integrator](lambda at, state: tuple(plant.derivative(at, state, u, w, p)), t, x, h)  # type: ignore[misc]
        return new if plant.after_step is None else plant.after_step(t + h, tuple(new), u, w, p, h)

    commands = names("c", len(plant.channels))
    parts = {
        "advance": trace(advance, *block, "h"),
        "outputs": trace(plant.outputs, *block),
        "allocate": trace(partial(allocate_inputs, plant), "t", block[1], commands, block[4]),
    }
    for label, program in parts.items():
        (work / f"{label}.c").write_text(c.function(f"plant_{label}", program), encoding="utf-8")
    (work / "loop.c").write_text(_loop(job), encoding="utf-8")
    sources = [str(path) for path in (*sorted(work.glob("*.c")), folder / f"{job.machine.name}.c")]
    gcc = shutil.which("gcc") or "gcc"
    output_of([gcc, *_FLAGS, "-march=native", *sources, f"-I{folder}", "-o", str(work / "loop"), "-lm"], _SECONDS)
    return work / "loop"


def run(program: Path, job: Job, run: LoopRun) -> Array:
    """True measurements [n_samples, n_outputs] of the loop in C."""
    numbers = [*run.state, *run.parameters]
    for k in range(len(run.inputs)):
        numbers += [*run.inputs[k], *run.noise[k]]
        numbers += run.disturbances[k * job.sub : (k + 1) * job.sub].ravel().tolist()
    found = answer([str(program)], np.array(numbers), len(job.plant.measurements), _SECONDS)
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
    return template(
        "flcs.export.c", "closed_loop.c",
        name=machine.name, n=len(seen), v=len(measured), sub=job.sub, h=repr(job.step), setters="\n".join(setters),
        getters="\n".join(getters), y=len(plant.measurements), c=len(plant.channels),
        start=", ".join(repr(q.nominal) for q in plant.inputs),
        **{key: len(several) for key, several in sizes.items()},
    )  # fmt: skip
