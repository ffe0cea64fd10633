"""Slopes of a closed loop's measures with respect to the controller's parameters, by running the loop backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.adjoint import build_adjoint
from plants.core.kernel.run import RolloutJob, grid
from plants.core.kernel.run_adjoint import run_adjoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.kernel.run import RolloutGrid
    from sscq.loop.closed_loop import ClosedLoop
    from sscq.loop.quality import Quality


class LoopSlopes:
    """Slopes of weighted sums of a closed loop's measures.

    Their errors, costs and memory are in docs/performance/slopes.md.

    Parameters
    ----------
    loop : ClosedLoop
        Without measures of the plant's own, and not observed.

    Raises
    ------
    ValueError
        For a loop that is recorded, whose accelerations are iterated, or that has measures of the plant's own.
    """

    def __init__(self, loop: ClosedLoop) -> None:
        if loop.scoring.own:
            names = ", ".join(measure.name for measure in loop.scoring.own.measures)
            raise ValueError(f"slopes are known of the built-in measures; leave out those of the plant's own: {names}")
        self.loop = loop
        self.kernel = build_adjoint(loop.design)

    def evaluate(
        self,
        theta: np.ndarray,
        weights: Mapping[str, np.ndarray | float],
        threads: int | None = None,
        *,
        segment: int | None = None,
    ) -> tuple[Quality, np.ndarray]:
        """Return the quality of every candidate, and the slopes of the sums of its weighted measures.

        Parameters
        ----------
        theta : ndarray [n_candidates, n_theta]
        weights : mapping of measures to numbers, or to ndarray [n_situations or 1, n_candidates or 1]
            Of each measure in the sum of a situation; what is not named counts nothing.
        segment : int, optional
            Steps that are run backwards at a time; left out: as memory allows.

        Returns
        -------
        quality : Quality
            Bit for bit as of :meth:`ClosedLoop.evaluate`.
        slopes : ndarray [n_situations, n_candidates, n_theta]
            Of each situation's sum. Of a rollout that is lost: of its measures up to there; that it is lost has no
            slope.
        """
        loop, theta = self.loop, np.atleast_2d(np.asarray(theta, float))
        shape = (len(loop.situations), len(theta))
        names = loop.scoring.built_in
        given = {name: np.broadcast_to(weight, shape) for name, weight in weights.items()}
        steps, values, slopes = np.zeros(shape), np.zeros((len(names), *shape)), np.zeros((*shape, theta.shape[1]))
        for numbers in loop.groups():
            job, at = self.job(theta, numbers), grid(len(numbers), len(theta), loop.kernel.lanes)
            flat = {name: weight[numbers].ravel() for name, weight in given.items()}
            results, found = self.run(job, at, flat, threads, segment=segment)
            shaped = results.reshape(len(numbers), len(theta), -1)
            steps[numbers] = shaped[..., 0]
            values[:, numbers] = np.moveaxis(shaped[..., 1 : 1 + len(names)], -1, 0)
            slopes[numbers] = found.reshape(len(numbers), len(theta), -1)
        return loop.quality(values, steps), slopes

    def run(
        self,
        job: RolloutJob,
        at: RolloutGrid,
        weights: Mapping[str, np.ndarray],
        threads: int | None = None,
        *,
        segment: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel's results [n_out, n_results] of rollouts, and slopes [n_out, n_theta] of weighted sums.

        Parameters
        ----------
        job, at
            As for :func:`plants.core.kernel.run.run`.
        weights : mapping of measures to ndarray [n_out]
        """
        rows, results = self.loop.design.rows, self.loop.design.results
        given = np.zeros((at.n_out, sum(rows.size[name] for name in results)))
        for name, weight in weights.items():
            given[:, 1 + self.loop.scoring.built_in.index(name)] = weight
        return run_adjoint(self.kernel, job, at, given, threads=threads, segment=segment)

    def job(self, theta: np.ndarray, numbers: Sequence[int]) -> RolloutJob:
        """Return candidates [n_candidates, n_theta] in situations of one group, by their places: a start for each."""
        loop, call = self.loop, self.loop.call(tuple(numbers))
        streams = call.repeated.of_run()
        return RolloutJob(call.start, theta, *streams, call.n_steps, loop.step, 0, call.integers, call.numbers)
