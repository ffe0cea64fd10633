"""The Kalman filter of two lags row by row in plain NumPy, for one parameter set: the reference of the compiled one.

It keeps what it sees, so it is also what pictures and tests of residuals are made from; :func:`smoothed` adds the loads
as all rows together tell them (Rauch, Tung and Striebel, AIAA Journal 3, 1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.two_lags import PARAMETERS, Row, curved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]

SKIPPED = 3
"""First rows that do not count: the filter does not know yet where the loop is."""

VAGUE, SHARED = 1e4, 0.999e4
"""Variances of the inner state and of the walking load at the start, and their covariance, in percent squared."""

_BENT, _SLOPE = 16.0, 8.0  # squared innovations count in full up to four deviations, in proportion beyond


@dataclass(frozen=True, eq=False)
class Filtered:
    """What a filter saw.

    Attributes
    ----------
    log_likelihood : float
    innovation, variance : array [n]
        Of each row's measured output, before it is known; NaN where it is missing.
    state, covariance : array [n, 4], [n, 4, 4]
        Of (x1, y, d, c), deviations from the origin, when each row's output is known.
    ahead, ahead_covariance : array [n, 4], [n, 4, 4]
        The same of the next row, before its output is known.
    transition : array [4, 4]
    """

    log_likelihood: float
    innovation: Array
    variance: Array
    state: Array
    covariance: Array
    ahead: Array
    ahead_covariance: Array
    transition: Array


def bent(squared: Array | float) -> Array:
    """Return what a squared standard innovation counts: itself up to 16, beyond it in proportion to its root."""
    squared = np.asarray(squared, float)
    return np.where(squared <= _BENT, squared, _SLOPE * np.sqrt(np.maximum(squared, _BENT)) - _BENT)


def filtered(record: LoopRecord, parameters: Array, sense: float = 1.0, span: float = 100.0) -> Filtered:
    """Run the filter over a record.

    Parameters
    ----------
    record : LoopRecord
    parameters : array [len(PARAMETERS)]
    sense : float
        1 or -1.
    span : float
        Of the signals: what is vague at the start is so in hundredths of it.
    """
    row, values = Row.of(np.atleast_2d(parameters), record.step), dict(zip(PARAMETERS, parameters, strict=True))
    transition, own_noise = _transition(row), _noise(values, record.step, float(row.fading[0]))
    inputs = sense * curved(record.input - record.origin[1], values["curve"])
    measured, origin = record.measured, record.origin[0]
    start = float(record.output[measured][0]) - origin
    state = np.array([inputs[0], start, 0.0, 0.0])
    covariance = _start(values, span)
    n, total, late, given = len(record), 0.0, int(row.rows[0]), _inputs(row)
    innovations, variances = np.full(n, np.nan), np.full(n, np.nan)
    states, covariances = np.empty((2, n, 4)), np.empty((2, n, 4, 4))
    for k in range(n):
        if measured[k]:
            innovations[k] = record.output[k] - origin - state[1]
            variances[k] = covariance[1, 1] + values["noise"] ** 2
            gain = covariance[:, 1] / variances[k]
            state, covariance = state + gain * innovations[k], covariance - np.outer(gain, covariance[1])
            if k >= SKIPPED:
                total -= 0.5 * float(np.log(variances[k]) + bent(innovations[k] ** 2 / variances[k]))
        states[0, k], covariances[0, k] = state, covariance
        acting = inputs[max(k - late - 1, 0)], inputs[max(k - late, 0)]
        state = transition @ state
        state[:2] += given @ acting
        covariance = transition @ covariance @ transition.T + own_noise
        states[1, k], covariances[1, k] = state, covariance
    return Filtered(total, innovations, variances, states[0], covariances[0], states[1], covariances[1], transition)


def smoothed(found: Filtered) -> tuple[Array, Array]:
    """Return states [n, 4] and their covariances [n, 4, 4] as all rows together tell them."""
    state, covariance = found.state.copy(), found.covariance.copy()
    for k in range(len(state) - 2, -1, -1):
        gain = np.linalg.solve(found.ahead_covariance[k], found.transition @ found.covariance[k]).T
        state[k] += gain @ (state[k + 1] - found.ahead[k])
        covariance[k] += gain @ (covariance[k + 1] - found.ahead_covariance[k]) @ gain.T
    return state, covariance


def _transition(row: Row) -> Array:
    w, fading = row.whole, float(row.fading[0])
    x1_v, y_v = float(w.x1_v[0]), float(w.y_v[0])
    return np.array(
        [
            [float(w.x1_x1[0]), 0.0, x1_v, x1_v],
            [float(w.y_x1[0]), float(w.y_y[0]), y_v, y_v],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, fading],
        ]
    )


def _inputs(row: Row) -> Array:
    """What the two inputs in force give to x1 and y [2, 2]."""
    columns = ((row.x1_before, row.x1_after), (row.y_before, row.y_after))
    return np.array([[float(one[0]) for one in pair] for pair in columns])


def _noise(values: dict[str, float], step: float, fading: float) -> Array:
    return np.diag([0.0, 0.0, values["walk"] ** 2 * step, values["load"] ** 2 * (1.0 - fading**2)])


def _start(values: dict[str, float], span: float) -> Array:
    scale = (span / 100.0) ** 2
    covariance = np.diag([VAGUE * scale, 4.0 * values["noise"] ** 2 + scale, VAGUE * scale, values["load"] ** 2])
    covariance[0, 2] = covariance[2, 0] = SHARED * scale
    return covariance
