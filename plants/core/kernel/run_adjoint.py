"""Run a kernel there and back over many rollouts: results, and slopes of their weighted sums, as arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.kernel import aligned
from plants.core.kernel.run import call_in_chunks, thread_count
from plants.core.signals import noise

if TYPE_CHECKING:
    from plants.core.kernel.adjoint import AdjointKernel
    from plants.core.kernel.run import RolloutGrid, RolloutJob

_SHORT, _LONG = 2**20, 2**23
"""Bytes that a thread keeps of a segment, of short steps and of long ones.

The first is what a core's own cache holds; more costs short steps more time than running them again. Long ones do not
keep the memory busy, whatever its kind.
"""

_LINES = 5000  # of a kernel with long steps: registered plants have 400 to 1400, or more than 10 000


def segment_of(kernel: AdjointKernel, n_steps: int) -> int:
    """Return the number of steps that are run backwards at a time.

    All, where what is kept of them is small; else so many that what is kept of a segment and the workspaces at the
    segments' starts are of one size: together they are the smallest then, and grow with the square root of the steps.
    """
    room = _LONG if kernel.text.count("\n") > _LINES else _SHORT
    fits = room // (8 * kernel.lanes * kernel.n_kept)
    return min(n_steps, max(fits, math.isqrt(n_steps * kernel.n_saved // kernel.n_kept) + 1))


def run_adjoint(
    kernel: AdjointKernel,
    job: RolloutJob,
    where: RolloutGrid,
    weights: np.ndarray,
    *,
    threads: int | None = None,
    segment: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Run all rollouts of the grid there and back.

    Parameters
    ----------
    kernel, job, where
        As for :func:`plants.core.kernel.run.run`.
    weights : ndarray [n_out, n_results]
        Of each result in the sum whose slopes are wanted.
    segment : int, optional
        Steps that are run backwards at a time; results do not depend on it.

    Returns
    -------
    results : ndarray [n_out, n_results]
    slopes : ndarray [n_out, n_theta]
    """
    theta, n_rows, lanes = np.require(job.theta, float, "C"), kernel.n_rows, kernel.lanes
    rings = job.start.shape[1] - n_rows
    long = segment or segment_of(kernel, job.n_steps)
    parts = -(-job.n_steps // long)
    results, slopes = np.full(weights.shape, np.nan), np.zeros((where.n_out, theta.shape[1]))
    integers = dict(job.integers)
    for name in kernel.rings:  # rings lie behind the adjoints
        integers[name] += kernel.n_adjoint
    shared = (
        where.lane_start,
        where.lane_theta,
        where.lane_out,
        np.require(job.start, float, "C"),
        theta,
        job.codes,
        job.keys,
        job.series,
        np.array([job.first_step, job.n_steps, long, *(integers[name] for name in kernel.integers)], np.int64),
        np.array([job.step, *(job.numbers[name] for name in kernel.numbers)], float),
        results,
        np.require(weights, float, "C"),
        slopes,
    )
    rollout = kernel.rollout

    def call(first: int, last: int) -> None:
        rollout(
            first,
            last,
            *shared,
            aligned((n_rows + kernel.n_adjoint + 2 * rings) * lanes),
            np.empty((parts, kernel.n_saved + rings, lanes)),
            np.empty((long, kernel.n_kept, lanes)),
            np.empty((lanes, kernel.n_streams, noise.BLOCK)),
            np.empty(kernel.n_streams, np.int64),
        )

    call_in_chunks(call, len(where.lane_start), 1, thread_count(threads))
    return results, slopes
