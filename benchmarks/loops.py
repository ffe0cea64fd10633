"""Ways to treat an algebraic loop on both oscillators: run time, accuracy, and the published ratios beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import forming_filter, svg
from benchmarks.motions import LOOP_GAIN, MOTIONS, OSCILLATORS, modes, movement
from benchmarks.report import Section, at_most
from benchmarks.timing import Timing, alternate, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.motions import Movement
    from benchmarks.size import Size
    from plants import Plant

# Run time of the loop over the loop-free run time, US 2004/0039555 and WO 2004/012098; none is given for the rest.
PUBLISHED = {
    ("van_der_pol_implicit", "free"): 2.8,
    ("van_der_pol_implicit", "controlled"): 2.7,
    ("nonlinear_inertia", "free"): 4.0,
    ("nonlinear_inertia", "excited"): 3.4,
    ("nonlinear_inertia", "controlled"): 3.3,
}
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


def loops(size: Size) -> Section:
    """Time all ways in turns, for free, excited and controlled motion of both oscillators."""
    section = Section("loops", "Algebraic loops: iterated, solved, loop-free")
    found = {(plant.name, kind): _measured(section, plant, kind, size) for plant in OSCILLATORS for kind in MOTIONS}
    section.figures["loops_run_time.svg"] = svg.figure(run_time_bars(found), 1)
    section.figures["loops_time_complexity.svg"] = svg.figure(_complexity(section, size))
    forming_filter.add_to(section, size)
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


def _measured(section: Section, plant: Plant, kind: str, size: Size) -> dict[str, Timing]:
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


def _complexity(section: Section, size: Size) -> list[svg.Chart]:
    """Run time over the number of steps: one line for each way; its slope is the cost of a step."""
    charts, n = [], max(16, size.slice // 3)
    for plant in OSCILLATORS:
        counts = [size.steps // 4, size.steps // 2, size.steps, 2 * size.steps, 4 * size.steps]
        curves = []
        for mode in modes():
            moved = movement(plant, "free", mode, size.steps)
            best = [_best(moved, n, count, max(2, size.rounds // 32)) for count in counts]
            curves.append(svg.Curve(mode, counts, [1e3 * seconds for seconds in best], dots=True))
            slope = np.polyfit(np.log(counts), np.log(best), 1)[0]
            section.figure(f"{_short(plant.name)}: time grows with steps to the power, {mode}", float(slope), "")
        charts.append(svg.Chart(f"{_short(plant.name)}: time complexity", "steps", f"ms, {n} rollouts", tuple(curves)))
    return charts


def _best(moved: Movement, n: int, n_steps: int, rounds: int) -> float:
    return alternate({"run": lambda: moved.run(n, n_steps)}, rounds)["run"].best
