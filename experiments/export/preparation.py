"""From settings to a job: the machine with its guard, simulated once in every situation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.export.guard import Guard
from experiments.export.installed import installed
from experiments.export.job import Job
from experiments.export.recording import recordings
from experiments.export.scheduler import scheduler
from experiments.export.vendor_forms import VendorForm
from plants.core.naming import unknown

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
        If the guard does not fit the plant or the controller.
    """
    check(settings, plant)
    guard = guard_of(settings.guard)
    form = VendorForm(settings.vendor.unit, settings.vendor.longest)
    alone = settings.shape == "scheduler"
    machine = scheduler(kb, plant, step, guard, form) if alone else installed(kb, plant, step, guard)
    seen = recordings(kb, plant, situations, step, machine, integrator)
    return Job(
        kb, plant, step, machine, tuple(seen), tuple(situations), integrator, guard, seed, settings.hostile, form
    )  # fmt: skip


def check(settings: ExportSettings, plant: Plant) -> None:
    """Raise ValueError where the guard does not fit a plant's signals: in a design, before anything is searched.

    A range may belong to any measurement, since which of them a controller takes is not known before it is designed.
    """
    words = ("e", "e_rate") if settings.shape == "scheduler" else ("r", "track")
    known = [f"{word}_{channel.output}" for channel in plant.channels for word in words]
    known += [q.name for q in plant.measurements]
    for name in settings.guard.ranges:
        if name not in known:
            raise ValueError(f"guard.ranges: {unknown('input', name, known)}")
    safe = settings.guard.safe
    if safe is None:
        return
    if len(safe) != len(plant.channels):
        wanted = ", ".join(channel.output for channel in plant.channels)
        raise ValueError(f"guard.safe must have a command for each channel ({wanted}), got {list(safe)}")
    for value, channel in zip(safe, plant.channels, strict=True):
        low, high = channel.low, channel.high
        if not low <= value <= high:
            raise ValueError(f"guard.safe: of {channel.output!r} must be in {low:g} .. {high:g}, got {value:g}")


def guard_of(given: GuardConfig) -> Guard:
    """Return the guard that settings describe."""
    ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in given.ranges.items()}
    safe = None if given.safe is None else tuple(given.safe)
    ramp = float("inf") if given.ramp is None else given.ramp
    return Guard(ranges, given.patience, given.recovery, given.frozen_after, ramp, safe)
