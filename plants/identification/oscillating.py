"""An oscillating plant with dead time and curve, and the load on its input: what two lags cannot be.

period^2 y'' + 2 damping period y' + y = s gain v            v as of two lags; inner = y'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.identification.row import DISTURBANCES, ExactStep, StartOfLog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.row import Spans

    Array = NDArray[np.float64]

_CRITICAL = 1e-6  # of damping below 1: the two real poles of 1 and beyond are another structure's


class Oscillating:
    """The structure; parameters gain [y/u], damping, period (of a radian) and dead_time [s], and disturbances."""

    name: str = "oscillating"
    parameters: tuple[str, ...] = ("gain", "damping", "period", "dead_time", *DISTURBANCES)

    def exact_step(self, parameters: Array, h: Array | float) -> ExactStep:
        """Return the step over `h` seconds [n], which may be 0; damping is below 1."""
        gain, damping, period = parameters[:, :3].T
        damping = np.minimum(damping, 1.0 - _CRITICAL)
        decay = damping / period
        turn = np.sqrt(1.0 - damping**2) / period
        fade = np.exp(-decay * h)
        cosine, sine = np.cos(turn * h), np.sin(turn * h) / turn
        states = np.empty((len(parameters), 2, 2))
        states[:, 0, 0], states[:, 0, 1] = fade * (cosine - decay * sine), -fade * sine / period**2
        states[:, 1, 0], states[:, 1, 1] = fade * sine, fade * (cosine + decay * sine)
        # Held v leads to y = gain v at rest: what is missing there decays as the states do.
        return ExactStep(states, np.stack([-states[:, 0, 1] * gain, (1.0 - states[:, 1, 1]) * gain], axis=1))

    def equations(self, parameters: Array) -> tuple[Array, Array]:
        """Return A [2, 2] and b [2] of (inner, y)' = A (inner, y) + b v for one parameter set [n_parameters]."""
        gain, damping, period = parameters[:3]
        return np.array([[-2.0 * damping / period, -1.0 / period**2], [1.0, 0.0]]), np.array([gain / period**2, 0.0])

    def times(self, parameters: Array) -> tuple[Array, Array]:
        """Return the slow lag and what is as good as dead time [n] [s]: of both real lags where they were two."""
        return 2.0 * parameters[:, 1] * parameters[:, 2], parameters[:, 3] + 0.5 * parameters[:, 2]

    def start(self, parameters: Array, spans: Spans) -> StartOfLog:
        """Return that the output may move by about a per cent of its span in a radian."""
        zero = np.zeros(len(parameters))
        return StartOfLog(zero, (spans[0] / 100.0 / parameters[:, 2]) ** 2, zero)

    def dead_time(self, parameters: Array) -> Array:
        """Return the dead time [n] [s]."""
        return np.asarray(parameters[:, 3])


OSCILLATING = Oscillating()
