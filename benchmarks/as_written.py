"""Plants that cannot be traced: a step of a closed loop as compiled against the slow path, and the first result.

The plants are those of docs/examples/as_written.py, under a PID with RK4. The slow path calls the same functions in
plain Python, step by step, in this process; both are told the same loop, and give the same error integrals.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner.own_process import STATES, cold_and_warm
from benchmarks.runner.report import FigureSection, aim, at_least
from controllers import PID
from experiments.runtime.timing import Timing, alternate, ratio
from plants.adapters.stepped import stepped
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.slow import SlowLoop, crew

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from plants import Plant

FILE = Path(__file__).parents[1] / "docs" / "examples" / "as_written.py"
_TASKS = {  # gains and reference
    "heated_air": ((0.05, 5e-4, 0.3), 25.0),
    "drained_tank": ((0.02, 5e-4, 0.02), 1.2),
    "strapped_vessel": ((0.02, 2e-3, 0.02), 1.3),
}
_RATIO, _COLD = 10.0, 10.0  # times, s
_STEPS, _TOGETHER, _SLOW_STEPS = 1000, 16, 100
_SLOW = {"slow path": 1, f"slow path, {_TOGETHER} side by side": _TOGETHER}


def _loaded() -> dict[str, Plant]:
    warnings.simplefilter("ignore", plants.UntracedWarning)
    return {plant.name: plant for plant in plants.load_plant_file(FILE)}


def measure(name: str) -> dict[str, float]:
    """Return the processor time [s] of this process from the plant file to the first result, and of the second."""
    start, times = time.process_time(), dict[str, float]()
    plant, (gains, reference) = _loaded()[name], _TASKS[name]
    loop = ClosedLoop(plant, PID(), (Situation("step", reference=reference, t_end=10 * plant.step),), plant.step)
    for part in ("first", "second"):
        loop.evaluate(np.array([gains]), 1)
        times[part], start = time.process_time() - start, time.process_time()
    return times


def as_written(size: Size) -> FigureSection:
    """Compare a step, and start cold and warm processes."""
    section = FigureSection("as_written", "Plants as they were written: compiled by numba against plain Python")
    for name, plant in _loaded().items():
        calls, counts = _calls(name, plant)
        times = alternate(calls, max(1, size.rounds // 8), time.process_time)
        per_step = {who: timing.per(counts[who]) for who, timing in times.items()}
        for who, timing in per_step.items():
            section.time(f"{name}: a step, {who}", timing, "ns", 1e9)
        for who in _SLOW:
            found = ratio(per_step[who], per_step["compiled"])
            section.ratio(f"{name}: {who} / compiled", found, at_least(found, _RATIO))
        samples = cold_and_warm("benchmarks.as_written", name, size.repeats)
        for state in STATES:
            timing = Timing(tuple(samples[state, "first"]))
            told = aim(f"at most {_COLD:g} s", met=timing.best <= _COLD) if state == "cold" else ""
            section.time(f"{name}: first result, {state}", timing, "s", remark=told)
    section.notes.append(
        f"Processor time, all in one thread. A step of one rollout: {_TOGETHER} rollouts of {_STEPS} steps in one "
        f"thread; {_SLOW_STEPS} steps by the slow path, whose kernel around the plant is called in every step, for one "
        "rollout or for all of them. Cold: numba is imported and compiles the plant's function, our compiler the "
        "kernel. Warm: both lie in the cache folder, and numba is not imported."
    )
    return section


def _calls(name: str, plant: Plant) -> tuple[dict[str, Any], dict[str, int]]:
    """Both loops, and how many steps a call of each makes."""
    gains, reference = _TASKS[name]
    theta = np.array([gains]) * np.linspace(0.5, 1.5, _TOGETHER)[:, None]
    long, short = (Situation("step", reference=reference, t_end=n * plant.step) for n in (_STEPS, _SLOW_STEPS))
    compiled = ClosedLoop(plant, PID(), (long,), plant.step)
    slow, moved = SlowLoop(stepped(plant), PID(), (short,), plant.step), stepped(plant)

    def run_slow(together: int) -> None:
        with closing(crew(moved, workers=0)) as members:
            slow.evaluate(theta[:together], members)

    calls: dict[str, Any] = {"compiled": lambda: compiled.evaluate(theta, 1)}
    calls |= {who: partial(run_slow, together) for who, together in _SLOW.items()}
    return calls, {"compiled": _STEPS * _TOGETHER} | {who: _SLOW_STEPS * n for who, n in _SLOW.items()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
