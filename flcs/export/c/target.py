"""The C99 export: files, a self-test that runs on the target, and the proof by gcc."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.export.c import closed_loop, programs, source
from flcs.export.proof import Proof, answers, compared, failure_text, output_of, unchecked, version
from flcs.export.scheduler import is_scheduler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.export.job import Job

    Array = NDArray[np.float64]

TARGETS = {"c": "double", "c_float": "float"}
BOUNDS = {"double": 1e-12, "float": 2e-4}
"""Shares of a signal's range. Single precision has 6e-8; integrals and differences gather some hundred of these."""
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-ffp-contract=off")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
_SECONDS = 600


def files(job: Job, precision: str) -> dict[str, str]:
    """Return the export's files by name: header, source, self-test."""
    texts = source.texts(job.machine, precision)
    return {**texts, f"{job.machine.name}_selftest.c": programs.self_test(job, BOUNDS[precision])}


def prove(job: Job, folder: Path, precision: str) -> Proof:
    """Compile the export with gcc, warnings as errors and sanitizers on, and run it on all sequences."""
    target = next(name for name, kind in TARGETS.items() if kind == precision)
    gcc = shutil.which("gcc")
    if gcc is None:
        return unchecked(target, "gcc is not installed")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "driver.c").write_text(programs.driver(job), encoding="utf-8")
        sources = [str(folder / f"{job.machine.name}.c"), str(work / "driver.c"), f"-I{folder}"]
        try:
            _call([gcc, *STRICT, *SANITIZED, *sources, "-o", str(work / "checked"), "-lm"])
            _call([gcc, *STRICT, "-march=native", *sources, "-o", str(work / "fast"), "-lm"])
            test = [str(folder / f"{job.machine.name}{end}.c") for end in ("", "_selftest")]
            _call([gcc, *STRICT, *SANITIZED, *test, f"-I{folder}", "-o", str(work / "test"), "-lm"])
            _call([str(work / "test")])
            (work / "hostile.c").write_text(programs.hostile_program(job), encoding="utf-8")
            _call([gcc, *STRICT, "-march=native", sources[0], str(work / "hostile.c"), sources[2], "-o",
                   str(work / "hostile"), "-lm"])  # fmt: skip
            stood = _call([str(work / "hostile"), str(job.hostile), str(job.seed)])
            whole = precision == "double" and not is_scheduler(job.machine)
            loops = closed_loop.closed(job, folder) if whole else None
            found = answers([str(work / "checked")], job, _SECONDS)
        except subprocess.SubprocessError as error:
            return Proof(target, version(gcc), "failed", failure_text(error), BOUNDS[precision])
        sizes, seconds = _sizes(gcc, folder, job, work), _time(work / "fast", job)
    rough, numbers = precision == "float", dict[str, Any](sizes, hostile=stood)
    if loops is not None:
        numbers |= {"closed_loop": loops.errors, "closed_loop_left_out": loops.left_out}
        if loops.largest > (allowed := closed_loop.CLOSED):
            reason = (
                f"the closed loop differs by {loops.largest:.3g} of the measurements' range; allowed are {allowed:g}"
            )
            return Proof(target, version(gcc), "failed", reason, allowed, numbers=numbers)
    return compared(job, target, version(gcc), BOUNDS[precision], found, rough=rough, seconds=seconds, **numbers)


def _call(command: list[str]) -> str:
    return output_of(command, _SECONDS)


def _time(program: Path, job: Job) -> float:
    """Seconds of one sample on this machine."""
    rows = np.concatenate(list(job.sequences.values()))[:1000]
    sent = np.ascontiguousarray(rows, dtype="<f8").tobytes()
    done = subprocess.run([str(program), "time"], input=sent, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
    return 1e-9 * float(done.stdout)


def _sizes(gcc: str, folder: Path, job: Job, work: Path) -> dict[str, int]:
    """Bytes of code and constants (for ROM) and of state (for RAM), compiled for small size."""
    thing = str(work / "small.o")
    _call([gcc, *STRICT, "-Os", "-c", str(folder / f"{job.machine.name}.c"), "-o", thing])
    size = shutil.which("size")
    text = _call([size, thing]).splitlines()[1].split() if size else ["0"]
    return {"rom_bytes": int(text[0]), "numbers_of_state": len(job.machine.memory)}
