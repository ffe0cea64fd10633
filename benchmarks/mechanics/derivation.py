"""From a mechanism's declaration to its first compiled step, and what deriving costs beside other tools."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks.runner.own_process import cold_and_warm

if TYPE_CHECKING:
    from benchmarks.runner.report import FigureSection
    from benchmarks.runner.size import Size
    from experiments.runtime.timing import Timing

LARGEST = "cart (3 links)"
AIMS = {"cold": 5.0, "warm": 1.0}  # s, from the declaration to the first step
WAYS = ("computer algebra", "the tape", "SymPy")
_MS = 1e3


def measure(name: str) -> dict[str, float]:
    """Return the times [s] of the parts of a mechanism's first step, in this process."""
    begin = time.perf_counter()
    import plants
    from experiments.reproduce.mechanics.mechanisms import SYSTEMS, start

    imported = time.perf_counter()
    plant = SYSTEMS[name]().build()
    built = time.perf_counter()
    plants.simulate(plant, t_end=1e-3, step=1e-3, initial=start(name, plant))
    stepped = time.perf_counter()
    return {
        "imports": imported - begin,
        "build": built - imported,
        "step": stepped - built,
        "first": stepped - imported,
    }


def first_steps(name: str, rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return times [s] by (cold or warm, part); a new cache folder in every round, each part in its own process.

    Parts: imports, build, step, first (build and step), process (the whole of it).
    """
    return cold_and_warm("benchmarks.mechanics.derivation", name, rounds)


def blocks(name: str, size: Size) -> dict[str, Timing]:
    """Return the times of deriving M, c, A and gam, in turns."""
    from benchmarks.mechanics.peers import Sympy
    from experiments.reproduce.mechanics.mechanisms import SYSTEMS
    from experiments.runtime.timing import alternate
    from plants.mechanics.algebra.blocks import blocks_of
    from plants.mechanics.algebra.calculus import Taped
    from plants.mechanics.algebra.symbolic import Symbolic

    declared = SYSTEMS[name]().declared()
    calculi: tuple[Any, ...] = (Symbolic, Taped, Sympy)
    calls = {way: lambda c=kind: blocks_of(c(declared), declared) for way, kind in zip(WAYS, calculi, strict=True)}
    return alternate(calls, size.repeats)


def kane(size: Size) -> dict[str, Timing]:
    """Return the times of SymPy's own mechanics package on the rolling disk: deriving it, one evaluation."""
    import numpy as np

    from benchmarks.mechanics.peers import RollingDisk
    from experiments.runtime.timing import alternate

    disk, steps = RollingDisk(), 50
    state = np.array([0.0, 0.2, 0.0, 0.0, 6.0 + 0.5 * np.sin(0.2), 0.5 * np.cos(0.2)])
    evaluation = alternate({"": lambda: disk.run(state, steps, 1e-3)}, size.repeats)[""].per(4 * steps)
    return {"derivation": alternate({"": RollingDisk}, size.repeats)[""], "evaluation": evaluation}


def derivation(size: Size) -> FigureSection:
    """Measure first steps and derivations."""
    from experiments.reproduce.mechanics.mechanisms import SYSTEMS

    names = list(SYSTEMS)[: size.plants + 3]
    return section_of(first_steps(LARGEST, size.repeats), {name: blocks(name, size) for name in names}, kane(size))


def section_of(
    steps: dict[tuple[str, str], list[float]], derived: dict[str, dict[str, Timing]], peer: dict[str, Timing]
) -> FigureSection:
    """Put the figures into a section."""
    from benchmarks.runner.report import FigureSection, aim
    from experiments.runtime.timing import Timing, ratio

    section = FigureSection("derivation", "From a mechanism's declaration to its first compiled step")
    for (state, part), seconds in steps.items():
        judged = aim(f"at most {AIMS[state]:g} s", met=min(seconds) <= AIMS[state])
        section.time(f"{LARGEST}, {state}: {part}", Timing(tuple(seconds)), "s", 1.0, judged if part == "first" else "")
    for name, times in derived.items():
        for way, timing in times.items():
            section.time(f"{name}: M, c, A, gam by {way}", timing, "ms", _MS)
        section.ratio(f"{name}: SymPy / computer algebra", ratio(times[WAYS[2]], times[WAYS[0]]))
    section.time("rolling disk by KanesMethod: derivation", peer["derivation"], "s")
    section.time("rolling disk by KanesMethod and lambdify: one evaluation", peer["evaluation"], "µs", 1e6)
    return section


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
