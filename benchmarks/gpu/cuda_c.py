"""The loop in CUDA C (`closed_loop.cu`), compiled by nvcc and called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.engine import case
from benchmarks.engine.closed_loop import given_numbers

_SOURCE = Path(__file__).with_name("closed_loop.cu")


def available() -> bool:
    """Return whether there is CUDA's compiler."""
    return shutil.which("nvcc") is not None


class CudaLoop:
    """The compiled loop, in `folder`.

    Parameters
    ----------
    folder : Path
    capability : (int, int)
        Of the GPU, such as (9, 0).
    """

    def __init__(self, folder: Path, capability: tuple[int, int]) -> None:
        place = folder / "closed_loop_cuda.so"
        flags = ["-O3", "-arch", f"sm_{capability[0]}{capability[1]}", "-shared", "-Xcompiler", "-fPIC"]
        subprocess.run(["nvcc", *flags, "-o", str(place), str(_SOURCE)], check=True)
        self._call = ctypes.CDLL(str(place)).closed_loops
        array = ctypes.c_void_p
        self._call.argtypes = (array, ctypes.c_size_t, ctypes.c_long, array, array, ctypes.c_int, array)

    def run(self, gains: np.ndarray, n_steps: int, rounds: int) -> tuple[np.ndarray, tuple[float, ...]]:
        """Return steps, iae, entropy_difference_abs, total_variation [n, 4], and the times of the launches [s]."""
        gains, results, seconds = np.ascontiguousarray(gains), np.empty((len(gains), 4)), np.empty(rounds)
        given = given_numbers(case.INITIAL)
        addresses = (ctypes.byref(given), results.ctypes.data, rounds, seconds.ctypes.data)
        error = self._call(gains.ctypes.data, len(gains), n_steps, *addresses)
        if error:
            raise RuntimeError(f"CUDA's error {error}")
        return results, tuple(seconds.tolist())
