"""What the same loop costs in the usual ways: arrays over candidates, a Python loop a candidate, an ODE solver.

Context, not opponents: nobody claims that these are fast.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case, closed_loop
from benchmarks.runner.report import FigureSection
from experiments.runtime.timing import Timing, alternate, clock, ratio

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from sscq.loop.closed_loop import ClosedLoop

_MU = case.PLANT.parameters[0].nominal
_MANY, _FEW = 1000, 20  # candidates
_AGREEMENT = 1e-9  # relative, as for the loop in C
_LOOSE = 0.02  # relative, of the solver: it closes the loop in continuous time


def peers(size: Size) -> FigureSection:
    """Time each way in turns with the kernel."""
    section = FigureSection("python_peers", "The same loop in the usual ways (context)")
    many, few, loop = case.gains(_MANY), case.gains(_FEW), case.closed_loop(size.steps)
    check(loop, few, size.steps)
    calls = {
        "kernel": lambda: loop.evaluate(many, 1),
        "NumPy arrays over candidates": lambda: numpy_loops(many, size.steps),
        "a Python loop for each individual": lambda: deap_loops(few, size.steps),
    }
    times = alternate(calls, max(1, size.rounds // 25))
    for (name, timing), n in zip(times.items(), (_MANY, _MANY, _FEW), strict=True):
        times[name] = step = timing.per(n * size.steps)
        section.time(f"one step, {name} ({n:,} candidates)", step, "ns", 1e9)
        if name != "kernel":
            section.ratio(f"{name} / kernel", ratio(step, times["kernel"]))
    _add_solver(section, size)
    return section


def check(loop: ClosedLoop, gains: np.ndarray, n_steps: int) -> None:
    """Raise if the loops in Python do not give the kernel's results."""
    ours = case.table(loop.evaluate(gains, 1))
    for run in (numpy_loops, deap_loops):
        difference = closed_loop.largest_difference(ours, run(gains, n_steps))
        if not difference <= _AGREEMENT:
            message = f"{run.__name__} differs from the kernel by {difference:.1e}, expected at most {_AGREEMENT:g}"
            raise RuntimeError(message)


def numpy_loops(gains: np.ndarray, n_steps: int) -> np.ndarray:
    """Return the measures [candidate, 3]: one array operation at a time over all candidates."""
    (kp, ki, kd), h = gains.T, case.STEP
    (low, high), (farthest, fastest) = case.limits(), case.region()
    q, v = (np.full(len(gains), value) for value in case.INITIAL)
    w, before, alive = np.zeros(len(gains)), None, np.ones(len(gains), bool)
    iae, difference, travel = np.zeros((3, len(gains)))
    for _ in range(n_steps):
        e = case.REFERENCE - q
        demand = kp * e + w - kd * v
        u, growth = np.clip(demand, low, high), h * ki * e
        w += np.where(((demand < high) | (growth < 0.0)) & ((demand > low) | (growth > 0.0)), growth, 0.0)
        iae += np.where(alive, h * np.abs(e), 0.0)
        difference += np.where(alive, h * np.abs(_MU * (q * q - 1.0) * v * v - kd * v * v), 0.0)
        travel += np.where(alive, np.abs(u - before), 0.0) if before is not None else 0.0
        before = u
        new = _runge_kutta(q, v, u, h)
        alive &= (np.abs(new[0]) < farthest) & (np.abs(new[1]) < fastest)
        q, v = np.where(alive, new[0], q), np.where(alive, new[1], v)
    return np.stack([iae, difference, travel], axis=1)


def _runge_kutta(q, v, u, h):
    """One step of position and velocity; numbers or arrays."""
    a1 = _MU * (1.0 - q * q) * v - q + u
    q2, v2 = q + 0.5 * h * v, v + 0.5 * h * a1
    a2 = _MU * (1.0 - q2 * q2) * v2 - q2 + u
    q3, v3 = q + 0.5 * h * v2, v + 0.5 * h * a2
    a3 = _MU * (1.0 - q3 * q3) * v3 - q3 + u
    q4, v4 = q + h * v3, v + h * a3
    a4 = _MU * (1.0 - q4 * q4) * v4 - q4 + u
    return q + h / 6.0 * (v + 2.0 * (v2 + v3) + v4), v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)


def deap_loops(gains: np.ndarray, n_steps: int) -> np.ndarray:
    """Return the measures [candidate, 3]: a function of one individual, mapped over the population as DEAP does."""
    from deap import base

    toolbox = base.Toolbox()
    toolbox.register("evaluate", python_loop, n_steps=n_steps)
    return np.array(list(toolbox.map(toolbox.evaluate, gains.tolist())))


def python_loop(individual: list[float], n_steps: int) -> tuple[float, float, float]:
    """Return the measures of one individual, in plain Python."""
    (kp, ki, kd), (q, v), h = individual, case.INITIAL, case.STEP
    (low, high), (farthest, fastest) = case.limits(), case.region()
    w = iae = difference = travel = 0.0
    before = None
    for _ in range(n_steps):
        e = case.REFERENCE - q
        demand = kp * e + w - kd * v
        u, growth = min(max(demand, low), high), h * ki * e
        if (demand < high or growth < 0.0) and (demand > low or growth > 0.0):
            w += growth
        iae += h * abs(e)
        difference += h * abs(_MU * (q * q - 1.0) * v * v - kd * v * v)
        travel += abs(u - before) if before is not None else 0.0
        before = u
        q_new, v_new = _runge_kutta(q, v, u, h)
        if not (abs(q_new) < farthest and abs(v_new) < fastest):
            break
        q, v = q_new, v_new
    return iae, difference, travel


def _add_solver(section: FigureSection, size: Size) -> None:
    """One candidate with scipy's RK45 in continuous time; its integral of |e| has to be near ours."""
    if importlib.util.find_spec("scipy") is None:
        section.notes.append("solve_ivp skipped: scipy is not installed.")
        return
    gains = case.gains(1)
    quality, solution = case.closed_loop(size.steps).evaluate(gains, 1), solve(gains[0], size.steps)
    if abs(solution.y[3, -1] / quality.iae[0, 0] - 1.0) > _LOOSE:
        message = f"solve_ivp: integral of |e| {solution.y[3, -1]:g}, the kernel has {quality.iae[0, 0]:g}"
        raise RuntimeError(message)
    timing = Timing(tuple(clock(lambda: solve(gains[0], size.steps)) for _ in range(size.repeats)))
    section.time("one loop, scipy's solve_ivp (RK45, rtol 1e-6)", timing, "ms", 1e3)
    section.counts = {"derivatives of solve_ivp": solution.nfev, "derivatives of the kernel": 4 * size.steps}


def solve(gains: np.ndarray, n_steps: int):
    """Return scipy's solution; states q, q', integral of the law, integral of |e|, of the entropy rates' difference."""
    from scipy.integrate import solve_ivp

    (kp, ki, kd), (low, high) = gains.tolist(), case.limits()

    def rates(_: float, x: np.ndarray) -> tuple[float, ...]:
        q, v, w = x[:3].tolist()
        e = case.REFERENCE - q
        demand = kp * e + w - kd * v
        free = (demand < high or e < 0.0) and (demand > low or e > 0.0)
        u = min(max(demand, low), high)
        entropy = abs(_MU * (q * q - 1.0) * v * v - kd * v * v)
        return v, _MU * (1.0 - q * q) * v - q + u, ki * e if free else 0.0, abs(e), entropy

    return solve_ivp(rates, (0.0, n_steps * case.STEP), [*case.INITIAL, 0.0, 0.0, 0.0], rtol=1e-6, atol=1e-9)
