"""Work-precision diagrams: what an error costs, for each way to treat an algebraic loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import svg
from benchmarks.loops import BASE, EXACT
from benchmarks.motions import OSCILLATORS, OpenLoop, modes
from benchmarks.report import Section, at_most
from benchmarks.timing import alternate, ratio

if TYPE_CHECKING:
    from benchmarks.size import Size
    from benchmarks.timing import Timing
    from plants import Plant

_T_END, _FINEST = 10.0, 20_000  # s, steps of the reference: 80 times as many as the fewest
_COUNTS = (250, 500, 1000, 2000, 4000)
_ROLLOUTS = 1024


def work_precision(size: Size) -> Section:
    """Measure error and time for several steps; say whether the solved form is better at equal time."""
    section = Section("work_precision", "Work and precision, free motion")
    charts = []
    for plant in OSCILLATORS:
        moved = {mode: OpenLoop(plant, mode) for mode in modes()}
        exact = moved[EXACT].run(_ROLLOUTS, _FINEST, _T_END / _FINEST)[0]
        errors = {(mode, n): _error(run, n, exact) for mode, run in moved.items() for n in _COUNTS}
        times = _times(moved, size)
        curves = [
            svg.Curve(mode, [1e3 * times[mode, n].best for n in _COUNTS], [errors[mode, n] for n in _COUNTS], dots=True)
            for mode in moved
        ]
        title, y = f"{plant.name}: {_ROLLOUTS} rollouts of {_T_END:g} s", "largest error of a state at the end"
        charts.append(svg.Chart(title, "run time [ms]", y, tuple(curves), log_x=True, log_y=True, height=420.0))
        _add(section, plant, times, errors)
    section.figures["work_precision.svg"] = svg.figure(charts)
    section.notes.append(f"Reference: the solved form with {_FINEST:,} steps of RK4.")
    return section


def _error(run: OpenLoop, n_steps: int, exact: np.ndarray) -> float:
    """Largest error of any state at the end; infinite where a rollout diverged."""
    states, steps = run.run(_ROLLOUTS, n_steps, _T_END / n_steps)
    return float(np.abs(states - exact).max()) if np.all(steps == n_steps) else float("inf")


def _times(moved: dict[str, OpenLoop], size: Size) -> dict[tuple[str, int], Timing]:
    found = {}
    for n in _COUNTS:
        calls = {mode: lambda r=run, n=n: r.run(_ROLLOUTS, n, _T_END / n) for mode, run in moved.items()}
        found |= {(mode, n): timing for mode, timing in alternate(calls, max(2, size.rounds // 16)).items()}
    return found


def _add(
    section: Section, plant: Plant, times: dict[tuple[str, int], Timing], errors: dict[tuple[str, int], float]
) -> None:
    for (mode, n), error in errors.items():
        milliseconds = 1e3 * times[mode, n].best
        section.figure(f"{plant.name}, {mode}, {n:,} steps: error", error, "m, m/s", f"{milliseconds:.3g} ms")
    each = ratio(times[EXACT, _COUNTS[-1]], times[BASE, _COUNTS[-1]])
    section.ratio(f"{plant.name}: {EXACT} / {BASE}, a step", each, at_most(each, 1.3))
    # At equal time: the most exact loop-free run against the fewest solved steps that take no longer than it.
    limit, theirs = times[BASE, _COUNTS[-1]].best, errors[BASE, _COUNTS[-1]]
    ours = min((errors[EXACT, n] for n in _COUNTS if times[EXACT, n].best <= limit), default=float("inf"))
    remark = f"aim: above 1, {'met' if theirs > ours else 'MISSED'}"
    section.figure(f"{plant.name}: error of {BASE} / error of {EXACT}, at most equal time", theirs / ours, "", remark)
