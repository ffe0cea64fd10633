"""Exported controllers under hostile samples, their memory overwritten at random: none may leave its limits.

    python -m tests.endurance.exports 100000 --of c,js,python,st
    python -m tests.endurance.exports 100000000 --of c,js,st_c

Signals are huge, tiny, denormal, infinite and no numbers, and any slot of the memory is overwritten by such values, also
by 1e20 to 1e30, which a state may be mistaken for. In between a controller is left alone for as long as it takes to
recover. Each output must always be finite and inside its limits; after the recovery nothing may be distrusted or tripped,
and all targets, which get the same samples, must give the same outputs. "st" is Structured Text by our interpreter, "st_c" the
same text as C, some hundred times as fast. Exit code 1, and what came out, where not so.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from controllers import PID
from flcs.export.c import source
from flcs.export.guard import Guard
from flcs.export.scripts import javascript, python
from flcs.export.structured_text import function_block, interpreter
from tests.endurance import structured_text_in_c
from tests.endurance.kills import Failure
from tests.reference.exports import job_of, knowledge_base

if TYPE_CHECKING:
    from collections.abc import Callable

    from flcs.export.job import Job
    from flcs.export.machine import Machine

    Run = Callable[[np.ndarray], np.ndarray]

STRANGE = np.array([
    0.0, 5e-324, 1e-310, 1e-300, 1e3, 1e9, 1e14, 1e16, 1e20, 1e22, 1e24, 1e25, 1e26, 1e28, 1e30, 1e38, 1e300, 1.7e308, np.inf,
    np.nan,
])  # fmt: skip
HOSTILE, LEFT_ALONE = 20, 40
"""Samples of a sequence."""
SEQUENCES = {"c": 4000, "js": 4000, "python": 1000, "st": 20, "st_c": 4000}
"""Of a call, where the target is alone."""
GAIN = 1e-6  # of the largest one: so far beyond its ends an overwritten gain is believed until the next tick
AGREEMENT = 1e-9  # of a signal's range
_DRIVER_C = """
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    {name}_state state;
    {name}_inputs in;
    {name}_outputs out;
    double row[{width}], taken[{m}];
    {name}_reset(&state);
    while (fread(row, sizeof(double), {width}, stdin) == {width}) {{
        if (row[{n}] >= 0.0)
            state.m[(int)row[{n}]] = row[{n} + 1];
{read}
        {name}_step(&state, &in, &out);
{write}
        fwrite(taken, sizeof(double), {m}, stdout);
    }}
    return 0;
}}
"""
DRIVER_ST = """
#include <stdio.h>
{text}
int main(void)
{{
    block b;
    double row[{width}], taken[{m}], *slots[] = {{{slots}}};
    const int in[] = {{{inputs}}}, out[] = {{{outputs}}};
    reset(&b);
    while (fread(row, sizeof(double), {width}, stdin) == {width}) {{
        if (row[{n}] >= 0.0)
            *slots[(int)row[{n}]] = row[{n} + 1];
        for (int k = 0; k < {n}; k++)
            *slots[in[k]] = row[k];
        step(&b);
        for (int k = 0; k < {m}; k++)
            taken[k] = *slots[out[k]];
        fwrite(taken, sizeof(double), {m}, stdout);
    }}
    return 0;
}}
"""
_DRIVER_JS = """
const fs = require("fs"), Machine = require(process.argv[2]), names = Machine.slots, n = Machine.inputs.length;
const bytes = fs.readFileSync(0), rows = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const machine = new Machine(), m = Machine.outputs.length, count = rows.length / (n + 2), taken = new Float64Array(count * m);
for (let k = 0; k < count; k++) {
  const inputs = {}, at = k * (n + 2);
  if (rows[at + n] >= 0) machine.set(names[rows[at + n]], rows[at + n + 1]);
  Machine.inputs.forEach((signal, j) => { inputs[signal.name] = rows[at + j]; });
  const outputs = machine.step(inputs);
  Machine.outputs.forEach((signal, j) => { taken[k * m + j] = outputs[signal.name]; });
}
fs.writeSync(1, Buffer.from(taken.buffer));
"""


LAWS = (
    PID(sample_time=0.01, limits=(-1.0, 2.0), derivative_filter_time=0.03),
    PID(sample_time=0.01, limits=(-1.0, 2.0), rate_limit=20.0, hold_invalid=True, rate_source="difference"),
)


def job_with(law: PID) -> Job:
    """A controller with limits, a watch that waits shortly and a way back."""
    guard = Guard(patience=0.02, recovery=0.05, frozen_after=0.1, safe=(0.5,), ramp=20.0)
    return job_of(knowledge_base(law=law), ({"reference": 1.0},), guard)


def plan(machine: Machine, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return samples [count, HOSTILE + LEFT_ALONE, n_inputs + 2]: inputs, a slot to overwrite (-1: none), its value."""
    n = len(machine.inputs)
    rows = rng.uniform(-1.0, 1.0, (count, HOSTILE + LEFT_ALONE, n + 2))
    rows[:, :, n] = -1.0
    bad = rows[:, :HOSTILE]
    strange = rng.random(bad.shape) < 0.5
    bad[strange] = rng.choice(STRANGE, strange.sum()) * rng.choice((-1.0, 1.0), strange.sum())
    held = rng.random((count, 1, n)) < 0.1  # as of a sensor that stands still
    bad[:, :, :n] = np.where(held, bad[:, :1, :n], bad[:, :, :n])
    places = rng.integers(len(machine.memory), size=bad.shape[:2])
    bad[:, :, n] = np.where(rng.random(places.shape) < 0.3, places, -1)
    return rows


def in_c(job: Job, folder: Path) -> Run:
    """Return what runs the C file, compiled."""
    machine, name = job.machine, job.machine.name
    for file, text in source.texts(machine).items():
        (folder / file).write_text(text, encoding="utf-8")
    read = "\n".join(f"        in.{s.name} = row[{k}];" for k, s in enumerate(machine.inputs))
    write = "\n".join(f"        taken[{k}] = out.{s.name};" for k, s in enumerate(machine.outputs))
    sizes = {"n": len(machine.inputs), "m": len(machine.outputs), "width": len(machine.inputs) + 2}
    (folder / "main.c").write_text(_DRIVER_C.format(name=name, read=read, write=write, **sizes), encoding="utf-8")
    return compiled(folder, f"{name}.c", "main.c")


def compiled(folder: Path, *files: str) -> Run:
    """Return what runs C files that read rows and write outputs; multiplications and sums are rounded each by itself."""
    command = ["gcc", "-std=c99", "-O2", "-ffp-contract=off", *files, "-o", "driven", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return lambda rows: _answers([str(folder / "driven")], rows)


def in_js(job: Job, folder: Path) -> Run:
    """Return what runs the JavaScript file by Node."""
    file = folder / f"{job.machine.name}.js"
    file.write_text(javascript.text(job.machine), encoding="utf-8")
    return lambda rows: _answers(["node", "-e", f"process.argv.splice(1, 0, '-');{_DRIVER_JS}", str(file)], rows)


def _answers(command: list[str], rows: np.ndarray) -> np.ndarray:
    done = subprocess.run(command, input=rows.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout).reshape(len(rows), -1)


def in_python(job: Job, _: Path) -> Run:
    """Return what runs the Python file."""
    exported: dict[str, type] = {}
    exec(python.text(job.machine), exported)
    names = list(job.machine.memory)

    def run(rows: np.ndarray) -> np.ndarray:
        machine, taken = exported["Machine"](), []
        for *row, place, value in rows.tolist():
            if place >= 0:
                machine.memory[names[int(place)]] = value
            taken += machine.run([row])
        return np.array(taken)

    return run


def in_st(job: Job, _: Path) -> Run:
    """Return what runs the Structured Text by our interpreter."""
    text, names = _st(job.machine)
    inputs = [names[job.machine.places[signal.name]] for signal in job.machine.inputs]

    def run(rows: np.ndarray) -> np.ndarray:
        block, taken = interpreter.load(text), []
        order = [block.outputs.index(names[job.machine.places[s.name]].upper()) for s in job.machine.outputs]
        for *row, place, value in rows.tolist():
            if place >= 0:
                block[names[int(place)]] = value
            outputs = block(dict(zip(inputs, row, strict=True)))
            taken.append([outputs[k] for k in order])
        return np.array(taken, dtype=float)

    return run


def in_st_c(job: Job, folder: Path) -> Run:
    """Return what runs the Structured Text as C, compiled."""
    machine = job.machine
    text, names = _st(machine)
    driver = DRIVER_ST.format(
        text=structured_text_in_c.translated(text),
        slots=", ".join(f"&b.{structured_text_in_c.name_of(name)}" for name in names),
        inputs=", ".join(str(machine.places[signal.name]) for signal in machine.inputs),
        outputs=", ".join(str(machine.places[signal.name]) for signal in machine.outputs),
        n=len(machine.inputs), m=len(machine.outputs), width=len(machine.inputs) + 2,
    )  # fmt: skip
    (folder / "block.c").write_text(driver, encoding="utf-8")
    return compiled(folder, "block.c")


def _st(machine: Machine) -> tuple[str, list[str]]:
    """Return the Structured Text of a machine, and what its slots are named there."""
    own = (machine.name, function_block.RESTART, function_block.COUNT)
    return function_block.text(machine, "LREAL"), list(function_block.identifiers(machine.memory, own).values())


TARGETS = {"c": in_c, "js": in_js, "python": in_python, "st": in_st, "st_c": in_st_c}


@dataclass(frozen=True)
class Watch:
    """What must hold of the outputs.

    Attributes
    ----------
    machine : Machine
    spans : ndarray [n_outputs]
        Ranges of the outputs.
    """

    machine: Machine
    spans: np.ndarray

    def look(self, target: str, rows: np.ndarray, outputs: np.ndarray) -> None:
        """Raise Failure where outputs [sequences, samples, n_outputs] are not as they must be."""
        signals = self.machine.outputs
        low, high = (np.array([getattr(s, end) for s in signals]) for end in ("low", "high"))
        width = np.array([GAIN * s.high if s.name.startswith("gain_") else 0.0 for s in signals])
        low, high = low - width, high + width
        good = np.isfinite(outputs) & (outputs >= low) & (outputs <= high)
        for sequence, sample, k in np.argwhere(~good)[:1]:
            story = [tuple(row) for row in rows[sequence, : sample + 1, -2:] if row[0] >= 0]
            told = [(list(self.machine.memory)[int(place)], value) for place, value in story][-3:]
            found = f"{signals[k].name} is {outputs[sequence, sample, k]}, limits {low[k]} to {high[k]}"
            raise Failure(f"{target}: sequence {sequence}, sample {sample}: {found}; overwritten last: {told}")
        for k, signal in enumerate(signals):
            if signal.name in {"fault", "tripped"} and outputs[:, -1, k].any():
                raise Failure(f"{target}: sequence {np.argmax(outputs[:, -1, k])}: still {signal.name} at its end")

    def agree(self, found: dict[str, np.ndarray]) -> float:
        """Return the largest difference after recovery, in shares of ranges; Failure where it is too large."""
        (first, expected), *others = found.items()
        largest = 0.0
        for target, outputs in others:
            error = np.abs(outputs[:, -1] - expected[:, -1]) / self.spans
            largest = max(largest, float(error.max()))
            if error.max() > AGREEMENT:
                sequence, k = np.unravel_index(np.argmax(error), error.shape)
                values = outputs[sequence, -1, k], expected[sequence, -1, k]
                name = self.machine.outputs[k].name
                raise Failure(f"{target} and {first}: sequence {sequence} ends with {name} {values[0]} and {values[1]}")
        return largest


def endure(count: int, targets: list[str], seed: int = 0) -> tuple[int, float]:
    """Run so many samples of each target, half of them of each law.

    Returns
    -------
    done : int
    largest : float
        Difference between targets, as for `Watch.agree`.
    """
    rng, done, largest = np.random.default_rng(seed), 0, 0.0
    sequences = min(SEQUENCES[target] for target in targets)
    for number, law in enumerate(LAWS, 1):
        job = job_with(law)
        watch = Watch(job.machine, job.spans)
        with tempfile.TemporaryDirectory(prefix="exports_") as folder:
            runs = {target: TARGETS[target](job, Path(folder)) for target in targets}
            while done < count * number // len(LAWS):
                rows = plan(job.machine, sequences, rng)
                flat = rows.reshape(-1, rows.shape[-1])
                found = {target: run(flat).reshape(*rows.shape[:2], -1) for target, run in runs.items()}
                for target, outputs in found.items():
                    watch.look(target, rows, outputs)
                done, largest = done + len(flat), max(largest, watch.agree(found))
    return done, largest


def main() -> None:
    """Run as many samples as asked."""
    parser = argparse.ArgumentParser(description="Exported controllers under hostile samples and overwritten memory.")
    parser.add_argument("count", type=int, nargs="?", default=20_000, help="samples of each target (default: 20 000)")
    parser.add_argument("--of", default=",".join(TARGETS), help="which targets, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    options, begun = parser.parse_args(), time.monotonic()
    try:
        done, largest = endure(options.count, options.of.split(","), options.seed)
    except Failure as failure:
        print(f"WRONG: {failure}")
        raise SystemExit(1) from None
    took = time.monotonic() - begun
    print(f"{options.of}: {done} samples in {took:.0f} s, {done / took:.0f} a second; largest difference {largest:.1e}")


if __name__ == "__main__":
    main()
