"""The export for scikit-fuzzy: a Python file for each channel, complement, and the proof by the package itself."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from flcs.exchange import skfuzzy, system_of
from flcs.export.proof import Proof, answer, unchecked
from flcs.export.rules.files import GainPoints, gain_points, names_of, proof_of, refused, written

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from flcs.export.job import Job

    Array = NDArray[np.float64]

TARGET = "skfuzzy"
BOUND, CURVED = 1e-5, 1e-3
"""Shares of the box: the sides of the sets; with curved terms, their samples (501 over a range)."""
_EFFORT = 1_500  # rules times inputs that the package evaluates in some seconds
_SECONDS = 300


def files(job: Job) -> dict[str, str]:
    """Return the export's files by name; none where the package cannot carry the knowledge base."""
    return written(job.kb, "py", skfuzzy.write)


def prove(job: Job, folder: Path) -> Proof:
    """Run the files in a process of their own, and compare their gains at random inputs."""
    why = refused(job.kb, skfuzzy.write)
    if why:
        return unchecked(TARGET, f"not written: {why}")
    if find_spec("skfuzzy") is None:
        return unchecked(TARGET, "scikit-fuzzy is not installed (pip install scikit-fuzzy)")
    checker, pairs = f"scikit-fuzzy {version('scikit-fuzzy')}", []
    for k, name in enumerate(names_of(job.kb, "py")):
        points = gain_points(job.kb, k, seed=job.seed).firing_above(1e-6)
        count = max(20, _EFFORT // max(1, len(job.kb.channels[k].rules)))
        try:
            pairs.append((points, _evaluated(folder / name, points, count, job.kb.channels[k].gain_names)))
        except subprocess.SubprocessError as error:
            told = getattr(error, "stderr", None) or error
            return Proof(TARGET, checker, "failed", str(told)[-2000:], BOUND)
    curved = any(t.kind != "points" for k in range(len(pairs)) for i in system_of(job.kb, k).inputs for t in i.terms)
    return proof_of(TARGET, checker, CURVED if curved else BOUND, pairs)


def _evaluated(file: Path, points: GainPoints, count: int, gains: tuple[str, ...]) -> Array:
    """Gains of the first inputs [count, n_gains], evaluated by the file's control system."""
    code = _RUN.format(file=str(file.resolve()), gains=list(gains))
    rows = points.inputs[:count]
    return answer([sys.executable, "-c", code, str(rows.shape[1])], rows, len(gains), _SECONDS)


_RUN = """
import runpy, sys
import numpy
from skfuzzy import control
found = runpy.run_path({file!r})
data, system = found["DATA"], found["build"]()
rows = numpy.frombuffer(sys.stdin.buffer.read()).reshape(-1, int(sys.argv[1]))
taken = numpy.full((len(rows), {gains!r}.__len__()), numpy.nan)
for k, row in enumerate(rows):
    simulation = control.ControlSystemSimulation(system, cache=False)
    for item, value in zip(data["inputs"], row):
        simulation.input[item["name"]] = value
    simulation.compute()
    for j, gain in enumerate({gains!r}):
        taken[k, j] = simulation.output.get(gain, numpy.nan)
sys.stdout.buffer.write(taken.tobytes())
"""
