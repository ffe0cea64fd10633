"""From settings to a job: the machine with its guard, simulated once in every situation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.export.guard import Guard
from experiments.export.installed import installed
from experiments.export.job import Job
from experiments.export.recording import recordings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema.export import ExportSettings, GuardConfig
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.situation import Situation


def job_for(
    kb: KnowledgeBase, plant: Plant, situations: Sequence[Situation], step: float, integrator: str,
    settings: ExportSettings, seed: int,
) -> Job:  # fmt: skip
    """Return the job of a knowledge base.

    Raises
    ------
    ValueError
        If the guard does not fit the controller.
    """
    guard = guard_of(settings.guard)
    machine = installed(kb, plant, step, guard)
    seen = recordings(kb, plant, situations, step, machine, integrator)
    return Job(
        kb, plant, step, machine, tuple(seen), tuple(situations), integrator, guard, seed, settings.hostile
    )  # fmt: skip


def guard_of(given: GuardConfig) -> Guard:
    """Return the guard that settings describe."""
    ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in given.ranges.items()}
    safe = None if given.safe is None else tuple(given.safe)
    ramp = float("inf") if given.ramp is None else given.ramp
    return Guard(ranges, given.patience, given.recovery, given.frozen_after, ramp, safe)
