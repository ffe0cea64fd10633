"""Programs that read rows of doubles and answer with rows of doubles: how exports in other languages are run."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.export.job import Job

    Array = NDArray[np.float64]

SECONDS = 120


def answers(command: Sequence[str], job: Job, seconds: float = SECONDS) -> dict[str, Array]:
    """Run a program once for each sequence and return its outputs [n, n_outputs] by sequence.

    The program reads little-endian doubles from standard input, a row of inputs after the other, and writes the outputs
    of each row.

    Raises
    ------
    subprocess.SubprocessError
        If it fails or does not end within `seconds`.
    """
    width = len(job.machine.outputs)
    return {name: answer(command, rows, width, seconds) for name, rows in job.sequences.items()}


def answer(command: Sequence[str], rows: Array, width: int, seconds: float = SECONDS) -> Array:
    """Return the outputs [n, width] of a program for rows of inputs; it must end within `seconds`."""
    sent = np.ascontiguousarray(rows, dtype="<f8").tobytes()
    done = subprocess.run(list(command), input=sent, capture_output=True, timeout=seconds, check=True)  # noqa: S603
    return np.frombuffer(done.stdout, dtype="<f8").reshape(-1, width)


def output_of(command: Sequence[str], seconds: float = SECONDS) -> str:
    """Return what a program prints; it must end within `seconds`."""
    done = subprocess.run(list(command), capture_output=True, text=True, timeout=seconds, check=True)  # noqa: S603
    return done.stdout.strip()


def told(error: subprocess.SubprocessError) -> str:
    """Return what a program said when it failed."""
    output = getattr(error, "stderr", None) or getattr(error, "stdout", None) or str(error)
    text = output.decode(errors="replace") if isinstance(output, bytes) else str(output)
    return text.strip()[:2000]
