"""Situations that are searched apart: each has genomes of its own, and all of them are run in the same calls.

A search for one situation has few genomes at a time, which leaves most lanes of a kernel empty; and a loop of one
situation is another kernel than that of the next. Here all situations share one loop, and each rollout has a lane.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel.run import run
from sscq.baselines.objective import Objective
from sscq.loop.closed_loop import side_by_side
from sscq.loop.quality import Quality

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ApartObjective(Objective):
    """Genomes to fitness and slopes, each genome in the one situation that it is for.

    `owners` are the places of these situations [n]; at first each situation has one genome, in their order. The fitness
    must be the same for all: one with limits of a situation's own has no slopes, so it is not searched like this.
    """

    @cached_property
    def owners(self) -> NDArray[np.intp]:
        """Places of the situations that the genomes are for [n]."""
        return np.arange(len(self.task.situations))

    def of(self, owners: NDArray[np.intp]) -> ApartObjective:
        """Return the same for genomes of other situations: their places [n]."""
        other = copy(self)
        other.owners = np.asarray(owners, np.intp)
        return other

    @property
    def smooth(self) -> bool:
        """Whether slopes are known, and nothing else is asked of the loop: on the CPU, no loop's gain watched."""
        return super().smooth and self.loop.watch is None and self.task.device == "cpu"

    def _valued(self, theta: np.ndarray, violation: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert self._way_back is not None  # noqa: S101  (for the type checker)
        fitness, threads = self.task.fitness, self.task.threads
        violation = np.broadcast_to(np.asarray(violation, float), len(theta))
        value, of_margins, slopes = np.empty(len(theta)), np.empty(len(theta)), np.empty(theta.shape)
        for group in self.loop.groups():
            places = np.flatnonzero(np.isin(self.owners, group))
            if not len(places):
                continue
            job = self._way_back.job(theta[places], self.owners[places].tolist())
            at = side_by_side(range(len(places)), self.loop.kernel.lanes)
            quality = self._met(run(self.loop.kernel, job, at, threads=threads)[0], job.n_steps)
            weights, of_margins[places] = fitness.weights(quality, violation[places])
            flat = {name: np.broadcast_to(weight, (1, len(places)))[0] for name, weight in weights.items()}
            _, slopes[places] = self._way_back.run(job, at, flat, threads)
            value[places] = fitness(quality, violation[places])
        return value, slopes, of_margins

    def _met(self, results: np.ndarray, total: int) -> Quality:
        """What rollouts of one horizon came to, as if they were candidates in one situation."""
        outcome, step = self.loop.outcome(results, total, None, np.empty(0)), self.loop.step
        diverged = np.where(outcome.steps < total, outcome.steps * step, np.nan)[None]
        measures = {name: column[None] for name, column in zip(self.loop.measures, outcome.measures.T, strict=True)}
        return Quality(("",), np.array([total * step]), diverged, measures, None, self.loop.scoring.own.worst)
