"""Time to the first result of a fresh process: with an empty kernel cache (cold) and with a filled one (warm)."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.runner.own_process import STATES, cold_and_warm

if TYPE_CHECKING:
    from benchmarks.runner.report import FigureSection
    from benchmarks.runner.size import Size

_PARTS = {
    "imports": "imports (numpy and the packages)",
    "tracing": "tracing and printing the kernel",
    "first": "first call (compiling, or loading machine code)",
    "second": "second call",
    "process": "the whole process",
}
_AIMS = {"cold": 10.0, "warm": 1.0}  # s, for every plant


def measure(name: str) -> dict[str, float]:
    """Return the times [s] of the parts of one small evaluation of a plant under PID, in this process."""
    times, start = {}, time.perf_counter()
    import numpy as np

    import plants
    from controllers import PID
    from sscq import Situation
    from sscq.loop.closed_loop import ClosedLoop

    def lap(part: str) -> None:
        nonlocal start
        now = time.perf_counter()
        times[part], start = now - start, now

    lap("imports")
    plant = plants.find(name)
    loop = ClosedLoop(plant, PID(), (Situation("step", t_end=0.1),), 1e-3)
    candidates = np.full((16, 3 * len(plant.channels)), 0.1)
    lap("tracing")
    for part in ("first", "second"):
        loop.evaluate(candidates, 1)
        lap(part)
    return times


def start(size: Size) -> FigureSection:
    """Run cold and warm processes in turns: one plant in all its parts, all others as a whole."""
    import plants
    from benchmarks.runner.report import FigureSection
    from experiments.runtime.timing import Timing

    section = FigureSection("start", "Cold and warm start to the first result")
    first = "van_der_pol"
    samples = cold_and_warm("benchmarks.engine.first_result", first, size.repeats)
    for (state, part), seconds in samples.items():
        section.time(f"{state}: {_PARTS[part]}", Timing(tuple(seconds)), "s")
    pairs = zip(samples["cold", "first"], samples["warm", "first"], strict=True)
    compiling = Timing(tuple(cold - warm for cold, warm in pairs))
    section.time("compile time", compiling, "s", remark="cold less warm first call")
    whole = {first: {state: min(samples[state, "process"]) for state in STATES}}
    for name in plants.names()[: size.plants]:
        if name != first:
            found = cold_and_warm("benchmarks.engine.first_result", name, 1)
            whole[name] = {state: found[state, "process"][0] for state in STATES}
    for state in STATES:
        _add_slowest(section, state, {name: times[state] for name, times in whole.items()})
    return section


def _add_slowest(section: FigureSection, state: str, seconds: dict[str, float]) -> None:
    """Add a row for each plant's whole process, the slowest first, with the aim beside it."""
    for name, value in sorted(seconds.items(), key=lambda pair: -pair[1]):
        verdict = "met" if value <= _AIMS[state] else "MISSED"
        section.figure(f"{state}, {name}: the whole process", value, "s", f"aim: at most {_AIMS[state]:g} s, {verdict}")


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
