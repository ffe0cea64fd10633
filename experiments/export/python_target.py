"""The Python export: one file without this project in it, and the proof by a fresh interpreter in isolated mode."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.export import python_file, streams
from experiments.export.proof import Proof, compared

if TYPE_CHECKING:
    from experiments.export.job import Job

BOUND = 1e-12
"""Share of a signal's range: the operations of the simulation in double precision, but for fused sums."""


def files(job: Job) -> dict[str, str]:
    """Return the export's file by name."""
    return {f"{job.machine.name}.py": python_file.text(job.machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Run the file on all sequences, in a fresh interpreter that sees neither this project nor any other package."""
    version = f"Python {sys.version.split()[0]}, isolated"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.py"
        driver.write_text(_DRIVER, encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(driver), str(folder / f"{job.machine.name}.py")]
        try:
            found = streams.answers(command, job)
        except subprocess.SubprocessError as error:
            return Proof("python", version, "failed", streams.told(error), BOUND)
    return compared(job, "python", version, BOUND, found)


_DRIVER = """import array
import importlib.util
import sys

spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(exported)
foreign = {"numpy", "plants", "controllers", "flcs", "sscq", "experiments"} & sys.modules.keys()
if foreign:
    sys.exit(f"the file brought in {', '.join(sorted(foreign))}")
given = array.array("d", sys.stdin.buffer.read())
n = len(exported.INPUTS)
rows = [given[k : k + n] for k in range(0, len(given), n)]
taken = array.array("d", [value for row in exported.Machine().run(rows) for value in row])
sys.stdout.buffer.write(taken.tobytes())
"""
