"""Run a kernel over many rollouts: chunks over threads, results and snapshots as arrays."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.kernel.kernel import Kernel

_CHUNK_SECONDS = 0.1  # work of one call into compiled code: Ctrl-C is served between calls
_STEP_SECONDS = 4e-9  # rough time of one step of one rollout, only to size the calls


@dataclass(frozen=True)
class RolloutGrid:
    """Which rollouts to run: every candidate in every start, or given pairs.

    Attributes
    ----------
    lane_start, lane_theta, lane_out : ndarray of int64 [n_chunks, lanes]
        Row of `start`, row of `theta` and row of the results for each lane; results row -1 pads.
    n_out : int
    """

    lane_start: np.ndarray
    lane_theta: np.ndarray
    lane_out: np.ndarray
    n_out: int


@lru_cache(maxsize=64)
def grid(n_starts: int, n_candidates: int, lanes: int) -> RolloutGrid:
    """All pairs, results in start-major order. Many candidates: lanes of one chunk share their start.

    Generations are of equal size: their grid is made once, and not to be written.
    """
    if n_candidates >= lanes:
        per_start = -(-n_candidates // lanes) * lanes
        candidate = np.tile(np.arange(per_start), n_starts)
        start = np.repeat(np.arange(n_starts), per_start)
        out = np.where(candidate < n_candidates, start * n_candidates + candidate, -1)
        candidate = np.minimum(candidate, n_candidates - 1)
    else:
        total = n_starts * n_candidates
        flat = np.arange(-(-total // lanes) * lanes)
        out = np.where(flat < total, flat, -1)
        flat = np.minimum(flat, total - 1)
        start, candidate = flat // n_candidates, flat % n_candidates
    tables = [np.ascontiguousarray(values.reshape(-1, lanes)) for values in (start, candidate, out)]
    for table in tables:
        table.flags.writeable = False
    return RolloutGrid(tables[0], tables[1], tables[2], n_starts * n_candidates)


@dataclass(frozen=True)
class RolloutJob:
    """All that one call of a kernel needs beside the grid.

    Attributes
    ----------
    start : ndarray [n_starts, rows]
        Initial workspace of each start (situation), ring rows behind the kernel's own.
    theta : ndarray [n_candidates, n_theta]
    codes, keys, series : ndarray
        Noise streams of each start, from `signal_bank.stream_arrays`.
    integers, numbers : mapping
        The kernel's uniform integers and numbers by name.
    """

    start: np.ndarray
    theta: np.ndarray
    codes: np.ndarray
    keys: np.ndarray
    series: np.ndarray
    n_steps: int
    step: float
    first_step: int = 0
    integers: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)


def run(
    kernel: Kernel,
    job: RolloutJob,
    where: RolloutGrid,
    *,
    threads: int | None = None,
    finals: bool = False,
    record: Sequence[int] = (),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run all rollouts of the grid.

    Returns
    -------
    results : ndarray [n_out, n_results]
    finals : ndarray [n_out, rows]
        Workspaces at the end; empty unless asked for.
    record : ndarray [n_steps + 1, len(record), lanes]
        The rows named by number in `record`, of the first chunk, in every step; empty unless asked for.
    """
    n_results = sum(kernel.rows.size[name] for name in kernel.results)
    results = np.full((where.n_out, n_results), np.nan)
    ends = np.empty((where.n_out if finals else 0, job.start.shape[1]))
    taken = np.empty((job.n_steps + 1 if record else 0, len(record), kernel.lanes))
    rollout = kernel.rollout
    shared = (
        where.lane_start, where.lane_theta, where.lane_out, _floats(job.start), _floats(job.theta),
        job.codes, job.keys, job.series,
        np.array([job.first_step, job.n_steps, *(job.integers[name] for name in kernel.integers)], np.int64),
        np.array([job.step, *(job.numbers[name] for name in kernel.numbers)], float),
        results, ends, np.array(record, np.int64), taken,
    )  # fmt: skip
    call_in_chunks(
        lambda first, last: rollout(first, last, *shared, *kernel.memory(job.start.shape[1])),
        len(where.lane_start),
        max(1, int(_CHUNK_SECONDS / (max(1, job.n_steps) * kernel.lanes * _STEP_SECONDS))),
        thread_count(threads),
    )
    return results, ends, taken


def _floats(array: np.ndarray) -> np.ndarray:
    return np.require(array, float, "C")


def thread_count(threads: int | None) -> int:
    """Return the number of threads: as asked, else all processors this process may use."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    return threads or len(os.sched_getaffinity(0))


def call_in_chunks(call: Callable[[int, int], None], n_chunks: int, size: int, threads: int) -> None:
    """Call ``call(first, last)`` for chunks of 0 .. n_chunks of at most `size`, or of even shares, in threads."""
    ranges = [(first, min(first + size, n_chunks)) for first in range(0, n_chunks, size)]
    if threads == 1 or len(ranges) == 1:
        if threads > 1 and n_chunks > 1:
            half = -(-n_chunks // threads)
            ranges = [(first, min(first + half, n_chunks)) for first in range(0, n_chunks, half)]
        else:
            for first, last in ranges:
                call(first, last)
            return
    pool = _pool(threads)
    pending = {pool.submit(call, first, last) for first, last in ranges}
    try:
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
    except BaseException:
        wait([future for future in pending if not future.cancel()])  # what runs writes into the caller's arrays
        raise


@lru_cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting them takes longer than most calls."""
    return ThreadPoolExecutor(threads, "kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not live on in a forked process
