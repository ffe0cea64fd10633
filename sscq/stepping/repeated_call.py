"""One call of a kernel on arrays that stay in place, to be made again and again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.kernel import Kernel
    from plants.core.run import Grid


class RepeatedCall:
    """A call of a kernel: fill its arrays, call it, read its arrays.

    A step of a few lanes takes microseconds; to set up a call as `plants.core.run` does takes longer.

    Attributes
    ----------
    start : ndarray [n, rows]
    theta : ndarray [n, n_theta]
    series : ndarray [n_series, length]
    results : ndarray [n, n_results]
    finals : ndarray [n, rows]
        Workspaces at the end, where they are asked for.
    record : ndarray [steps + 1, recorded, lanes]
        Of the first lanes, where rows are to be recorded.
    """

    def __init__(
        self,
        kernel: Kernel,
        where: Grid,
        n_steps: int,
        step: float,
        *,
        width: int,
        n_theta: int = 0,
        series: np.ndarray,
        codes: np.ndarray,
        keys: np.ndarray,
        integers: Mapping[str, int],
        numbers: Mapping[str, float],
        finals: bool = False,
        record: Sequence[int] = (),
    ) -> None:
        n = where.n_out
        self.start, self.theta, self.series, self.keys = np.zeros((n, width)), np.zeros((n, n_theta)), series, keys
        self.results = np.zeros((n, sum(kernel.rows.size[name] for name in kernel.results)))
        self.finals = np.zeros((n if finals else 0, width))
        self.record = np.zeros((n_steps + 1 if record else 0, len(record), kernel.lanes))
        self._integers = np.array([0, n_steps, *(integers[name] for name in kernel.integers)], np.int64)
        shared = (
            0, len(where.lane_start), where.lane_start, where.lane_theta, where.lane_out, self.start, self.theta,
            codes, keys, series, self._integers, np.array([step, *(numbers[name] for name in kernel.numbers)], float),
            self.results, self.finals, np.array(record, np.int64), self.record, *kernel.memory(width),
        )  # fmt: skip
        rollout = kernel.rollout
        bind = getattr(rollout, "bound", None)  # interpreted sources are plain functions
        self._call = functools.partial(rollout, *shared) if bind is None else bind(*shared)

    def __call__(self, first_step: int = 0) -> None:
        """Run from this step on."""
        self._integers[0] = first_step
        self._call()
