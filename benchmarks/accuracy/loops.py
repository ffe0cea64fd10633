"""Ways to treat an algebraic loop on both oscillators: run time, accuracy, and the published ratios beside.

Work-precision diagrams say what an error costs each way. The nonlinear oscillator as a forming filter: what it makes
of white noise, with the loop and without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.runner.report import FigureSection, aim, at_most
from experiments.report.drawing import svg
from experiments.reproduce import forming_filter
from experiments.reproduce.motions import LOOP_GAIN, MOTIONS, OSCILLATORS, OpenLoop, modes, movement
from experiments.reproduce.registry import claim
from experiments.runtime.timing import Timing, alternate, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.runner.size import Size
    from experiments.reproduce.motions import Movement
    from plants import Plant, Trajectory


def add_to(section: FigureSection, size: Size) -> None:
    """Add the figures of the filter, and how far each way to treat its loop is from the solved one."""
    runs, failed = forming_filter.runs(min(forming_filter.T_END, size.steps * forming_filter.STEP * 6.0))
    section.notes += [f"Forming filter, {mode}: {error}" for mode, error in failed.items()]
    for mode, run in runs.items():
        gap = float(np.abs(run.states - runs[forming_filter.SOLVED].states).max())
        section.figure(f"forming filter, {mode}: largest distance from solved", gap, "m, m/s")
    named = (("with the loop", forming_filter.WITH), ("without", forming_filter.WITHOUT))
    section.figures["forming_filter.svg"] = svg.figure(_panels({w: runs[mode] for w, mode in named if mode in runs}))


def _panels(runs: dict[str, Trajectory]) -> list[svg.Chart]:
    charts = [forming_filter.over_time(runs, name) for name in forming_filter.SIGNALS]
    portraits = [forming_filter.portrait(words, run, k) for k, (words, run) in enumerate(runs.items())]
    return [*charts, *portraits, *_difference(runs)]


def _difference(runs: dict[str, Trajectory]) -> list[svg.Chart]:
    """What leaving out the loop changes; nothing where one of the two diverged."""
    if len(runs) < 2:
        return []
    one, other = runs.values()
    curve = svg.SvgLine("position, with less without", one.time, one["position"] - other["position"], colour=2)
    return [svg.Chart("Difference", "t [s]", "position [m]", (curve,))]


# Run time of the loop over the loop-free run time, US 2004/0039555 and WO 2004/012098; none is given for the rest.
_CLAIMED = {"van_der_pol_implicit": "van_der_pol_run_time", "nonlinear_inertia": "inertia_run_time"}
PUBLISHED = {(plant, kind): ratio for plant, name in _CLAIMED.items() for kind, ratio in claim(name).values.items()}
EXACT, BASE = "solved", "loop_free"
_NS = 1e9
_POSED = (
    f"Van der Pol has no algebraic loop: it is posed implicitly with a loop gain of {LOOP_GAIN:g}. Nonlinear inertia "
    "has the gain a3 q², at most 0.4 for |q| ≤ 1."
)
_FAIR = (
    "Iterated ways iterate outside the lane loop until the slowest of 16 rollouts agrees, a fair baseline; the "
    "published ratios are of one rollout at a time in a block-diagram program."
)


def loops(size: Size) -> FigureSection:
    """Time all ways in turns, for free, excited and controlled motion of both oscillators."""
    section = FigureSection("loops", "Algebraic loops: iterated, solved, loop-free")
    found = {(plant.name, kind): _measured(section, plant, kind, size) for plant in OSCILLATORS for kind in MOTIONS}
    section.figures["loops_run_time.svg"] = svg.figure(run_time_bars(found), 1)
    section.figures["loops_time_complexity.svg"] = svg.figure(_complexity(section, size))
    add_to(section, size)
    section.notes += [_POSED, _FAIR]
    return section


def run_time_bars(found: Mapping[tuple[str, str], dict[str, Timing]]) -> list[svg.Bars]:
    """Run times, and those of the baselines over the loop-free one with the published ratios beside."""
    times, ratios = {}, {}
    for (name, kind), measured in found.items():
        label, base = f"{_short(name)}, {kind}", measured[BASE].best
        times[label] = {mode: _NS * timing.best for mode, timing in measured.items()}
        ratios[label] = {f"{mode} / {BASE}": t.best / base for mode, t in measured.items() if _iterates(mode)}
        if (name, kind) in PUBLISHED:
            ratios[label]["published"] = PUBLISHED[name, kind]
    return [svg.Bars("Run time", "ns per step and rollout", times), svg.Bars("Ratios", "run time / loop-free", ratios)]


def _short(name: str) -> str:
    return {"van_der_pol_implicit": "Van der Pol", "nonlinear_inertia": "inertia"}.get(name, name)


def _measured(section: FigureSection, plant: Plant, kind: str, size: Size) -> dict[str, Timing]:
    """Add rows of one kind of motion; return times per step and rollout by mode."""
    n, n_steps = size.slice // 2, size.steps
    runs = {mode: movement(plant, kind, mode, n_steps) for mode in modes()}
    ends = {mode: moved.run(n, n_steps) for mode, moved in runs.items()}
    times = alternate({m: lambda r=r: r.run(n, n_steps) for m, r in runs.items()}, max(2, size.rounds // 8))
    label = f"{_short(plant.name)}, {kind}"
    for mode, timing in times.items():
        remark = _accuracy(mode, ends, n_steps)
        section.time(f"{label}: one step, {mode}", timing.per(n * n_steps), "ns", _NS, remark)
    for mode in times:
        if _iterates(mode):
            published = PUBLISHED.get((plant.name, kind))
            remark = f"published: {published:g}" if published else "published: none"
            section.ratio(f"{label}: {mode} / {BASE}", ratio(times[mode], times[BASE]), remark)
    solved = ratio(times[EXACT], times[BASE])
    section.ratio(f"{label}: {EXACT} / {BASE}", solved, at_most(solved, 1.3))
    return {mode: timing.per(n * n_steps) for mode, timing in times.items()}


def _iterates(mode: str) -> bool:
    """Whether a way to treat the loop is a baseline: neither solved nor loop-free."""
    return mode != EXACT and not mode.startswith(BASE)


def _accuracy(mode: str, ends: dict[str, tuple[np.ndarray, np.ndarray]], n_steps: int) -> str:
    """Say how far the states at the end are from those of the solved loop, and how many rollouts diverged."""
    (states, steps), (exact, _) = ends[mode], ends[EXACT]
    lost = int(np.sum(steps < n_steps))
    alive = steps == n_steps
    gap = float(np.abs(states[alive] - exact[alive]).max()) if alive.any() else float("nan")
    words = "the reference" if mode == EXACT else f"at the end {gap:.1e} from solved"
    return f"{words}; {lost} of {len(steps)} diverged" if lost else words


def _complexity(section: FigureSection, size: Size) -> list[svg.Chart]:
    """Run time over the number of steps: one line for each way; its slope is the cost of a step."""
    charts, n = [], max(16, size.slice // 3)
    for plant in OSCILLATORS:
        counts = [size.steps // 4, size.steps // 2, size.steps, 2 * size.steps, 4 * size.steps]
        curves = []
        for mode in modes():
            moved = movement(plant, "free", mode, size.steps)
            best = [_best(moved, n, count, max(2, size.rounds // 32)) for count in counts]
            curves.append(svg.SvgLine(mode, counts, [1e3 * seconds for seconds in best], dots=True))
            slope = np.polyfit(np.log(counts), np.log(best), 1)[0]
            section.figure(f"{_short(plant.name)}: time grows with steps to the power, {mode}", float(slope), "")
        charts.append(svg.Chart(f"{_short(plant.name)}: time complexity", "steps", f"ms, {n} rollouts", tuple(curves)))
    return charts


def _best(moved: Movement, n: int, n_steps: int, rounds: int) -> float:
    return alternate({"run": lambda: moved.run(n, n_steps)}, rounds)["run"].best


_HORIZON, _FINEST = 10.0, 20_000  # s, steps of the reference: 80 times as many as the fewest
_COUNTS = (250, 500, 1000, 2000, 4000)
_ROLLOUTS = 1024


def work_precision(size: Size) -> FigureSection:
    """Measure error and time for several steps; say whether the solved form is better at equal time."""
    section = FigureSection("work_precision", "Work and precision, free motion")
    charts = []
    for plant in OSCILLATORS:
        moved = {mode: OpenLoop(plant, mode) for mode in modes()}
        exact = moved[EXACT].run(_ROLLOUTS, _FINEST, _HORIZON / _FINEST)[0]
        errors = {(mode, n): _error(run, n, exact) for mode, run in moved.items() for n in _COUNTS}
        times = _times(moved, size)
        curves = [
            svg.SvgLine(
                mode, [1e3 * times[mode, n].best for n in _COUNTS], [errors[mode, n] for n in _COUNTS], dots=True
            )
            for mode in moved
        ]
        title, y = f"{plant.name}: {_ROLLOUTS} rollouts of {_HORIZON:g} s", "largest error of a state at the end"
        charts.append(svg.Chart(title, "run time [ms]", y, tuple(curves), log_x=True, log_y=True, height=420.0))
        _add(section, plant, times, errors)
    section.figures["work_precision.svg"] = svg.figure(charts)
    section.notes.append(f"Reference: the solved form with {_FINEST:,} steps of RK4.")
    return section


def _error(run: OpenLoop, n_steps: int, exact: np.ndarray) -> float:
    """Largest error of any state at the end; infinite where a rollout diverged."""
    states, steps = run.run(_ROLLOUTS, n_steps, _HORIZON / n_steps)
    return float(np.abs(states - exact).max()) if np.all(steps == n_steps) else float("inf")


def _times(moved: dict[str, OpenLoop], size: Size) -> dict[tuple[str, int], Timing]:
    found = {}
    for n in _COUNTS:
        calls = {mode: lambda r=run, n=n: r.run(_ROLLOUTS, n, _HORIZON / n) for mode, run in moved.items()}
        found |= {(mode, n): timing for mode, timing in alternate(calls, max(2, size.rounds // 16)).items()}
    return found


def _add(
    section: FigureSection, plant: Plant, times: dict[tuple[str, int], Timing], errors: dict[tuple[str, int], float]
) -> None:
    for (mode, n), error in errors.items():
        milliseconds = 1e3 * times[mode, n].best
        section.figure(f"{plant.name}, {mode}, {n:,} steps: error", error, "m, m/s", f"{milliseconds:.3g} ms")
    each = ratio(times[EXACT, _COUNTS[-1]], times[BASE, _COUNTS[-1]])
    section.ratio(f"{plant.name}: {EXACT} / {BASE}, a step", each, at_most(each, 1.3))
    # At equal time: the most exact loop-free run against the fewest solved steps that take no longer than it.
    limit, theirs = times[BASE, _COUNTS[-1]].best, errors[BASE, _COUNTS[-1]]
    ours = min((errors[EXACT, n] for n in _COUNTS if times[EXACT, n].best <= limit), default=float("inf"))
    remark = aim("above 1", met=theirs > ours)
    section.figure(f"{plant.name}: error of {BASE} / error of {EXACT}, at most equal time", theirs / ours, "", remark)
