"""The ONNX export of the scheduler, and the proof by onnxruntime."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from experiments.export import onnx_graph
from experiments.export.proof import Proof, compared, unchecked
from experiments.export.scheduler_job import scheduler_job

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.export.job import Job

    Array = NDArray[np.float64]

TARGET, BOUND = "onnx", 1e-12


def files(job: Job) -> dict[str, bytes]:
    """Return the graph; nothing where the package ``onnx`` is missing."""
    if find_spec("onnx") is None:
        return {}
    machine = scheduler_job(job).machine
    return {f"{machine.name}.onnx": onnx_graph.model(machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Run the graph in onnxruntime sample after sample, its memory going round."""
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            written = "" if package == "onnxruntime" else "not written: "
            return unchecked(TARGET, f"{written}{package} is not installed (pip install {package})")
    import onnxruntime

    alone = scheduler_job(job)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / f"{alone.machine.name}.onnx"), options, providers=["CPUExecutionProvider"]
    )
    found = {name: _run(session, rows, alone) for name, rows in alone.sequences.items()}
    size = (folder / f"{alone.machine.name}.onnx").stat().st_size
    return compared(alone, TARGET, f"onnxruntime {onnxruntime.__version__}", BOUND, found, bytes=size)


def _run(session: object, rows: Array, job: Job) -> Array:
    memory = np.array([list(job.machine.memory.values())])
    taken = np.empty((len(rows), len(job.machine.outputs)))
    for k, row in enumerate(rows):
        out, memory = session.run(None, {"inputs": row[None, :], "memory": memory})  # type: ignore[attr-defined]
        taken[k] = out[0]
    return taken
