"""Two lags with dead time, slope and curve, and the load on its input: what most loops of a plant are like near rest.

    inner' = (v - inner) / lag                v(t) = s phi(u(t - dead_time)) + d + c
    y'  = -decay y + slope inner              phi(u) = (exp(curve (u - middle)) - 1) / curve
    d: a random walk of variance walk^2 per second;  c: an Ornstein-Uhlenbeck process of deviation and time

One structure for real lags, integrating (decay 0) and mildly unstable plants (decay below 0), whose gain slope / decay
changes with the input by exp(curve (u - middle)). All loads are counted in units of s u; s, the sense, is 1 or -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.identification.row import DISTURBANCES, ExactStep, StartOfLog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.row import Spans

    Array = NDArray[np.float64]

VAGUE, SHARED = 1e4, 0.999e4
"""Variance of the inner state at the start and its covariance with the walking load, in percent squared.

The walk has the same variance: only their difference is known a little, the loop having been near rest."""

_EQUAL = 1e-6  # of their sum: rates of both lags nearer than this are nudged apart
_NO_DECAY = 1e-8  # of decay times step, below which an integral is told by its series


class TwoLags:
    """The structure of two lags; parameters slope [y/(u s)], decay [1/s], lag and dead_time [s], and disturbances."""

    name: str = "two lags"
    parameters: tuple[str, ...] = ("slope", "decay", "lag", "dead_time", *DISTURBANCES)

    def exact_step(self, parameters: Array, h: Array | float) -> ExactStep:
        """Return the step over `h` seconds [n], which may be 0."""
        slope, decay, lag = parameters[:, :3].T
        rate = 1.0 / lag
        near = np.abs(rate - decay) < _EQUAL * (rate + np.abs(decay))
        decay = np.where(near, rate * (1.0 + 3.0 * _EQUAL), decay)
        first, second = np.exp(-decay * h), np.exp(-rate * h)
        slow = np.abs(decay * h) < _NO_DECAY
        whole = np.where(slow, h * (1.0 - 0.5 * decay * h), -np.expm1(-decay * h) / np.where(slow, 1.0, decay))
        passed = (first - second) / (rate - decay)
        states = np.zeros((len(parameters), 2, 2))
        states[:, 0, 0], states[:, 1, 0], states[:, 1, 1] = second, slope * passed, first
        return ExactStep(states, np.stack([1.0 - second, slope * (whole - passed)], axis=1))

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
