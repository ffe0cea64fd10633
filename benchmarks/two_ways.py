"""Computer algebra against derivatives on the tape: operations, time to derive, time of one evaluation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import arms
from benchmarks.motions import OpenLoop
from benchmarks.report import Section
from benchmarks.timing import alternate, ratio
from plants.core.integrators import EVALUATIONS
from plants.core.kernel import LANES
from plants.mechanics.deriving.symbolic import Symbolic
from plants.mechanics.deriving.taped import Taped
from plants.mechanics.forms.reduced import reduced

if TYPE_CHECKING:
    from benchmarks.size import Size
    from plants import Mechanism
    from plants.mechanics.declaring.declared import Declaration

STEP, STEPS = 1e-4, 200  # s
WAYS = ("symbols", "tape")
CALCULI = {
    "symbols, normal form": Symbolic,
    "symbols, as derived": lambda declared: Symbolic(declared, trigonometric=False),
    "tape": Taped,
}
SYSTEMS = {
    **{f"cart, {n} plane links": (arms.chain, n) for n in (1, 2, 4, 6, 9)},
    **{f"arm, {n} joints": (arms.arm, n) for n in (2, 3, 4, 5, 6)},
}
_QUICK = 2  # a quick run has systems of at most as many links


def two_ways(size: Size) -> Section:
    """Derive every system in both ways, and step what came out."""
    section = Section("two_ways", "Deriving equations of motion: computer algebra, or derivatives on the tape")
    for name, (make, n) in SYSTEMS.items():
        if size.repeats > 1 or n <= _QUICK:
            _derive(section, name, make(n).declared())
            _step(section, name, make(n), size)
    section.notes.append(
        "Operations of one evaluation of all rates, L D L' included, after sharing common parts; time to derive with "
        "sharing included, once. One evaluation: RK4 steps of 16 lanes in the project's kernels, in turns; computer "
        "algebra with the better of its two forms. Joints of the arm turn about z and y in turns."
    )
    return section


def _derive(section: Section, name: str, declared: Declaration) -> None:
    for way, calculus in CALCULI.items():
        begin = time.perf_counter()
        reduced(calculus(declared), declared).condensed()
        section.figure(f"{name}: {way}, to derive", time.perf_counter() - begin, "s")


def _step(section: Section, name: str, mech: Mechanism, size: Size) -> None:
    calls: dict[str, Any] = {}
    for way in WAYS:
        plant = mech.build("free", derivatives=way, check=False, step=STEP)
        for which, count in plant.equations.facts["operations"].items():
            section.figure(f"{name}: {which}", count, "operations")
        run, n = OpenLoop(plant, "solved", lanes=LANES), len(plant.states) // 2
        states = np.tile(np.r_[np.full(n, 0.3), np.full(n, 0.1)], (2 * LANES, 1))
        calls[way] = lambda r=run, x=states: r.run(len(x), STEPS, STEP, x)
    ends = [call()[0] for call in calls.values()]
    if not np.allclose(ends[0], ends[1], rtol=1e-8, atol=1e-8):
        message = f"{name}: the two ways move differently"
        raise RuntimeError(message)
    times = alternate(calls, max(2, size.rounds // 2))
    evaluations = 2 * LANES * STEPS * EVALUATIONS["rk4"]
    for way, timing in times.items():
        section.time(f"{name}: one evaluation, {way}", timing.per(evaluations), "ns", 1e9)
    section.ratio(f"{name}: time of computer algebra / tape", ratio(times["symbols"], times["tape"]))
