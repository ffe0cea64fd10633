"""Peak memory of one call, for several numbers of candidates and steps, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.size import Size

_MIB = 2**20


def measure(candidates: int, steps: int) -> dict[str, float]:
    """Return the peaks of one call [MiB]: of arrays, counted exactly, and of the process beyond its size before."""
    from benchmarks import case  # noqa: PLC0415  (in the child process only)

    gains = case.gains(candidates)
    case.million(gains[:16], steps, 1)  # compiles: LLVM's memory is not the call's
    tracemalloc.start()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    case.million(gains, steps, 1)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"arrays": tracemalloc.get_traced_memory()[1] / _MIB, "process": (after - before) * 1024 / _MIB,
            "gains": gains.nbytes / _MIB}  # fmt: skip


def memory(size: Size):  # noqa: ANN201
    """Compare: a tenth of the steps, a tenth of the candidates."""
    from benchmarks.report import Section  # noqa: PLC0415

    section = Section("memory", "Peak memory of one call, beyond the gains given")
    n, steps = size.candidates, size.steps
    peaks = {}
    for candidates, length in ((n, steps), (n, steps // 10), (n // 10, steps)):
        peaks[candidates, length] = found = _in_own_process(candidates, length)
        label = f"{candidates:,} candidates x {length:,} steps"
        section.figure(f"{label}: arrays", found["arrays"], "MiB", f"the process grew by {found['process']:.0f} MiB")
    more = peaks[n, steps]["arrays"] / peaks[n, steps // 10]["arrays"]
    section.figure("arrays, ten times the steps", more, "times", "independent of the steps" if more < 1.01 else "GROWS")
    section.figure("arrays for each candidate", peaks[n, steps]["arrays"] * _MIB / n, "bytes", "results and lane tables")
    section.figure("every state of every step, had it been kept", n * steps * 16 / _MIB, "MiB", "for comparison")
    return section


def _in_own_process(candidates: int, steps: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.peak_memory", str(candidates), str(steps)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
