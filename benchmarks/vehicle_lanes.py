"""The balancing vehicle's own step, and the equations by the Rosenbrock method: sixteen lanes against one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import vehicle_runs
from benchmarks.report import Section, at_least
from benchmarks.timing import alternate, ratio
from benchmarks.vehicle_schemes import SCHEMES
from plants.balancing_vehicle import NOMINAL_GAINS
from plants.core.kernel import LANES

if TYPE_CHECKING:
    from benchmarks.size import Size

AIM = 3.0  # times one lane
SHOWN = (next(iter(SCHEMES)), "rosenbrock")


def vehicle_lanes(size: Size) -> Section:
    """Time the taught situations in closed loop, in turns on one thread."""
    section = Section("vehicle_lanes", "Stiff friction in lanes: the balancing vehicle in closed loop")
    theta = np.tile(NOMINAL_GAINS, (LANES, 1))
    loops = {(name, n): vehicle_runs.loop(*SCHEMES[name](), n) for name in SHOWN for n in (LANES, 1)}
    calls = {f"{name}, {n}": lambda it=it: it.evaluate(theta, 1) for (name, n), it in loops.items()}
    times = alternate(calls, max(2, size.rounds // 20))
    for name in SHOWN:
        for n in (LANES, 1):
            each = times[f"{name}, {n}"].per(LANES * vehicle_runs.STEPS_OF_TAUGHT)
            section.time(f"one step, {name}, lanes: {n}", each, "ns", 1e9)
        factor = ratio(times[f"{name}, 1"], times[f"{name}, {LANES}"])
        section.ratio(f"{name}: one lane / {LANES} lanes", factor, at_least(factor, AIM))
    return section
