"""The export as a functional mock-up unit, FMI 2.0 and 3.0, and its proof by FMPy."""

from __future__ import annotations

import shutil
import tempfile
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from flcs.export.fmu import archive
from flcs.export.fmu.run import Session, problems, simulated_error
from flcs.export.proof import Proof, compared, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from flcs.export.job import Job

BOUND = 1e-12
"""Share of a signal's range: the C inside is that of the double-precision export."""


def files(job: Job, version: int) -> dict[str, bytes]:
    """Return the unit."""
    return {f"{job.machine.name}.fmu": archive.archive(job.machine, version)}


def prove(job: Job, folder: Path, version: int) -> Proof:
    """Validate the unit, step it through all sequences, restore a stored state on the way, simulate it as a whole."""
    target = f"fmu{version}"
    if find_spec("fmpy") is None:
        return unchecked(target, "FMPy is not installed (pip install sscq[exports])")
    if archive.binary_place(job.machine.name, version) is None or shutil.which("gcc") is None:
        return unchecked(target, "sources only: no gcc, or no name in the standard for this platform's binaries")

    file, checker = folder / f"{job.machine.name}.fmu", f"FMPy {installed_version('fmpy')}"
    wrong = problems(file)
    if wrong:
        return Proof(target, checker, "failed", "; ".join(wrong)[:2000], BOUND)
    try:
        with tempfile.TemporaryDirectory() as place, Session(file, job.machine, place) as session:
            found = {name: session.run(rows) for name, rows in job.sequences.items()}
        whole = simulated_error(file, job)
    except Exception as error:  # noqa: BLE001  (whatever the checker raises is its verdict)
        return Proof(target, checker, "failed", str(error)[:2000], BOUND)
    if not whole <= BOUND:
        return Proof(target, checker, "failed", f"simulate_fmu differs by {whole:.3g} of the range", BOUND)
    return compared(job, target, checker, BOUND, found, fmu_bytes=file.stat().st_size)
