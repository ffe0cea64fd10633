"""Octave as a checker: runs scripts on folders of functions; numbers go in and out as doubles."""

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

SECONDS = 300
MISSING = "octave is not installed (Debian: apt-get install octave octave-fuzzy-logic-toolkit)"


def program() -> str | None:
    """Return Octave's program, or None where it is not installed."""
    return shutil.which("octave-cli") or shutil.which("octave")


def run(octave: str, folder: Path, script: str, tables: dict[str, Array], n_outputs: int) -> dict[str, Array]:
    """Run a script once for each table and return what it gives.

    Parameters
    ----------
    octave : str
    folder : path
        On the search path of the script.
    script : str
        Turns the matrix ``given`` into the matrix ``found`` [rows, n_outputs].
    tables : mapping of name to array [rows, n_inputs]
    n_outputs : int

    Raises
    ------
    subprocess.SubprocessError
        If Octave fails, or runs longer than five minutes.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        lines = [f"addpath('{_quoted(folder)}');"]
        for k, rows in enumerate(tables.values()):
            np.ascontiguousarray(rows, dtype="<f8").tofile(work / f"{k}.in")
            lines += [
                f"id = fopen('{_quoted(work)}/{k}.in');",
                f"given = fread(id, [{rows.shape[1]}, Inf], 'double')'; fclose(id);",
                script,
                f"id = fopen('{_quoted(work)}/{k}.out', 'w'); fwrite(id, found', 'double'); fclose(id);",
            ]
        (work / "run_all.m").write_text("\n".join(["1;", *lines, ""]), encoding="utf-8")
        command = [octave, "--quiet", "--no-init-file", str(work / "run_all.m")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
        outs = [work / f"{k}.out" for k in range(len(tables))]
        if not all(path.exists() for path in outs):
            raise subprocess.SubprocessError(f"octave: {done.stderr.strip()[:2000] or 'no output'}")
        return {n: np.fromfile(p, dtype="<f8").reshape(-1, n_outputs) for n, p in zip(tables, outs, strict=True)}


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("'", "''")
