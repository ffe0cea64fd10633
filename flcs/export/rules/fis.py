"""The .fis export for MATLAB: rules of each channel, complement, and the proof by Octave's fuzzy logic toolkit."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from flcs.exchange import fis_reader, fis_writer
from flcs.export.matlab import octave
from flcs.export.proof import Proof, unchecked, version
from flcs.export.rules import fuzzylite
from flcs.export.rules.files import GainPoints, gain_points, names_of, proof_of, settled, written

if TYPE_CHECKING:
    from pathlib import Path

    from numpy import ndarray

    from flcs.export.job import Job

TARGET, BOUND = "fis", 1e-12
EFFORT = 12_000
"""Rules times gains times inputs evaluated by Octave's toolkit, three in a millisecond: the first of the 10 000."""
_TOOLKIT = "pkg load fuzzy-logic-toolkit;"


def files(job: Job) -> dict[str, str]:
    """Return the export's files by name; none where the format cannot carry the knowledge base."""
    return written(job.kb, "fis", fis_writer.write)


def prove(job: Job, folder: Path) -> Proof:
    """Read the files back, and compare their gains as Octave's toolkit and fuzzylite evaluate them."""
    early = settled(job, folder, TARGET, BOUND, fis_writer.write, fis_reader.read)
    if early is not None:
        return early
    checkers, pairs = [], []
    several = [(folder / name, gain_points(job.kb, k, seed=job.seed)) for k, name in enumerate(names_of(job.kb, "fis"))]
    try:
        program = octave.program()
        if program is not None and _has_toolkit(program, folder):
            checkers.append(f"{version(program)}, fuzzy-logic-toolkit")
            pairs += [(p, _in_octave(program, f, p, len(job.kb.channels[k].rules))) for k, (f, p) in enumerate(several)]
        other = fuzzylite.program()
        if other is not None:
            checkers.append(fuzzylite.version(other))
            coarse = [(f, p.firing_above(fuzzylite.RESOLUTION)) for f, p in several]
            pairs += [(p, fuzzylite.gains(other, f, p.inputs, len(p.names))) for f, p in coarse]
    except subprocess.SubprocessError as error:
        return Proof(TARGET, " and ".join(checkers), "failed", str(error)[:2000], BOUND)
    if not pairs:
        return unchecked(TARGET, f"{octave.MISSING}; {fuzzylite.MISSING}")
    return proof_of(TARGET, " and ".join(checkers), BOUND, pairs)


def _has_toolkit(program: str, folder: Path) -> bool:
    import numpy as np

    try:
        octave.run(program, folder, f"{_TOOLKIT} found = given;", {"any": np.zeros((1, 1))}, 1)
    except subprocess.SubprocessError:
        return False
    return True


def _in_octave(program: str, file: Path, points: GainPoints, n_rules: int) -> ndarray:
    """Gains of the first inputs, as the toolkit evaluates them."""
    count = max(20, min(len(points.inputs), EFFORT // (n_rules * len(points.names))))
    script = f"{_TOOLKIT} f = readfis('{file.resolve()}'); found = evalfis(given, f);"
    given = {"random": points.inputs[:count]}
    return octave.run(program, file.parent, script, given, len(points.names))["random"]
