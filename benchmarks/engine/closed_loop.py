"""A million closed loops in one call; the generated kernel against hand-written C.

The C loop (`closed_loop.c`) is compiled in every way that might be fastest, and called through ctypes.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case
from benchmarks.runner.report import FigureSection, at_most
from experiments.runtime.timing import Timing, alternate, clock, ratio
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.runner.size import Size
    from sscq.loop.closed_loop import ClosedLoop


_SOURCE = Path(__file__).with_name("closed_loop.c")
_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")
POINTER = ctypes.c_void_p
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


def given_numbers(initial: tuple[float, float]) -> _Loop:
    """Return the numbers of the loop as C has them."""
    mu = case.PLANT.parameters[0].nominal
    return _Loop(case.STEP, mu, case.REFERENCE, *initial, *case.limits(), *case.region())


@dataclass(frozen=True)
class CompiledLoop:
    """One compiled variant, with what the compiler said about the vectors it used."""

    name: str
    function: ctypes._CFuncPtr
    vectorised: str

    def run(self, gains: np.ndarray, n_steps: int, initial: tuple[float, float] = case.INITIAL) -> np.ndarray:
        """Return steps, iae, entropy_difference_abs, total_variation [candidate, 4]."""
        results = np.empty((len(gains), 4))
        given = given_numbers(initial)
        self.function(gains.ctypes, len(gains), n_steps, ctypes.byref(given), results.ctypes)
        return results


def available() -> bool:
    """Return whether there is a C compiler."""
    return shutil.which("gcc") is not None


def build(folder: Path, *, more_lanes: bool = False) -> list[CompiledLoop]:
    """Compile into `folder` the variants with 16 lanes, or those with a number of lanes of C's own choice."""
    variants = _MORE_LANES if more_lanes else _VARIANTS
    peers = [_compiled(folder, name, flags) for name, flags in variants.items()]
    return [peer for peer in peers if peer is not None]


def _compiled(folder: Path, name: str, flags: tuple[str, ...]) -> CompiledLoop | None:
    """Compile one variant; None where this machine's compiler does not know its flags."""
    path = folder / f"{file_name(name)}.so"
    built = compile_c(_SOURCE, path, (*_FLAGS, *flags, "-fopt-info-vec"))
    if built is None:
        return None
    library, remarks = built
    library.closed_loops.restype = None
    library.closed_loops.argtypes = [POINTER, ctypes.c_size_t, ctypes.c_long, POINTER, POINTER]
    return CompiledLoop(name, library.closed_loops, _widest(remarks))


def file_name(name: str) -> str:
    """Return a name as that of a file."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def compile_c(source: Path, path: Path, flags: Sequence[str]) -> tuple[ctypes.CDLL, str] | None:
    """Compile a C file into a library; return it with the compiler's remarks, None where it does not know the flags."""
    command = ["gcc", *flags, "-shared", "-fPIC", "-o", str(path), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else (ctypes.CDLL(str(path)), done.stderr)


def _widest(remarks: str) -> str:
    widths = [int(width) for width in re.findall(r"loop vectorized using (\d+) byte vectors", remarks)]
    return f"{8 * max(widths)}-bit vectors" if widths else "not vectorised"


def largest_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest relative difference of two tables of results."""
    return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-300)))


_AGREEMENT = 1e-9  # relative; both round the same formulas, fused in different places, over 1 000 steps
_NS = 1e9


def million(size: Size) -> FigureSection:
    """Time one call with all candidates, on one thread and on two."""
    section = FigureSection("million", f"{size.candidates:,} closed loops of {size.steps:,} RK4 steps in one call")
    candidates, n_steps = case.gains(size.candidates), size.steps
    case.million(candidates[:16], n_steps, 1)  # compiles
    tables: list[np.ndarray] = []

    def call(threads: int) -> None:
        tables.append(case.table(case.million(candidates, n_steps, threads)))

    for words, times in _wall_and_processor(call, size.repeats).items():
        section.time(f"the call, {words}", times[0], "s", remark="wall time")
        section.time(f"one loop, {words}", times[0].per(len(candidates)), "µs", 1e6, "wall time")
        section.time(f"one step, {words}", times[0].per(len(candidates) * n_steps), "ns", _NS, "wall time")
        remark = "processor time, all threads: what remains when others take no share"
        section.time(f"one step, {words}", times[1].per(len(candidates) * n_steps), "ns", _NS, remark)
    if not all(np.array_equal(tables[0], other) for other in tables[1:]):
        message = "the results depend on the number of threads"
        raise RuntimeError(message)
    section.counts = _counts(len(candidates), n_steps)
    section.notes.append("Results on one and on two threads are equal bit for bit.")
    return section


def _counts(n: int, n_steps: int) -> dict[str, int]:
    """Count what no machine changes."""
    loop, steps = case.closed_loop(n_steps), n * n_steps
    work = {f"{name} in a step": count for name, count in case.operations(loop).items()}
    return {"loops": n, "steps": steps, "derivatives": 4 * steps, "workspace rows": loop.design.rows.count} | work


def _wall_and_processor(call: Callable[[int], None], repeats: int) -> dict[str, tuple[Timing, Timing]]:
    """Time `call` with one and two threads in turns: on the wall and of the processor."""
    samples: dict[str, list[tuple[float, float]]] = {"one thread": [], "two threads": []}
    for _ in range(repeats):
        for threads, words in enumerate(samples, start=1):
            busy = time.process_time()
            wall = clock(lambda t=threads: call(t))
            samples[words].append((wall, time.process_time() - busy))
    return {
        words: (Timing(wall), Timing(busy))
        for words, values in samples.items()
        for wall, busy in [tuple(zip(*values, strict=True))]
    }


def against_c(size: Size) -> FigureSection:
    """Time the kernel and the loop in C in turns, on one thread."""
    section = FigureSection("against_c", "The generated kernel against the same loop written in C")
    if not available():
        section.notes.append("Skipped: no gcc.")
        return section
    with tempfile.TemporaryDirectory() as folder:
        same, more = build(Path(folder)), build(Path(folder), more_lanes=True)
        largest = max(agreement(peer, size.steps) for peer in (*same, *more))
        candidates, loop = case.gains(size.slice), case.closed_loop(size.steps)
        calls = {"generated": _call(loop, candidates)}
        calls |= {peer.name: lambda p=peer: p.run(candidates, size.steps) for peer in (*same, *more)}
        times = alternate(calls, size.rounds)
    remarks = {"generated": instructions(loop)} | {peer.name: peer.vectorised for peer in (*same, *more)}
    _add_steps(section, times, len(candidates) * size.steps, remarks)
    fastest = min((peer.name for peer in same), key=lambda name: times[name].best)
    factor = ratio(times["generated"], times[fastest])
    section.ratio(f"generated / {fastest} (the fastest with 16 lanes)", factor, at_most(factor, 1.3))
    for peer in more:
        section.ratio(f"generated / {peer.name}", ratio(times["generated"], times[peer.name]), "no aim: other lanes")
    section.notes.append(f"Largest relative difference of all results: {largest:.1e}; steps to divergence are equal.")
    return section


def _add_steps(section: FigureSection, times: dict[str, Timing], count: int, remarks: dict[str, str]) -> None:
    for name, timing in times.items():
        section.time(f"one step, {name}", timing.per(count), "ns", _NS, remarks[name])


def agreement(peer: CompiledLoop, n_steps: int) -> float:
    """Return the largest relative difference from the kernel; raise if it is more than rounding.

    Compared are rollouts that run to the end, with a rest that does not fill a block, and rollouts that diverge.
    """
    candidates, largest = case.gains(1003, seed=1), 0.0
    for initial in (case.INITIAL, (30.0, 0.0)):
        quality = case.closed_loop(n_steps, initial=initial).evaluate(candidates, 1)
        theirs, ours = peer.run(candidates, n_steps, initial), case.table(quality)
        reached = np.where(quality.failed[0], quality.diverged_at[0] / case.STEP, n_steps)
        if not np.array_equal(np.rint(reached), theirs[:, 0]):
            message = f"{peer.name}: rollouts from {initial} do not end at the kernel's steps"
            raise RuntimeError(message)
        largest = max(largest, _check(peer.name, ours, theirs[:, 1:]))
    return largest


def _check(name: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    largest = largest_difference(ours, theirs)
    if not largest <= _AGREEMENT:
        message = f"{name}: results differ from the kernel's by {largest:.1e}, expected at most {_AGREEMENT:g}"
        raise RuntimeError(message)
    return largest


def _call(loop: ClosedLoop, candidates: np.ndarray) -> Callable[[], object]:
    return lambda: loop.evaluate(candidates, 1)


def instructions(loop: ClosedLoop) -> str:
    """Say which floating-point instructions the compiled kernel consists of: the same text is compiled once more."""
    text = machine_code.assembly(loop.kernel.text, ARGUMENTS)
    counts = {
        "512-bit": len(re.findall(r"\bv\w+pd\b.*%zmm", text)),
        "256-bit": len(re.findall(r"\bv\w+pd\b(?!.*%zmm).*%ymm", text)),
        "scalar": len(re.findall(r"\bv?(?:add|sub|mul|fn?m\w*)sd\b", text)),
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) + " instructions"
