"""Contenders of the unicycle's comparison: those of a finished design, and LQR searched alike.

Where each motion has a channel of its own, a knowledge base begun at LQR's gains is one of them as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments import unicycle_knowledge as knowledge
from experiments.comparison import contenders as any_plant
from experiments.run_folder import RunFolder
from experiments.unicycle_lqr import Lqr

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.comparison.contenders import Contender
    from experiments.ladder import Bench, Reference
    from experiments.setup import Setup
    from plants import Plant
    from sscq.baselines import Candidate

_OWN = "fixed gains of an LQR, rounded"  # what the searches may begin at
_GENTLE = (50.0, 8.0, 1.0, 0.2, 6.0, 1.5)
"""Weights of LQR, and its speed, that spare the motors: its search may begin there, too, where they are limited."""
_COMMANDS = ("iae", "entropy_plant", "effort", "total_variation", "saturated_time")
_MOTORS = ("iae", "entropy_plant", "motor_effort", "motor_travel", "motor_limit_time", "motor_load")


def balanced(plant: Plant) -> bool:
    """Whether each motion has a channel of its own, whose sums the motors limit."""
    return tuple(channel.output for channel in plant.channels) == knowledge.OUTPUTS


def measures(known: Mapping[str, Contender]) -> tuple[str, ...]:
    """Return what is measured: of motors where several channels ask for their torques, else of the commands."""
    return _MOTORS if balanced(known["fixed"].plant) else _COMMANDS


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
    found = any_plant.contenders(folder, _searched, threads=threads, begun=_begun)
    return {name: replace(one, title=_OWN) if name == "own" else one for name, one in found.items()}


def _begun(bench: Bench, reference: Reference, known: Mapping[str, Contender]) -> dict[str, Contender]:
    return knowledge.searched(bench, reference, known) if balanced(bench.setup.plant) else {}


def _searched(job: Setup) -> list[Candidate]:
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    sample = job.laws[0].sample_time or job.step
    outputs = tuple(channel.output for channel in job.plant.channels)
    starts = (_GENTLE,) if balanced(job.plant) else ()
    return [Lqr(limits, sample, scheduled, outputs, starts).candidate() for scheduled in (False, True)]
