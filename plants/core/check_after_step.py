"""A plant's `after_step` in motion: it runs, and what it does to the energy is told, not judged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.simulate import simulate
from plants.core.trace import flat
from plants.core.trajectory import DivergedError

if TYPE_CHECKING:
    from plants.core.check import CheckReport
    from plants.core.check_runs import Drive
    from plants.core.plant import Plant
    from plants.core.trajectory import Trajectory

LENGTHS = (16.0, 4.0, 1.0)  # of the tested run in times of the flow's: a flow that falls through its floor ends early
STEPS = 20_000  # at most


def check_after_step(report: CheckReport, plant: Plant, drive: Drive) -> None:
    """Simulate with `after_step` at the plant's own step, as long as the plant stays in its region."""
    report.advice.append(
        "step, order of convergence, stiffness and energy balance are those of the equations alone, without after_step"
    )
    left = ""
    for length in LENGTHS:
        count = min(STEPS, max(1, math.ceil(length * drive.t_end / plant.step)))
        t_end = count * plant.step
        try:
            run = simulate(plant, t_end, plant.step, drive.initial, None, drive.inputs, drive.disturbances)
        except DivergedError as error:
            left = str(error)
            continue
        report.passed.append(f"with after_step it stays in its region for {t_end:.3g} s{_energy(plant, run)}")
        return
    report.advice.append(f"with after_step and without control: {left}")


def _energy(plant: Plant, run: Trajectory) -> str:
    """What the energy balance misses at the end of the run: the work of `after_step`."""
    if plant.energy is None or plant.entropy_rate is None:
        return ""
    if plant.supplied_power is None and (plant.inputs or plant.disturbances):
        return ""
    arguments = [tuple(run.group(kind).T) for kind in ("states", "inputs", "disturbances")]
    energy = np.broadcast_to(flat(plant.energy(run.time, *arguments, plant.nominal()))[0], len(run.time))
    work = float(energy[-1] - energy[0] - run.supplied[-1] + run.entropy[-1])
    return f"; it adds {work:.3g} J to the energy there"
