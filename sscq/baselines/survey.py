"""A first look at a box of gains: what the fitness refers to, and where searches start.

The entropy scale makes the entropy rates of plant and controller one unit where the command is no force on the output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.baselines import candidates
from sscq.loop.record import Recorder
from sscq.search.cmaes import CmaEs
from sscq.search.operators import latin_hypercube
from sscq.search.search import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers import PID, Controller
    from sscq.baselines.objective import Task
    from sscq.fitness import Fitness
    from sscq.loop.quality import Quality
    from sscq.margins.operating import OperatingMargins


def needs_entropy_scale(task: Task) -> bool:
    """Whether kd e'^2 is no power in some channel, and the fitness compares it with the plant's rate."""
    plant = task.plant
    compared = any(name.startswith("entropy_difference") for name in task.fitness.terms)
    return compared and plant.entropy_rate is not None and not all(channel.collocated for channel in plant.channels)


def measure_entropy_scale(task: Task, controller: Any, gains: np.ndarray) -> float:
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


def best_tracking_gains(quality: Quality, error: str, genomes: np.ndarray) -> np.ndarray | None:
    """Return the gains [n_gains] of the sample that track best, among those that survive with derivative action."""
    alive = ~quality.failed.any(axis=0) & (genomes[:, 2::3] != 0.0).any(axis=1)
    if not alive.any():
        return None
    errors = np.where(alive, quality.values[error].mean(axis=0), np.inf)
    return np.asarray(genomes[int(np.argmin(errors))])


_LOOKED = 600  # gain sets that are tried before margins are said to be kept by none


def can_be_kept(margins: OperatingMargins, laws: Sequence[PID], low: np.ndarray, high: np.ndarray) -> bool:
    """Return whether a search finds constant gains [n_gains] in the box that keep the margins; nothing is simulated."""
    candidate = candidates.fixed(laws, low, high, 0.5 * (low + high))

    def violation(genomes: np.ndarray) -> np.ndarray:
        found = margins.violation(genomes[:, None, :])
        if (found <= 0.0).any():
            raise _Kept
        return found

    try:
        evolve(violation, low, high, CmaEs(evaluations=_LOOKED), 0, start=candidate.start, scale=candidate.scale)
    except _Kept:
        return True
    return False


class _Kept(Exception):  # noqa: N818  (it is what was looked for)
    """Gains that keep the margins: enough is known."""


SAMPLES = 256  # random gain sets
_SAMPLED = 0  # their seed, whatever that of a design: what a fitness refers to must not be luck
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
) -> Survey:
    """Try random constant gains in the task's situations: the same ones in every design of a box.

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
    genomes = _samples(laws, low, high, own)
    controller = candidates.fixed(laws, low, high, genomes[:1]).controller
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
    if not needs_entropy_scale(task):
        return task
    error = task.fitness.error
    sample = task.loop(controller, (error,)).evaluate(genomes, task.threads)
    gains = own if own is not None else best_tracking_gains(sample, error, genomes)
    if gains is None:
        return task
    scale = measure_entropy_scale(task, controller, gains)
    return replace(task, fitness=replace(task.fitness, entropy_scale=scale))


def _samples(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, own: np.ndarray | None) -> np.ndarray:
    """Latin hypercube in the box; the user's own gains come first."""
    box = candidates.gain_encoding(laws, low, high).box
    rng = np.random.Generator(np.random.PCG64(_SAMPLED))
    genomes = box.decode(latin_hypercube(rng, SAMPLES, len(box.free)))
    return genomes if own is None else np.vstack([own, genomes])
