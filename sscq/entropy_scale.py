"""What makes the entropy rates of plant and controller one unit where the command is no force on the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.evaluate import Recorder

if TYPE_CHECKING:
    from sscq.objective import Task
    from sscq.quality import Quality


def is_needed(task: Task) -> bool:
    """Whether kd e'^2 is no power in some channel, and the fitness compares it with the plant's rate."""
    plant = task.plant
    compared = any(name.startswith("entropy_difference") for name in task.fitness.terms)
    return compared and plant.entropy_rate is not None and not all(channel.collocated for channel in plant.channels)


def measured(task: Task, controller: Any, gains: np.ndarray) -> float:
    """Return the integral of the plant's |rate| over that of |kd| e'^2 in a reference's recorded runs, all situations.

    The plant's rate is the one that measures count: its excess over the loss at rest, where it has any.

    1 where one of them is 0, as without derivative action: then there is nothing to be scaled.
    """
    recorder = Recorder(task.plant, controller, task.situations, task.step, **task.options)
    sums = np.zeros(2)
    for number in range(len(task.situations)):
        run = recorder(gains, number)
        rates = run.group("entropy_rates")[:-1].copy()
        if "entropy_at_rest" in run.groups:
            rates[:, :1] -= run.group("entropy_at_rest")[:-1]
        sums += np.abs(rates).sum(axis=0)
    of_plant, of_controller = sums.tolist()
    return of_plant / of_controller if of_plant > 0.0 and of_controller > 0.0 else 1.0


def reference_of(quality: Quality, error: str, genomes: np.ndarray) -> np.ndarray | None:
    """Return the gains [n_gains] of the sample that track best, among those that survive with derivative action."""
    alive = ~quality.failed.any(axis=0) & (genomes[:, 2::3] != 0.0).any(axis=1)
    if not alive.any():
        return None
    errors = np.where(alive, quality.values[error].mean(axis=0), np.inf)
    return np.asarray(genomes[int(np.argmin(errors))])
