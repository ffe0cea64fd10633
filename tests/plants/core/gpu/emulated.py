"""Kernels for a GPU run on the CPU: the same text, one rollout after the other."""

import numpy as np

from plants.core.gpu.text import ARGUMENTS
from plants.core.kernel.machine_code import MachineCode, compiled


def on_cpu(kernel, job):
    """Return what the GPU's kernel gives for every candidate in every start [n_starts * n_candidates, n_results]."""
    code = MachineCode(compiled(kernel.text, ARGUMENTS), ARGUMENTS)
    n_starts, n_candidates = len(job.start), len(job.theta)
    results = np.full((n_starts * n_candidates, sum(kernel.rows.size[name] for name in kernel.results)), np.nan)
    integers = np.array([job.first_step, job.n_steps, *(job.integers[name] for name in kernel.integers)], np.int64)
    numbers = np.array([job.step, *(job.numbers[name] for name in kernel.numbers)], float)
    theta = np.ascontiguousarray(job.theta if kernel.reads_again else job.theta.T)
    given = (np.require(job.start, float, "C"), theta, job.codes, job.keys, job.series, integers, numbers, results)
    rings = job.start.shape[1] - kernel.rows.count
    own = (
        np.zeros(kernel.rows.count),
        np.zeros(rings),
        np.zeros(2 * kernel.n_streams),
        np.zeros(kernel.n_streams, np.int64),
    )
    for source in range(n_starts):
        for candidate in range(n_candidates):
            code(source, candidate, source * n_candidates + candidate, *given, *own)
    return results
