"""Means with 95 % bootstrap intervals over the seeds: whole seeds are drawn, so situations stay together.

Drawn as in `sscq.verdict.verdict`, so equal quantities get equal intervals. Where nothing is random, or there is one
seed, there is no interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.records.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.verdict.bootstrap import Change

    Array = NDArray[np.float64]

_DRAWS = 2000
_ENDS = (0.025, 0.975)


def draws(n_seeds: int, seed: int) -> NDArray[np.int64]:
    """Return the seeds of every bootstrap sample [draw, n_seeds]."""
    return np.random.Generator(np.random.PCG64(seed)).integers(0, n_seeds, (_DRAWS, n_seeds))


def surviving_mean(values: Array, lost: NDArray[np.bool_], rows: NDArray[np.int64]) -> Estimate:
    """Return the mean over the rollouts [seed, situation] that are not lost; NaN where all are."""
    if not lost.any():
        return mean(values, rows)
    if lost.all():
        return Estimate(float("nan"))
    known, some = np.where(lost, np.nan, values), rows[~lost[rows].all(axis=(1, 2))]
    low, high = np.quantile(np.nanmean(known[some], axis=(1, 2)), _ENDS)
    return Estimate(float(np.nanmean(known)), float(low), float(high))


def mean(values: Array, rows: NDArray[np.int64]) -> Estimate:
    """Return the mean of `values` [seed] or [seed, situation] with its interval."""
    if not random(values):
        return Estimate(float(values.mean()))
    each = values if values.ndim == 1 else values.mean(axis=1)
    low, high = np.quantile(each[rows].mean(axis=1), _ENDS)
    return Estimate(float(values.mean()), float(low), float(high))


def change(values: Array, against: Array, rows: NDArray[np.int64]) -> Estimate:
    """Return the relative change of the means of paired rollouts, each [seed] or [seed, situation].

    In shares of the base's magnitude: less is better for a signed cost too.
    """
    base = float(against.mean())
    if base == 0.0:
        return Estimate(float("nan"))
    value = float(values.mean() - base) / abs(base)
    if not (random(values) or random(against)):
        return Estimate(value)
    one, other = (v[rows].mean(axis=1) if v.ndim == 1 else v.mean(axis=1)[rows].mean(axis=1) for v in (values, against))
    low, high = np.quantile((one - other) / np.abs(other), _ENDS)
    return Estimate(value, float(low), float(high))


def of_change(found: Change) -> Estimate:
    """Return a change of the verdict; one without width, from rollouts without chance, has no interval."""
    if found.low == found.high:
        return Estimate(found.value)
    return Estimate(found.value, found.low, found.high)


def random(values: Array) -> bool:
    """Whether the seeds differ at all."""
    return len(values) > 1 and bool(np.any(values != values[:1]))
