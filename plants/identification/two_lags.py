"""Two lags with dead time, slope and curve, and the load on its input: what most loops of a plant are like near rest.

    inner' = (v - inner) / lag                v(t) = s phi(u(t - dead_time)) + d + c
    y'  = -decay y + slope inner              phi(u) = (exp(curve (u - middle)) - 1) / curve
    d: a random walk of variance walk^2 per second;  c: an Ornstein-Uhlenbeck process of deviation and time

One structure for real lags, integrating (decay 0) and mildly unstable plants (decay below 0), whose gain slope / decay
changes with the input by exp(curve (u - middle)). All loads are counted in units of s u; s, the sense, is 1 or -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
from plants.identification.row import DISTURBANCES, StartOfLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.identification.row import Coefficients, Spans

    Array = NDArray[np.float64]

VAGUE, SHARED = 1e4, 0.999e4
"""Variance of the inner state at the start and its covariance with the walking load, in percent squared.

The walk has the same variance: only their difference is known a little, the loop having been near rest."""

_EQUAL = 1e-6  # of their sum: rates of both lags nearer than this are nudged apart
_NO_DECAY, _TERMS = 0.05, 9  # of decay times step, below which an integral is told by its series: to 1e-16


class TwoLags:
    """The structure of two lags; parameters slope [y/(u s)], decay [1/s], lag and dead_time [s], and disturbances."""

    name: str = "two lags"
    parameters: tuple[str, ...] = ("slope", "decay", "lag", "dead_time", *DISTURBANCES)

    def coefficients(self, dynamics: Sequence[Any], h: Any) -> Coefficients:
        """Return what a step over `h` seconds, which may be 0, does; of arrays and of traced numbers."""
        slope, decay, lag = dynamics
        rate = 1.0 / lag
        near = _EQUAL * (rate + elementary.abs(decay)) - elementary.abs(rate - decay)
        decay = elementary.where(near, rate * (1.0 + 3.0 * _EQUAL), decay)
        first, second = elementary.exp(-decay * h), elementary.exp(-rate * h)
        bend = decay * h
        slow = _NO_DECAY - elementary.abs(bend)
        series = 1.0 + 0.0 * bend
        for k in range(_TERMS, 1, -1):  # (1 - exp(-b)) / b = 1 - b/2 (1 - b/3 (1 - b/4 ...))
            series = 1.0 - bend / k * series
        whole = h * elementary.where(slow, series, (1.0 - first) / elementary.where(slow, 1.0, bend))
        passed = (first - second) / (rate - decay)
        return second, 0.0 * second, slope * passed, first, 1.0 - second, slope * (whole - passed)

    def equations(self, parameters: Array) -> tuple[Array, Array]:
        """Return A [2, 2] and b [2] of (inner, y)' = A (inner, y) + b v for one parameter set [n_parameters]."""
        slope, decay, lag = parameters[:3]
        return np.array([[-1.0 / lag, 0.0], [slope, -decay]]), np.array([1.0 / lag, 0.0])

    def times(self, parameters: Array) -> tuple[Array, Array]:
        """Return the slow lag and what is as good as dead time [n] [s]; infinite lags of integrators stay so."""
        with np.errstate(divide="ignore"):
            slow = np.where(parameters[:, 1] > 0.0, 1.0 / np.abs(parameters[:, 1]), np.inf)
        return slow, parameters[:, 3] + parameters[:, 2]

    def start(self, parameters: Array, spans: Spans) -> StartOfLog:
        """Return that the lag has followed the input, up to the load."""
        one, scale = np.ones(len(parameters)), (spans[1] / 100.0) ** 2
        return StartOfLog(one, VAGUE * scale * one, SHARED * scale * one)

    def dead_time(self, parameters: Array) -> Array:
        """Return the dead time [n] [s]."""
        return np.asarray(parameters[:, 3])


TWO_LAGS = TwoLags()
