"""The JavaScript export: one file, and the proof by Node."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.export import javascript, streams
from experiments.export.proof import Proof, compared, unchecked

if TYPE_CHECKING:
    from experiments.export.job import Job
    from experiments.export.machine import Machine

BOUND = 1e-12
"""Share of a signal's range: the operations of the simulation in double precision, but for fused sums."""


def files(job: Job) -> dict[str, str]:
    """Return the export's file by name."""
    return {f"{job.machine.name}.js": javascript.text(job.machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Load the file in Node and run it on all sequences."""
    node = shutil.which("node")
    if node is None:
        return unchecked("js", "Node is not installed")
    version = f"Node {streams.output_of([node, '--version'])}"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.js"
        driver.write_text(driver_of(job.machine), encoding="utf-8")
        try:
            found = streams.answers([node, str(driver), str(folder / f"{job.machine.name}.js")], job)
        except subprocess.SubprocessError as error:
            return Proof("js", version, "failed", streams.told(error), BOUND)
    size = (folder / f"{job.machine.name}.js").stat().st_size
    return compared(job, "js", version, BOUND, found, bytes_of_text=size)


def driver_of(machine: Machine) -> str:
    """Return a program for Node that runs a machine's file on rows of doubles."""
    return _DRIVER % {"n": len(machine.inputs), "m": len(machine.outputs)}


_DRIVER = """"use strict";
const fs = require("fs"), path = require("path");
const Machine = require(path.resolve(process.argv[2]));
const bytes = fs.readFileSync(0);
const given = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const rows = given.length / %(n)d, taken = new Float64Array(rows * %(m)d), machine = new Machine();
for (let k = 0; k < rows; k++) {
  const inputs = {};
  Machine.inputs.forEach((signal, j) => { inputs[signal.name] = given[k * %(n)d + j]; });
  const outputs = machine.step(inputs);
  Machine.outputs.forEach((signal, j) => { taken[k * %(m)d + j] = outputs[signal.name]; });
}
process.stdout.write(Buffer.from(taken.buffer));
"""
