"""Contenders of the unicycle's comparison: those of a finished design, and LQR searched alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.comparison import contenders as any_plant
from experiments.run_folder import RunFolder
from experiments.unicycle_lqr import Lqr

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.comparison.contenders import Contender
    from experiments.setup import Setup
    from sscq.baselines import Candidate

MEASURES = ("iae", "entropy_plant", "effort", "total_variation", "saturated_time")


def robots(run: Path, threads: int | None = None) -> dict[str, Contender]:
    """Return all contenders of a finished design; LQR is searched here, once, and kept in the run's folder.

    Parameters
    ----------
    run : Path
    threads : int, optional
        Of the simulations; results do not depend on it.
    """
    with RunFolder.resume(run, command="design") as folder:
        return contenders(folder, threads)


def contenders(folder: RunFolder, threads: int | None = None) -> dict[str, Contender]:
    """Return all contenders of a finished design whose folder is open."""
    return any_plant.contenders(folder, _searched, threads=threads)


def _searched(job: Setup) -> list[Candidate]:
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    sample = job.laws[0].sample_time or job.step
    return [Lqr((limits[0], limits[1]), sample, scheduled).candidate() for scheduled in (False, True)]
