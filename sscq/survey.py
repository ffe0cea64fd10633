"""A first look at a box of gains: what the fitness refers to, and where searches start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sscq import baselines, entropy_scale
from sscq.operators import latin_hypercube

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers import PID, Controller
    from sscq.fitness import Fitness
    from sscq.objective import Task
    from sscq.operating import OperatingMargins

SAMPLES = 256  # random gain sets
STARTS = 2  # best of them that a search starts from


@dataclass(frozen=True)
class Survey:
    """What random gains tell.

    Attributes
    ----------
    fitness : Fitness
        Relative, where that was asked for; with the entropy scale of the reference gains, and penalties above all that
        survives.
    best : ndarray [n_start, n_gains]
        The best gains of the sample.
    """

    fitness: Fitness
    best: np.ndarray


def survey(
    task: Task,
    laws: Sequence[PID],
    low: np.ndarray,
    high: np.ndarray,
    *,
    own: np.ndarray | None = None,
    margins: OperatingMargins | None = None,
    relative: bool = True,
    adapt: bool = True,
    seed: int = 0,
) -> Survey:
    """Try random constant gains in the task's situations.

    Parameters
    ----------
    low, high : ndarray [n_gains]
        Box of the gains.
    own : ndarray [n_gains], optional
        The user's own gains, tried as well: a relative fitness then refers to them.
    margins : OperatingMargins, optional
        A relative fitness refers to gains that keep them, where there are any.
    relative : bool
        Divide each term of the fitness by the reference's.
    adapt : bool
        Find the entropy scale and penalties above all that survives; else the fitness stays as it is in these.

    Raises
    ------
    ValueError
        If the fitness is to be relative and no gains survive all situations.
    """
    genomes = _samples(laws, low, high, own, seed)
    controller = baselines.fixed(laws, low, high, genomes[:1]).controller
    task = _scaled(task, controller, genomes, own) if adapt else task
    quality = task.loop(controller).evaluate(genomes, task.threads)
    violation = np.zeros(len(genomes)) if margins is None else margins.violation(genomes[:, None, :])
    fitness = task.fitness
    if relative:
        preferred = violation <= 0.0 if own is None else np.arange(len(genomes)) == 0
        fitness = fitness.normalised_by(quality, preferred)
    fitness = fitness.above(quality) if adapt else fitness
    order = np.argsort(fitness(quality, violation), kind="stable")
    return Survey(fitness, genomes[order[:STARTS]])


def _scaled(task: Task, controller: Controller, genomes: np.ndarray, own: np.ndarray | None) -> Task:
    """The task with the entropy scale of the reference gains: the user's own, or the sample's that track best."""
    if not entropy_scale.is_needed(task):
        return task
    error = task.fitness.error
    sample = task.loop(controller, (error,)).evaluate(genomes, task.threads)
    gains = own if own is not None else entropy_scale.reference_of(sample, error, genomes)
    if gains is None:
        return task
    scale = entropy_scale.measured(task, controller, gains)
    return replace(task, fitness=replace(task.fitness, entropy_scale=scale))


def _samples(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, own: np.ndarray | None, seed: int) -> np.ndarray:
    """Latin hypercube in the box; the user's own gains come first."""
    box = baselines.gain_encoding(laws, low, high).box
    rng = np.random.Generator(np.random.PCG64(seed))
    genomes = box.decode(latin_hypercube(rng, SAMPLES, len(box.free)))
    return genomes if own is None else np.vstack([own, genomes])
