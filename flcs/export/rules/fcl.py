"""The FCL export (IEC 61131-7): rules of each channel, complement, and the proof by the program fuzzylite."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from flcs.exchange import fcl_reader, fcl_writer
from flcs.export.proof import Proof, unchecked
from flcs.export.rules import fuzzylite
from flcs.export.rules.files import gain_points, names_of, proof_of, settled, written

if TYPE_CHECKING:
    from pathlib import Path

    from flcs.export.job import Job

TARGET, BOUND = "fcl", 1e-12


def files(job: Job) -> dict[str, str]:
    """Return the export's files by name; none where the language cannot carry the knowledge base."""
    return written(job.kb, "fcl", fcl_writer.write)


def prove(job: Job, folder: Path) -> Proof:
    """Read the files back, and compare their gains at 10 000 random inputs as fuzzylite evaluates them."""
    early = settled(job, folder, TARGET, BOUND, fcl_writer.write, fcl_reader.read)
    if early is not None:
        return early
    program = fuzzylite.program()
    if program is None:
        return unchecked(TARGET, fuzzylite.MISSING)
    pairs = []
    try:
        for k, name in enumerate(names_of(job.kb, "fcl")):
            points = gain_points(job.kb, k, seed=job.seed).firing_above(fuzzylite.RESOLUTION)
            pairs.append((points, fuzzylite.gains(program, folder / name, points.inputs, len(points.names))))
    except subprocess.SubprocessError as error:
        return Proof(TARGET, fuzzylite.version(program), "failed", str(error), BOUND)
    return proof_of(TARGET, fuzzylite.version(program), BOUND, pairs)
