"""Run a kernel's rollouts on the GPU: every candidate in every start, one thread each."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from plants.core.gpu import driver
from plants.core.gpu.ptx import LANGUAGE, PROCESSOR, SYMBOL, ptx

if TYPE_CHECKING:
    from plants.core.gpu.text import DeviceText
    from plants.core.kernel.run import RolloutJob

DEVICES = ("cpu", "cuda")

THREADS = 128
"""Of a block."""

WARP = 32
"""Threads that go in step."""

_LAUNCH_STEPS = 4e11
"""Steps of rollouts in a launch: some tenths of a second, so that Ctrl-C is served and no display driver stops it."""


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
        self.function = _function(ptx(kernel, job.start.shape[1] - kernel.rows.count, PROCESSOR, LANGUAGE))
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
        size = max(THREADS, int(_LAUNCH_STEPS / max(1, self.n_steps)) // THREADS * THREADS)
        for first in range(0, total, size):
            last = min(first + size, total)
            self.function.launch(
                -(-(last - first) // THREADS), THREADS, [first, last, inner, across, self.n_candidates, *self._given]
            )
            driver.wait()


@lru_cache(maxsize=32)
def _function(text: str) -> driver.GpuFunction:
    return driver.GpuFunction(text, SYMBOL)
