"""What slopes of a closed loop cost: there and back against the run itself, and how exact they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import plants
import sscq
from benchmarks.runner.report import FigureSection, at_most
from benchmarks.runner.timing import alternate, ratio
from controllers import PID
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.slopes import LoopSlopes

if TYPE_CHECKING:
    from benchmarks.runner.timing import Size

_PLANTS = (("van_der_pol", 10.0), ("planar_quadrotor", 5.0), ("unicycle", 1.0), ("suspension", 0.5))
_WEIGHTS = {"iae": 1.0, "entropy_difference_abs": 0.1}
_CANDIDATES = 64


def slopes(size: Size) -> FigureSection:
    """Time one call of each, on one thread, and compare slopes with central differences."""
    section = FigureSection("slopes", "Slopes of a closed loop by running it backwards")
    for name, t_end in _PLANTS:
        plant = plants.get(name)
        situation = replace(sscq.standard_sets(plant)["taught"][0], t_end=t_end)
        law = PID(derivative_filter_time=5.0 * plant.step)
        loop = ClosedLoop(plant, law, [situation], plant.step, measures=tuple(_WEIGHTS))
        back = LoopSlopes(loop)
        theta = np.tile(_middle(plant), (_CANDIDATES, 1))
        calls = {
            "run": lambda loop=loop, theta=theta: loop.evaluate(theta, 1),
            "there and back": lambda back=back, theta=theta: back.evaluate(theta, _WEIGHTS, 1),
        }
        timing = alternate(calls, max(3, size.rounds // 8))
        steps = _CANDIDATES * t_end / plant.step
        states = f"{name}, {len(plant.states)} states"
        section.time(f"{states}: run, one step", timing["run"].per(steps), "ns", 1e9)
        section.time(f"{states}: there and back, one step", timing["there and back"].per(steps), "ns", 1e9)
        times = ratio(timing["there and back"], timing["run"])
        section.ratio(f"{states}: there and back / run", times, at_most(times, 4.0))
        section.figure(
            f"{states}: slopes against central differences", _difference(loop, back, theta[:1]), "of the largest"
        )
    return section


def _middle(plant: plants.Plant) -> np.ndarray:
    low, high = (np.array([g for c in plant.channels for g in getattr(c, key)]) for key in ("gains_low", "gains_high"))
    return low + 0.31 * (high - low)


def _difference(loop: ClosedLoop, back: LoopSlopes, theta: np.ndarray) -> float:
    """Largest difference, relative to the largest slope in widths of the gains."""
    exact, sizes = back.evaluate(theta, _WEIGHTS)[1][0, 0], np.maximum(np.abs(theta[0]), 1.0)

    def total(row: np.ndarray) -> float:
        values = loop.evaluate(row[None]).values
        return float(sum(weight * values[name][0, 0] for name, weight in _WEIGHTS.items()))

    found = []
    for k, width in enumerate(1e-6 * sizes):
        way = np.zeros(len(sizes))
        way[k] = width
        found.append((total(theta[0] + way) - total(theta[0] - way)) / (2.0 * width))
    return float(np.abs((exact - found) * sizes).max() / np.abs(exact * sizes).max())
