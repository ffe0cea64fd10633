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
from controllers import PID
from experiments.runtime.tables import markdown_table
from experiments.runtime.timing import alternate, ratio
from flcs import FuzzyController
from plants.core.kernel.kernel import LANES
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.slopes import LoopSlopes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.runner.size import Size
    from experiments.runtime.timing import Timing
    from plants import Plant

_CASES = (
    ("van_der_pol", 10.0, "PID"),
    ("van_der_pol", 10.0, "knowledge base"),
    ("planar_quadrotor", 5.0, "PID"),
    ("unicycle", 1.0, "PID"),
    ("suspension", 0.5, "PID"),
    ("balancing_vehicle", 0.5, "PID"),
)
_WEIGHTS = {"iae": 1.0, "entropy_difference_abs": 0.1}
_CANDIDATES = 64
_BOUND = 4.0  # runs
_WIDTHS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # of central differences, in sizes of a parameter
_STEPS, _LONGER = 1000, (1, 4, 16, 64)
_MIB = 2**20


@dataclass(frozen=True)
class SlopesRow:
    """One loop's figures.

    Attributes
    ----------
    steps : int
        Of the run that is timed.
    timings : mapping of "run", "there and back", "one segment" to Timing
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
        """There and back in runs: ratio of the best times, and the median of the rounds'."""
        return ratio(self.timings["there and back"], self.timings["run"])


@dataclass(frozen=True)
class LoopCase:
    """A loop and the parameters at which its slopes are taken."""

    plant: Plant
    law: Any
    theta: np.ndarray
    t_end: float

    def loop(self, *, steps: int = 0, lanes: int = LANES) -> ClosedLoop:
        """Build the loop of the plant's first taught situation, over so many steps if they are given."""
        situation = sscq.standard_sets(self.plant)["taught"][0]
        t_end = steps * self.plant.step if steps else self.t_end
        several = [replace(situation, t_end=t_end)]
        return ClosedLoop(self.plant, self.law, several, self.plant.step, measures=tuple(_WEIGHTS), lanes=lanes)


def _case(name: str, t_end: float, controller: str) -> LoopCase:
    plant = plants.get(name)
    if controller == "PID":
        ends = (np.array([g for c in plant.channels for g in getattr(c, key)]) for key in ("gains_low", "gains_high"))
        low, high = ends
        return LoopCase(plant, PID(derivative_filter_time=5.0 * plant.step), low + 0.31 * (high - low), t_end)
    fuzzy = FuzzyController(exports.knowledge_base(name, 3, "triangular"))
    aside = 0.01 * np.random.default_rng(1).uniform(-1.0, 1.0, len(fuzzy.theta))  # off the kinks of symmetric terms
    return LoopCase(plant, fuzzy, fuzzy.theta + aside * (fuzzy.theta_high - fuzzy.theta_low), t_end)


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


def _memory(case: LoopCase, steps: int) -> float:
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
    back, many, steps = LoopSlopes(loop), np.tile(theta, (_CANDIDATES, 1)), round(t_end / case.plant.step)
    calls = {
        "run": lambda: loop.evaluate(many, 1),
        "there and back": lambda: back.evaluate(many, _WEIGHTS, 1),
        "one segment": lambda: back.evaluate(many, _WEIGHTS, 1, segment=steps),
    }
    exact = back.evaluate(theta, _WEIGHTS, 1)[1][0, 0]
    alone = LoopSlopes(case.loop(lanes=1)).evaluate(theta, _WEIGHTS, 1)[1][0, 0]
    return SlopesRow(
        name,
        len(case.plant.states),
        controller,
        len(theta),
        steps,
        alternate(calls, max(3, size.rounds // 8)),
        {width: _error(_differences(loop, theta, width), exact, theta) for width in _WIDTHS},
        _error(_forward(loop, theta), exact, theta),
        _error(alone, exact, theta),
        {_STEPS * times: _memory(case, _STEPS * times) for times in _LONGER},
    )


def measured(size: Size) -> list[SlopesRow]:
    """Return every case's figures."""
    return [_row(*case, size) for case in _CASES[: 1 + size.plants]]


def slopes(size: Size) -> FigureSection:
    """Tell costs and errors as a section of the table of all benchmarks."""
    section = FigureSection("slopes", "Slopes of a closed loop by running it backwards")
    for row in measured(size):
        label, steps = f"{row.plant}, {row.states} states, {row.controller}", _CANDIDATES * row.steps
        section.time(f"{label}: run, one step", row.timings["run"].per(steps), "ns", 1e9)
        section.ratio(f"{label}: there and back / run", row.cost, at_most(row.cost, _BOUND))
        section.figure(f"{label}: against forward mode", row.forward, "of the largest slope")
        section.figure(f"{label}: against central differences", min(row.differences.values()), "of the largest slope")
    return section


def refused() -> dict[str, str]:
    """Return what is said of the registered plants whose loops have no way back, in the form they come in."""
    found = {}
    for name in plants.names():
        try:
            LoopSlopes(_case(name, 1.0, "PID").loop(steps=1))
        except ValueError as error:
            found[name] = str(error)
    return found


def page(rows: list[SlopesRow], about: dict[str, Any], without: Mapping[str, str]) -> str:
    """Return the page's text."""
    names = plants.names()
    dear = [f"{row.plant} with a {row.controller} {row.cost[1]:.2f}" for row in rows if row.cost[1] > _BOUND]
    values = {
        "costs": markdown_table(_COSTS, map(_cost_cells, rows)),
        "errors": markdown_table(_ERRORS, map(_error_cells, rows)),
        "memory": markdown_table(_memory_head(rows), map(_memory_cells, rows)),
        "bound": _BOUND,
        "kept": len(rows) - len(dear),
        "loops": len(rows),
        "dear": "; ".join(dear) or "none",
        "forward": f"{max(row.forward for row in rows):.1e}",
        "lanes": LANES,
        "candidates": _CANDIDATES,
        "longer": _LONGER[-1],
        "root": f"{_LONGER[-1] ** 0.5:g}",
        "plants": len(names) - len(without),
        "registered": len(names),
        "refused": "; ".join(f"{name}: {reason}" for name, reason in without.items()) or "None is refused",
        "own": pages.listed([name for name in names if plants.get(name).measures]),
    }
    return pages.filled(pages.TEMPLATES / "slopes.md", about, values)


def _label(row: SlopesRow) -> list[str]:
    return [row.plant, row.controller, str(row.states), str(row.parameters)]


_LABEL = ("plant", "controller", "states", "parameters")
_COSTS = (*_LABEL, "steps", "run, ns a step", "slopes, runs", "at best", "one segment", "differences")


def _cost_cells(row: SlopesRow) -> list[str]:
    per_step = row.timings["run"].per(_CANDIDATES * row.steps)
    best, middle = row.cost
    whole = ratio(row.timings["one segment"], row.timings["run"])[1]
    costs = [f"{value:.1f}" for value in (middle, best, whole)]
    return [*_label(row), str(row.steps), f"{1e9 * per_step.median:.3g}", *costs, str(2 * row.parameters)]


_ERRORS = (*_LABEL, "forward mode", "one lane", "central differences", "their width")


def _error_cells(row: SlopesRow) -> list[str]:
    width = min(row.differences, key=lambda one: row.differences[one])
    lanes = "the same bits" if row.lanes == 0.0 else f"{row.lanes:.1e}"
    return [*_label(row), f"{row.forward:.1e}", lanes, f"{row.differences[width]:.1e}", f"{width:.0e}"]


def _memory_head(rows: list[SlopesRow]) -> list[str]:
    return [*_LABEL[:3], *(f"{steps:,} steps" for steps in rows[0].memory), f"{_LONGER[-1]} times as many"]


def _memory_cells(row: SlopesRow) -> list[str]:
    few, *_, many = row.memory.values()
    return [*_label(row)[:3], *(f"{peak:.2f}" for peak in row.memory.values()), f"{many / few:.1f} times"]


def write(found: tuple[list[SlopesRow], dict[str, str]], about: dict[str, Any], folder: Path) -> None:
    """Write the page."""
    rows, without = found
    (folder / "slopes.md").write_text(page(rows, about, without), encoding="utf-8")


if __name__ == "__main__":
    pages.run("slopes", __doc__, lambda size: (measured(size), refused()), write)
