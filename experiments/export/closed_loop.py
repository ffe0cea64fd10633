"""The loop closed with an exported controller: plant and integrator in C as well, against the compiled simulation.

The plant's excitation is recorded step by step and then given to both as a held series, so that both solve the same
equations; sensor noise is the simulation's. Situations in which more lies between plant and controller (dead times,
converters, lost packets, slow actuators) are left out, and so are those in which the loop diverges.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.export.loop_program import compiled, run
from experiments.export.loop_runs import between, simulated
from plants.core.loop_signals import Measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from experiments.export.job import Job
    from plants import Plant
    from sscq.situation import Situation

    Array = NDArray[np.float64]

_ROUNDING = 1e-12  # relative: less is no motion


@dataclass(frozen=True)
class Closed:
    """Largest differences of the closed loop's measurements, as shares of their ranges, by situation."""

    errors: dict[str, float]
    left_out: dict[str, str]

    @property
    def largest(self) -> float:
        """Largest of all."""
        return max(self.errors.values(), default=float("nan"))


def closed(job: Job, folder: Path) -> Closed:
    """Close the loop in each situation with the C export in `folder`, double precision.

    Raises
    ------
    subprocess.SubprocessError
        If something does not compile or run.
    """
    errors, left_out = {}, {}
    with tempfile.TemporaryDirectory() as name:
        program = compiled(job, folder, Path(name))
        # What follows the input at once is looked at before the sample's command here, after it there.
        behind = [not by_input for by_input in Measured(job.plant).of_input]
        reasons = {situation.name: _indirect(job.plant, situation) for situation in job.situations}
        direct = [situation for situation in job.situations if not reasons[situation.name]]
        runs = dict(zip((situation.name for situation in direct), simulated(job, direct), strict=True))
        span = _spans([run.outputs for run in runs.values() if run is not None])
        for situation in job.situations:
            one = runs.get(situation.name)
            if one is None:
                left_out[situation.name] = reasons[situation.name] or "the simulated loop diverges"
                continue
            difference = np.abs(run(program, job, one) - one.outputs) / span
            errors[situation.name] = float(difference[:, behind].max())
    return Closed(errors, left_out)


def _spans(outputs: Sequence[Array]) -> Array | float:
    """Ranges of the measurements [n_outputs] over all situations; 1 where one moves by rounding alone."""
    if not outputs:
        return 1.0
    together = np.concatenate(outputs)
    span, size = np.ptp(together, axis=0), np.abs(together).max(axis=0)
    return np.where(span > _ROUNDING * np.maximum(size, 1.0), span, 1.0)


def _indirect(plant: Plant, situation: Situation) -> str:
    if plant.input_delay is not None:
        return "the plant has a dead time"
    used = between(situation)
    return f"{used[0].replace('_', ' ')} between plant and controller" if used else ""
