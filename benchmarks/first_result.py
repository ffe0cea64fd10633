"""Time to the first result of a fresh process: with an empty kernel cache (cold) and with a filled one (warm)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.report import Section
    from benchmarks.size import Size

_PARTS = {
    "imports": "imports (numpy and the packages)",
    "tracing": "tracing and printing the kernel",
    "first": "first call (numba's import; compiling or loading)",
    "second": "second call",
    "process": "the whole process",
}


def measure() -> dict[str, float]:
    """Return the times [s] of the parts of one small evaluation, in this process."""
    times, start = {}, time.perf_counter()
    from benchmarks import case

    def lap(name: str) -> None:
        nonlocal start
        now = time.perf_counter()
        times[name], start = now - start, now

    lap("imports")
    loop, candidates = case.closed_loop(), case.gains(16)
    lap("tracing")
    for name in ("first", "second"):
        loop.evaluate(candidates, 1)
        lap(name)
    return times


def start(size: Size) -> Section:
    """Run cold and warm processes in turns."""
    from benchmarks.report import Section
    from benchmarks.timing import Timing

    section = Section("start", "Cold and warm start to the first result")
    samples: dict[tuple[str, str], list[float]] = {}
    for _ in range(size.repeats):
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "warm"):
                for part, seconds in _in_own_process(cache).items():
                    samples.setdefault((state, part), []).append(seconds)
    for (state, part), seconds in samples.items():
        section.time(f"{state}: {_PARTS[part]}", Timing(tuple(seconds)), "s")
    pairs = zip(samples["cold", "first"], samples["warm", "first"], strict=True)
    compiling = Timing(tuple(cold - warm for cold, warm in pairs))
    section.time("compile time", compiling, "s", remark="cold less warm first call")
    return section


def _in_own_process(cache: str) -> dict[str, float]:
    command, root = [sys.executable, "-m", "benchmarks.first_result"], Path(__file__).parents[1]
    begin = time.perf_counter()
    environment = os.environ | {"SSCQ_CACHE": cache}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout) | {"process": time.perf_counter() - begin}


if __name__ == "__main__":
    print(json.dumps(measure()))
