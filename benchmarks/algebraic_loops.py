"""What the ways to treat an algebraic loop cost: the same closed loop solved, iterated and loop-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import plants
from benchmarks import case
from benchmarks.report import Section
from benchmarks.timing import alternate, ratio
from controllers import PID
from sscq import Situation, record
from sscq.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.size import Size

MODES = ("solved", "loop_free", "iterated", "iterated_exact", "gauss_seidel")
_PLANT = plants.get("nonlinear_inertia")
_AGREEMENT = 1e-6  # relative; accelerations are good to 1e-10 (1 + |a|), and the limited loop forgets


def algebraic_loops(size: Size) -> Section:
    """Time the nonlinear-inertia oscillator under PID in every way, and count evaluations of its equations."""
    section = Section("algebraic_loops", "One plant's algebraic loop: solved, loop-free, iterated")
    candidates = case.gains(size.slice // 4)
    situation = Situation("step", reference=1.0, initial=case.INITIAL, t_end=size.steps * case.STEP)
    loops = {mode: _loop(mode, situation) for mode in MODES}
    times = alternate({mode: _call(loop, candidates) for mode, loop in loops.items()}, size.rounds // 4)
    tables = {mode: case.table(loop.evaluate(candidates, 1)) for mode, loop in loops.items()}
    for mode, timing in times.items():
        if mode != "loop_free" and not np.allclose(tables[mode], tables["solved"], rtol=_AGREEMENT):
            message = f"{mode}: results differ from the solved loop's by more than {_AGREEMENT:g}"
            raise RuntimeError(message)
        run = record(_PLANT, PID(), candidates[0], situation, case.STEP, algebraic_loop=mode)
        section.counts[f"{mode}, evaluations a step"] = run.evaluations / size.steps
        section.time(f"one step, {mode}", timing.per(len(candidates) * size.steps), "ns", 1e9, str(run.loop))
    for mode in MODES[1:]:
        section.ratio(f"{mode} / solved", ratio(times[mode], times["solved"]))
    section.ratio("iterated / loop_free", ratio(times["iterated"], times["loop_free"]), "published: 2 to 4")
    return section


def _loop(mode: str, situation: Situation) -> ClosedLoop:
    return ClosedLoop(_PLANT, PID(), (situation,), case.STEP, algebraic_loop=mode, measures=case.MEASURES)


def _call(loop: ClosedLoop, candidates: np.ndarray) -> Callable[[], object]:
    return lambda: loop.evaluate(candidates, 1)
