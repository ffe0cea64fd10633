"""How the cost grows with candidates, steps, states and threads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case
from benchmarks.engine.case import chain
from benchmarks.runner.report import FigureSection
from experiments.report.drawing import svg
from experiments.runtime.timing import Timing, alternate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.runner.size import Size

_MASSES = (1, 3, 5, 7, 9, 12)  # 2 to 24 states
_CANDIDATES = (1, 4, 16, 64, 256, 1024, 4096)
_SHARES = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the usual number of steps


def scaling(size: Size) -> FigureSection:
    """Time one call, with one of the four changed at a time."""
    section = FigureSection("scaling", "Scaling with candidates, steps, states and threads")
    panels = [_candidates(section, size), _steps(section, size), _states(section, size), _threads(section, size)]
    section.figures["scaling.svg"] = svg.figure(panels)
    return section


def _series(
    section: FigureSection, what: str, counts: Sequence[int], call: Callable[[int], object],
    work: Callable[[int], float],
    size: Size,
) -> list[Timing]:  # fmt: skip
    """Add the time of a step for each count; `work` gives the steps of all rollouts in one call."""
    found = []
    for count in counts:
        rounds = max(1, size.rounds // 16)
        timing = alternate({"call": lambda c=count: call(c)}, rounds)["call"].per(work(count))
        section.time(f"one step, {count:,} {what}", timing, "ns", 1e9)
        found.append(timing)
    return found


def _candidates(section: FigureSection, size: Size) -> svg.Chart:
    loop, counts = case.closed_loop(size.steps), [n for n in _CANDIDATES if n <= 2 * size.slice]
    gains = case.gains(max(counts))
    times = _series(
        section, "candidates", counts, lambda n: loop.evaluate(gains[:n], 1), lambda n: n * size.steps, size
    )
    return _chart("Candidates", "candidates in one call", counts, times)


def _steps(section: FigureSection, size: Size) -> svg.Chart:
    gains, counts = case.gains(128), [max(10, round(share * size.steps)) for share in _SHARES]
    loop = case.closed_loop(max(counts))
    run = loop.run
    times = _series(
        section, "steps", counts, lambda n: run(gains, [0], n_steps=n, threads=1), lambda n: n * len(gains), size
    )
    return _chart("Steps", "steps", counts, times)


def _states(section: FigureSection, size: Size) -> svg.Chart:
    loops = {2 * n: case.loop_of(chain(n), size.steps) for n in _MASSES}
    gains = case.gains(128) * np.array([1.0, 0.25, 1.0])
    work = len(gains) * size.steps
    times = _series(section, "states", list(loops), lambda n: loops[n].evaluate(gains, 1), lambda _: work, size)
    slope = np.polyfit(np.log(list(loops)), np.log([t.best for t in times]), 1)[0]
    section.figure("time of a step grows with states to the power", float(slope), "", "chain of masses")
    return _chart("States (chain of masses)", "states", list(loops), times)


def _threads(section: FigureSection, size: Size) -> svg.Chart:
    most = len(os.sched_getaffinity(0))
    counts = sorted({1, *(2**k for k in range(1, most.bit_length()) if 2**k <= most), most})
    n = min(size.candidates, 20 * size.slice)
    gains, loop = case.gains(n), case.closed_loop(size.steps)
    times = _series(
        section, "threads", counts, lambda threads: loop.evaluate(gains, threads), lambda _: n * size.steps, size
    )
    gain = times[0].best / times[-1].best
    section.figure(f"{most} threads against one", gain, "times", "no more than the machine's idle cores allow")
    ideal = [1e9 * times[0].best / count for count in counts]
    curves = (_curve("measured", counts, times), svg.SvgLine("ideal", counts, ideal, dashed=True))
    return svg.Chart("Threads", "threads", "ns per step and rollout", curves, log_x=True, log_y=True)


def _curve(name: str, counts: Sequence[int], times: Sequence[Timing]) -> svg.SvgLine:
    return svg.SvgLine(name, list(counts), [1e9 * timing.best for timing in times], dots=True)


def _chart(title: str, label: str, counts: Sequence[int], times: Sequence[Timing]) -> svg.Chart:
    curve = _curve("best", counts, times)
    return svg.Chart(title, label, "ns per step and rollout", (curve,), log_x=True, log_y=True)
