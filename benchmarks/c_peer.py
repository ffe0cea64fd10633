"""The hand-written loop in C: compiled in every way that might be fastest, called through ctypes."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import case

_SOURCE = Path(__file__).with_name("closed_loop.c")
_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")
_TUNED = ("-fno-trapping-math", "-fno-math-errno")  # without traps to keep, selects need no detours; same results
_VARIANTS = {
    "C, plain flags": (),
    "C, 256-bit vectors": (*_TUNED, "-mprefer-vector-width=256"),
    "C, 512-bit vectors": (*_TUNED, "-mprefer-vector-width=512"),
}
_MORE_LANES = {"C, 512-bit vectors, 32 lanes": (*_TUNED, "-mprefer-vector-width=512", "-DLANES=32")}


class _Loop(ctypes.Structure):
    """The numbers of the loop, as `struct loop`."""

    names = ("step", "mu", "reference", "position", "velocity", "low", "high", "farthest", "fastest")
    _fields_ = [(name, ctypes.c_double) for name in names]


@dataclass(frozen=True)
class Peer:
    """One compiled variant, with what the compiler said about the vectors it used."""

    name: str
    function: ctypes._CFuncPtr
    vectorised: str

    def run(self, gains: np.ndarray, n_steps: int, initial: tuple[float, float] = case.INITIAL) -> np.ndarray:
        """Return steps, iae, entropy_difference_abs, total_variation [candidate, 4]."""
        results = np.empty((len(gains), 4))
        mu = case.PLANT.parameters[0].nominal
        given = _Loop(case.STEP, mu, case.REFERENCE, *initial, *case.limits(), *case.region())
        self.function(gains.ctypes, len(gains), n_steps, ctypes.byref(given), results.ctypes)
        return results


def available() -> bool:
    """Return whether there is a C compiler."""
    return shutil.which("gcc") is not None


def build(folder: Path, *, more_lanes: bool = False) -> list[Peer]:
    """Compile into `folder` the variants with 16 lanes, or those with a number of lanes of C's own choice."""
    variants = _MORE_LANES if more_lanes else _VARIANTS
    peers = [_compiled(folder, name, flags) for name, flags in variants.items()]
    return [peer for peer in peers if peer is not None]


def _compiled(folder: Path, name: str, flags: tuple[str, ...]) -> Peer | None:
    """Compile one variant; None where this machine's compiler does not know its flags."""
    path = folder / f"{re.sub(r'[^a-z0-9]+', '_', name.lower())}.so"
    command = ["gcc", *_FLAGS, *flags, "-fopt-info-vec", "-shared", "-fPIC", "-o", str(path), str(_SOURCE), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    function = ctypes.CDLL(str(path)).closed_loops
    function.restype = None
    pointer = ctypes.c_void_p
    function.argtypes = [pointer, ctypes.c_size_t, ctypes.c_long, pointer, pointer]
    return Peer(name, function, _widest(done.stderr))


def _widest(remarks: str) -> str:
    widths = [int(width) for width in re.findall(r"loop vectorized using (\d+) byte vectors", remarks)]
    return f"{8 * max(widths)}-bit vectors" if widths else "not vectorised"


def largest_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest relative difference of two tables of results."""
    return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-300)))
