"""Which gains a loop really ran with: regression of its output's increments on those of its error.

A PI block adds kp (e - e_before) + ki e_before h to its output in each row, or ki e h if it sums first: so what is
found is ki, and kp or kp - ki h. Where the output is logged in steps, increments are off by as much as these: such rows
are no outliers, they are all that tells a slow integral.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq.identification.reading.signs import quantum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST_ROWS = 20
_HUBER = 1.345  # deviations beyond which a row counts less: 95 % as good as least squares where errors are normal
_ROUNDS = 30
_OF_MEDIAN = 1.4826  # standard deviation over the median magnitude, of normal numbers
_EXACT = 1e-12  # of the increments' size: residuals below this are rounding


@dataclass(frozen=True)
class EffectiveGains:
    """What explains the increments of the output best.

    Attributes
    ----------
    kp : float
        Up to ki times a row, by the block's order of summation [u/y].
    ki : float
        [u/(y s)]
    kd : float
        0 where a derivative explains nothing more [u s/y].
    explained : float
        Share of the increments' variance (R squared).
    rows : int
        That were used: in automatic, away from the limits, with their neighbours.
    deviations : (of kp, of ki)
        Standard deviations of both; infinite where the output is logged in steps as large as its moves.
    """

    kp: float
    ki: float
    kd: float
    explained: float
    rows: int
    deviations: tuple[float, float] = (0.0, 0.0)


def effective_gains(
    set_point: Array,
    measured: Array,
    output: Array,
    step: float,
    automatic: NDArray[np.bool_] | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> EffectiveGains | None:
    """Return the gains of a log's rows, or None where too few of them tell.

    Parameters
    ----------
    set_point, measured, output : array [n]
        Not finite where a row is missing.
    step : float
        Between rows [s].
    automatic : array of bool [n], optional
    limits : (low, high)
        Of the output: rows at them say nothing.
    """
    error = set_point - measured
    known = np.isfinite(error) & np.isfinite(output)
    if automatic is not None:
        known &= automatic
    room = 1e-9 * (np.nanmax(np.abs(output)) + 1.0)
    known &= (output > limits[0] + room) & (output < limits[1] - room)
    both = known[1:] & known[:-1]
    changes = np.diff(error)
    second = np.concatenate([[np.nan], np.diff(changes)])
    three = both & np.concatenate([[False], both[:-1]])
    moved = np.diff(output)
    if int(three.sum()) < LEAST_ROWS or not np.ptp(moved[three]) > 0.0:
        return None
    plain = np.column_stack([changes, error[1:] * step])[three]
    with_rate = np.column_stack([plain, second[three] / step])
    rounding = quantum(output[known]) / _OF_ROUNDING
    fits = [(columns, *_robust(columns, moved[three], rounding)) for columns in (plain, with_rate)]
    (_, (kp, ki), explained, sure), (_, (kp_d, ki_d, kd), more, sure_d) = fits
    total = float(np.var(moved[three]))
    if 1.0 - more < _MUCH_LESS * (1.0 - explained) and (1.0 - explained) * total > _EXACT * total:
        return EffectiveGains(float(kp_d), float(ki_d), float(kd), more, int(three.sum()), sure_d)
    return EffectiveGains(float(kp), float(ki), 0.0, explained, int(three.sum()), sure)


_MUCH_LESS = 0.5  # what a derivative leaves unexplained, of what is left without one
_MOSTLY = 0.25  # of the moves' variance
_OF_ROUNDING = 6.0**0.5  # a step over the deviation of a difference of two values that are rounded to it


def _robust(columns: Array, values: Array, rounding: float) -> tuple[Array, float, tuple[float, float]]:
    """Least squares with Huber's weights; the share of the variance explained, of rows that count in full; deviations.

    `rounding` is the deviation that values have because they are rounded: it is neither an outlier nor unexplained.
    """
    weights = np.ones(len(values))
    found: Array = np.zeros(columns.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        found = np.asarray(np.linalg.lstsq(columns * root[:, None], values * root, rcond=None)[0], float)
        left = values - columns @ found
        # Two roundings differ by up to a whole step.
        scale = max(_OF_MEDIAN * float(np.median(np.abs(left))), _OF_ROUNDING * rounding / _HUBER)
        if scale <= _EXACT * float(np.abs(values).max()):
            break
        new = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(left), np.finfo(float).tiny))
        if np.allclose(new, weights, rtol=0.0, atol=1e-6):
            break
        weights = new
    left = values - columns @ found
    usual = max(_OF_MEDIAN * float(np.median(np.abs(left))), rounding)
    full = np.abs(left) <= max(3.0 * usual, _EXACT * float(np.abs(values).max()))
    variance = float(np.var(values[full]))
    squared = float(np.mean(left[full] ** 2))
    unexplained = max(squared - rounding**2, 0.0)
    spread = np.sqrt(squared * np.diag(np.linalg.pinv(columns[full].T @ columns[full])))
    if rounding**2 > _MOSTLY * variance:  # what is left is no noise then: it hangs on the error
        spread = np.full(len(spread), np.inf)
    explained = 1.0 - unexplained / variance if variance > 0.0 else 0.0
    return found, explained, (float(spread[0]), float(spread[1]))
