"""A plant's own step map against what it approximates: its derivative; and that it runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.check_after_step import STEPS
from plants.core.simulate import simulate
from plants.core.trajectory import DivergedError

if TYPE_CHECKING:
    from plants.core.check import CheckReport
    from plants.core.check_runs import Runs
    from plants.core.plant import Plant

TINY = 1e-3  # first tried step in times of the fastest mode's
FALL = 0.25  # a step of a tenth must miss the derivative's move by less than this share of what the whole one misses
ROUNDING = 1e-6  # of the move
_POINTS = 12


def check_advance(report: CheckReport, plant: Plant, runs: Runs) -> None:
    """Compare short steps with the derivative along the tested run, and simulate with the plant's own step."""
    report.advice.append(
        "step, order of convergence, stiffness and energy balance are those of the equations alone, without advance"
    )
    coarse = TINY * runs.step(0)
    misses = [_miss(plant, runs, coarse * share) for share in (1.0, 0.1)]
    if not misses[1] <= max(FALL * misses[0], ROUNDING):
        report.problems.append(
            f"advance does not approximate derivative: over {coarse:.2g} s its move differs from h * derivative by "
            f"{misses[0]:.2g} of it, over a tenth of that by {misses[1]:.2g}; the second must be smaller"
        )
        return
    report.passed.append("advance goes to derivative as the step goes to 0")
    _run(report, plant, runs)


def _miss(plant: Plant, runs: Runs, h: float) -> float:
    """Median over points of the run of the relative difference between a step and h times the rates."""
    run, found = runs.at(1), []
    for k in np.unique(np.linspace(0, len(run.time) - 1, _POINTS).astype(int)):
        t, x, u, w = float(run.time[k]), run.states[k], run.group("inputs")[k], run.group("disturbances")[k]
        block = (t, tuple(x.tolist()), tuple(u.tolist()), tuple(w.tolist()), plant.nominal())
        move = (np.array(plant.advance(*block, h), dtype=np.float64) - x) / h  # type: ignore[misc]
        rates = np.array(plant.derivative(*block), dtype=np.float64)  # type: ignore[misc]
        found.append(float(np.abs(move - rates).max() / (np.abs(rates).max() + 1e-300)))
    return float(np.median(found))


def _run(report: CheckReport, plant: Plant, runs: Runs) -> None:
    drive = runs.drive
    count = min(STEPS, max(1, math.ceil(drive.t_end / plant.step)))
    t_end = count * plant.step
    try:
        simulate(plant, t_end, plant.step, drive.initial, None, drive.inputs, drive.disturbances)
    except DivergedError as error:
        report.advice.append(f"with advance and without control: {error}")
    else:
        report.passed.append(f"with advance it stays in its region for {t_end:.3g} s")
