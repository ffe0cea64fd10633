"""What the contenders of one design of the balancing vehicle do in the drawn situations; kept in its folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import sscq
from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine import outcomes
from experiments.studies.engine.contenders import contenders
from experiments.studies.engine.outcomes import Outcomes
from experiments.studies.vehicle.declaration import kind_of, slippery
from experiments.studies.vehicle.lqr import Lqr

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.settings import Setup
    from experiments.studies.engine.contenders import Contender
    from experiments.studies.vehicle.declaration import Declaration
    from sscq.baselines.candidates import Candidate

    Array = np.ndarray

MEASURES = ("iae", "speed_error", "slip_distance", "entropy_plant", "effort", "total_variation")
DRY = "dry_error"
"""The measure that a design may limit."""


@dataclass(frozen=True)
class Verdict(Outcomes):
    """What one design's contenders did.

    Attributes
    ----------
    kinds : tuple of str
        Of the situations.
    dry : mapping of contender to float
        Mean error on dry ground in the taught situations, simulated as they were searched.
    limit : float or None
        What the design allowed of it.
    """

    kinds: tuple[str, ...]
    dry: Mapping[str, float]
    limit: float | None

    @property
    def on_slippery(self) -> Array:
        """Which situations have slippery ground [situation]."""
        return np.array([slippery(kind) for kind in self.kinds])

    def where(self, chosen: Array) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
        """Return who stood, and the measures, in some of the situations."""
        stood = {name: one[chosen] for name, one in self.stood.items()}
        return stood, {name: {m: v[chosen] for m, v in one.items()} for name, one in self.quality.items()}


def robots(run: Path, step: float, threads: int | None = None) -> dict[str, Contender]:
    """Return all contenders of a finished design, rolled out with a step [s]; LQR is searched here, once, and kept."""
    with RunFolder.resume(run, command="design") as folder:
        return contenders(folder, searched, step, threads)


def searched(job: Setup) -> list[Candidate]:
    """Return what is searched beside a design's own contenders."""
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    return [Lqr(limits, job.laws[0].sample_time or job.step).candidate()]


def judged(run: Path, declared: Declaration, threads: int | None = None) -> Verdict:
    """Return the verdict on a finished design; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = contenders(folder, searched, declared.drawn["step"], threads)
        situations = declared.unforeseen()
        arrays = outcomes.kept(
            folder, "drawn", lambda: outcomes.arrays_of(known, situations, MEASURES), declared.digest
        )
        dry = {name: when_taught(replace(one, step=folder.config["step"])) for name, one in known.items()}
        limit = folder.config["fitness"]["own_limits"].get(DRY)
    kinds = tuple(kind_of(one) for one in situations)
    return Verdict(run.name, **outcomes.read(known, arrays, MEASURES), kinds=kinds, dry=dry, limit=limit)


def when_taught(one: Contender) -> float:
    """Return the mean error on dry ground in the taught situations."""
    return float(one.outcome(sscq.standard_sets(one.plant)["taught"], (DRY,))[DRY].mean())
