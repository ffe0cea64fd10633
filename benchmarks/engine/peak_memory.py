"""Peak memory of one call, for several numbers of candidates and steps, each in a process of its own."""

from __future__ import annotations

import json
import re
import resource
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engine import case
from benchmarks.runner.own_process import result_of
from benchmarks.runner.report import FigureSection

if TYPE_CHECKING:
    from benchmarks.runner.size import Size

_MIB = 2**20


def measure(candidates: int, steps: int) -> dict[str, float]:
    """Return peaks [MiB]: of the arrays of one call, counted exactly; of the process, up to the call and after it."""
    gains = case.gains(candidates)
    case.million(gains[:16], steps, 1)  # compiles: LLVM's memory is not the call's
    tracemalloc.start()
    before = resident()
    case.million(gains, steps, 1)
    return {"arrays": tracemalloc.get_traced_memory()[1] / _MIB, "before": before, "after": resident()}


def resident() -> float:
    """Return the largest resident size of this process so far [MiB].

    From the system's own account where there is one: getrusage also counts what the parent process had.
    """
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.is_file() else None
    return int(found.group(1) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def memory(size: Size) -> FigureSection:
    """Compare: a tenth of the steps, a tenth of the candidates."""
    section = FigureSection("memory", "Peak memory of one call, beyond the gains given")
    n, steps = size.candidates, size.steps
    peaks = {}
    for candidates, length in ((n, steps), (n, steps // 10), (n // 10, steps)):
        peaks[candidates, length] = found = result_of("benchmarks.engine.peak_memory", candidates, length)
        label = f"{candidates:,} candidates x {length:,} steps"
        process = f"the process: at most {found['before']:.0f} MiB before, {found['after']:.0f} MiB after"
        section.figure(f"{label}: arrays", found["arrays"], "MiB", process)
    more = peaks[n, steps]["arrays"] / peaks[n, steps // 10]["arrays"]
    section.figure("arrays, ten times the steps", more, "times", "independent of the steps" if more < 1.01 else "GROWS")
    each = peaks[n, steps]["arrays"] * _MIB / n
    section.figure("arrays for each candidate", each, "bytes", "results and lane tables")
    section.figure("every state of every step, had it been kept", n * steps * 16 / _MIB, "MiB", "for comparison")
    return section


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
