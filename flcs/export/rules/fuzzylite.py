"""The program ``fuzzylite`` as a checker: an independent evaluator that reads FCL and .fis files."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MISSING = "fuzzylite is not installed (Debian: apt-get install fuzzylite)"
RESOLUTION = 2e-6
"""The program takes what is closer than 1e-6 for equal, and so smaller firing strengths for 0."""
_SECONDS = 120


def program() -> str | None:
    """Return the program, or None where it is not installed."""
    return shutil.which("fuzzylite")


def version(fuzzylite: str) -> str:
    """Return its version as text."""
    done = subprocess.run([fuzzylite], capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    lines = [line.removeprefix("version: ") for line in done.stdout.splitlines() if line.startswith("version: ")]
    return f"fuzzylite {lines[0] if lines else ''}".strip()


def gains(fuzzylite: str, file: Path, inputs: Array, n_gains: int) -> Array:
    """Return the outputs [n, n_gains] of a .fcl or .fis file at inputs [n, n_inputs].

    Raises
    ------
    subprocess.SubprocessError
        If the program does not read the file.
    """
    with tempfile.TemporaryDirectory() as name:
        given, found = Path(name) / "given.fld", Path(name) / "found.fld"
        np.savetxt(given, inputs, fmt="%.17g")
        settings = ["-of", "fld", "-decimals", "17", "-dheader", "false", "-dinputs", "false"]
        command = [fuzzylite, "-i", str(file), "-if", file.suffix[1:], "-o", str(found), *settings, "-d", str(given)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
        if not found.exists() or not found.stat().st_size:
            raise subprocess.SubprocessError(f"fuzzylite: {(done.stdout + done.stderr).strip()[:2000]}")
        return np.loadtxt(found, ndmin=2).reshape(-1, n_gains)
