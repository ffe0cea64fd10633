"""Run a kernel's rollouts on the GPU: every candidate in every start, one thread each."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from plants.core.gpu import driver
from plants.core.gpu.ptx import SYMBOL, ptx

if TYPE_CHECKING:
    from plants.core.gpu.text import DeviceText
    from plants.core.kernel.run import RolloutJob

THREADS = 128
"""Of a block."""

WARP = 32
"""Threads that go in step."""

_FIRST_STEPS, _LAUNCH_SECONDS, _MOST_GROWTH = 1e9, 0.2, 50.0
"""Steps of rollouts in the first launch; time of the others: Ctrl-C is served, no display driver stops them; growth."""


def run(kernel: DeviceText, job: RolloutJob) -> np.ndarray:
    """Run every candidate in every start.

    Returns
    -------
    results : ndarray [n_starts * n_candidates, n_results]
        Start-major.

    Raises
    ------
    NoGpuError, GpuError
        If there is no GPU, or the driver refuses (such as for want of memory).
    """
    prepared = Prepared(kernel, job)
    prepared.run()
    return prepared.results.fetched()


class Prepared:
    """A job whose arrays lie on the GPU."""

    def __init__(self, kernel: DeviceText, job: RolloutJob) -> None:
        self.kernel = kernel
        self.function = _function(ptx(kernel, job.start.shape[1] - kernel.rows.count))
        self.n_starts, self.n_candidates, self.n_steps = len(job.start), len(job.theta), job.n_steps
        n_results = sum(kernel.rows.size[name] for name in kernel.results)
        integers = [job.first_step, job.n_steps, *(job.integers[name] for name in kernel.integers)]
        numbers = [job.step, *(job.numbers[name] for name in kernel.numbers)]
        self.results = driver.DeviceArray((self.n_starts * self.n_candidates, n_results), float)
        theta = np.asarray(job.theta, float)
        theta = theta if kernel.reads_again else theta.T
        uniform = np.array(integers, np.int64), np.array(numbers, float)
        arrays = (np.asarray(job.start, float), theta, job.codes, job.keys, job.series, *uniform)
        self._given = [*map(driver.DeviceArray.of, arrays), self.results]

    def run(self) -> None:
        """Run it; the results lie on the GPU then."""
        total = self.n_starts * self.n_candidates
        across = int(not self.kernel.reads_again or self.n_starts < WARP)
        inner = self.n_candidates if across else self.n_starts
        first, size = 0, self._whole_blocks(_FIRST_STEPS / max(1, self.n_steps))
        while first < total:
            last = min(first + size, total)
            begun = time.perf_counter()
            given = [first, last, inner, across, self.n_candidates, *self._given]
            self.function.launch(-(-(last - first) // THREADS), THREADS, given)
            driver.wait()
            took = max(time.perf_counter() - begun, 1e-6)
            size = self._whole_blocks(min(_LAUNCH_SECONDS / took, _MOST_GROWTH) * (last - first))
            first = last

    @staticmethod
    def _whole_blocks(rollouts: float) -> int:
        return max(1, int(rollouts) // THREADS) * THREADS


@lru_cache(maxsize=32)
def _function(text: str) -> driver.GpuFunction:
    return driver.GpuFunction(text, SYMBOL)
