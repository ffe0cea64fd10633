"""Write docs/performance/slopes.md: ``python -m benchmarks.slopes [--quick]``.

Slopes of closed loops by running them backwards: their errors, what they cost beside the run itself, their memory.
Every number comes from the one run that writes it; ``python -m benchmarks slopes`` has costs and errors as well.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
import sscq
from benchmarks import exports
from benchmarks.accuracy.forward_mode import tangents
from benchmarks.runner import pages
from benchmarks.runner.report import FigureSection, at_most
from benchmarks.runner.timing import alternate, ratio
from controllers import PID
from experiments.runtime.tables import markdown_table
from flcs import FuzzyController
from plants.core.kernel.kernel import LANES
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.slopes import LoopSlopes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.runner.timing import Size, Timing
    from plants import Plant

_CASES = (
    ("van_der_pol", 10.0, "PID"), ("van_der_pol", 10.0, "knowledge base"), ("planar_quadrotor", 5.0, "PID"),
    ("unicycle", 1.0, "PID"), ("suspension", 0.5, "PID"), ("balancing_vehicle", 0.5, "PID"),
)  # fmt: skip
_WEIGHTS = {"iae": 1.0, "entropy_difference_abs": 0.1}
_CANDIDATES = 64
_BOUND = 4.0  # runs
_WIDTHS = (1e-4, 1e-5, 1e-6, 1e-7)  # of central differences, in sizes of a parameter
_STEPS, _LONGER = 1000, (1, 4, 16, 64)
_MIB = 2**20


@dataclass(frozen=True)
class SlopesRow:
    """One loop's figures.

    Attributes
    ----------
    steps : int
        Of the run that is timed.
    timings : mapping of "run", "there and back", "differences" to Timing
        Of 64 candidates, one thread.
    differences : mapping of width to float
        Largest error of central differences, relative to the largest slope, in sizes of the parameters.
    forward, lanes : float
        The same of forward mode, and of a kernel with one lane.
    memory : mapping of steps to float
        Arrays of a call with 16 candidates [MiB].
    """

    plant: str
    states: int
    controller: str
    parameters: int
    steps: int
    timings: Mapping[str, Timing]
    differences: Mapping[float, float]
    forward: float
    lanes: float
    memory: Mapping[int, float]

    @property
    def cost(self) -> tuple[float, float]:
        """There and back in runs: of the best times, and the median."""
        return ratio(self.timings["there and back"], self.timings["run"])


@dataclass(frozen=True)
class _Case:
    """A loop and the parameters at which its slopes are taken."""

    plant: Plant
    law: Any
    theta: np.ndarray
    t_end: float

    def loop(self, *, steps: int = 0, lanes: int = LANES) -> ClosedLoop:
        situation = sscq.standard_sets(self.plant)["taught"][0]
        t_end = steps * self.plant.step if steps else self.t_end
        return ClosedLoop(
            self.plant, self.law, [replace(situation, t_end=t_end)], self.plant.step, measures=tuple(_WEIGHTS),
            lanes=lanes,
        )  # fmt: skip


def _case(name: str, t_end: float, controller: str) -> _Case:
    plant = plants.get(name)
    if controller == "PID":
        ends = (np.array([g for c in plant.channels for g in getattr(c, key)]) for key in ("gains_low", "gains_high"))
        low, high = ends
        return _Case(plant, PID(derivative_filter_time=5.0 * plant.step), low + 0.31 * (high - low), t_end)
    fuzzy = FuzzyController(exports.knowledge_base(name, 3, "triangular"))
    aside = 0.01 * np.random.default_rng(1).uniform(-1.0, 1.0, len(fuzzy.theta))  # off the kinks of symmetric terms
    return _Case(plant, fuzzy, fuzzy.theta + aside * (fuzzy.theta_high - fuzzy.theta_low), t_end)


def _size(theta: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(theta), 1.0)


def _error(found: np.ndarray, exact: np.ndarray, theta: np.ndarray) -> float:
    return float(np.abs((found - exact) * _size(theta)).max() / np.abs(exact * _size(theta)).max())


def _total(loop: ClosedLoop, theta: np.ndarray) -> np.ndarray:
    values = loop.evaluate(theta, 1).values
    return sum((weight * values[name][0] for name, weight in _WEIGHTS.items()), np.zeros(len(theta)))


def _differences(loop: ClosedLoop, theta: np.ndarray, width: float) -> np.ndarray:
    """Slopes [n_theta] by central differences, all in one call."""
    way = np.diag(width * _size(theta))
    up, down = np.split(_total(loop, np.concatenate([theta + way, theta - way])), 2)
    return (up - down) / (2.0 * way.diagonal())


def _forward(loop: ClosedLoop, theta: np.ndarray) -> np.ndarray:
    columns = [1 + loop.scoring.built_in.index(name) for name in _WEIGHTS]
    return tangents(loop, theta, np.eye(len(theta)))[:, 0, columns] @ list(_WEIGHTS.values())


def _memory(case: _Case, steps: int) -> float:
    loop = case.loop(steps=steps)
    back, theta = LoopSlopes(loop), np.tile(case.theta, (LANES, 1))
    loop.call((0,))  # the start and the signals, which the run itself needs
    back.kernel.rollout  # noqa: B018  (compiled now: LLVM's memory is not the call's)
    tracemalloc.start()
    back.evaluate(theta, _WEIGHTS, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / _MIB


def _row(name: str, t_end: float, controller: str, size: Size) -> SlopesRow:
    case = _case(name, t_end, controller)
    loop, theta = case.loop(), case.theta
    back, many = LoopSlopes(loop), np.tile(theta, (_CANDIDATES, 1))
    calls = {
        "run": lambda: loop.evaluate(many, 1),
        "there and back": lambda: back.evaluate(many, _WEIGHTS, 1),
        "differences": lambda: [_differences(loop, theta, 1e-6) for _ in range(_CANDIDATES // 8)],
    }
    exact = back.evaluate(theta, _WEIGHTS, 1)[1][0, 0]
    alone = LoopSlopes(case.loop(lanes=1)).evaluate(theta, _WEIGHTS, 1)[1][0, 0]
    return SlopesRow(
        name,
        len(case.plant.states),
        controller,
        len(theta),
        round(t_end / case.plant.step),
        alternate(calls, max(3, size.rounds // 8)),
        {width: _error(_differences(loop, theta, width), exact, theta) for width in _WIDTHS},
        _error(_forward(loop, theta), exact, theta),
        _error(alone, exact, theta),
        {_STEPS * times: _memory(case, _STEPS * times) for times in _LONGER},
    )


if __name__ == "__main__":
    import sys,time
    from benchmarks.runner.timing import QUICK
    for c in _CASES[int(sys.argv[1]):int(sys.argv[2])]:
        t=time.time(); r=_row(*c,QUICK); print(r.plant,r.controller,r.states,r.parameters,r.cost,ratio(r.timings["differences"],r.timings["run"]),r.differences,r.forward,r.lanes,r.memory,f"{time.time()-t:.0f} s",flush=True)
