"""The scheduler of whatever is exported, with 10 000 random inputs: for targets that carry the schedule alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from experiments.export.recording import Recording
from experiments.export.scheduler import is_scheduler, scheduler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.export.job import Job
    from experiments.export.machine import Machine
    from flcs import KnowledgeBase

RANDOM = 10_000
_BEYOND = 0.5  # ranges by which random inputs leave the taught ranges at each side


@cache
def scheduler_job(job: Job) -> Job:
    """Return the job of the scheduler alone: itself, where that is what is exported."""
    if is_scheduler(job.machine):
        return job
    machine = scheduler(job.kb, job.plant, job.step, job.guard, job.form)
    inputs = random_inputs(job.kb, machine, job.seed)
    outputs = np.full((len(inputs), len(machine.outputs)), np.nan)
    drawn = Recording("random over the taught ranges and beyond", inputs, outputs)
    return replace(job, machine=machine, recordings=(drawn,), situations=())


def random_inputs(kb: KnowledgeBase, machine: Machine, seed: int) -> NDArray[np.float64]:
    """Return random inputs [10 000, n_inputs] over twice the taught ranges, with full authority."""
    rng = np.random.default_rng(seed)
    ranges = {}
    for base in kb.channels:
        for v in base.inputs:
            own = f"{v.name}_{base.name}" if v.name in {"e", "e_rate"} else v.name
            ranges[own] = (v.low - _BEYOND * (v.high - v.low), v.high + _BEYOND * (v.high - v.low))
    columns = []
    for signal in machine.inputs:
        low, high = ranges.get(signal.name, (1.0, 1.0) if signal.name == "authority" else (-1.0, 1.0))
        columns.append(rng.uniform(low, high, RANDOM))
    return np.stack(columns, axis=1)
