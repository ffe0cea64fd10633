"""An oscillating plant with dead time and curve, and the load on its input: what two lags cannot be.

period^2 y'' + 2 damping period y' + y = s gain v            v as of two lags; inner = y'
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

_CRITICAL = 1e-6  # of damping below 1: the two real poles of 1 and beyond are another structure's


class Oscillating:
    """The structure; parameters gain [y/u], damping, period (of a radian) and dead_time [s], and disturbances."""

    name: str = "oscillating"
    parameters: tuple[str, ...] = ("gain", "damping", "period", "dead_time", *DISTURBANCES)

    def coefficients(self, dynamics: Sequence[Any], h: Any) -> Coefficients:
        """Return what a step over `h` seconds, which may be 0, does; damping is below 1.

        Of arrays, and of the traced numbers of a kernel.
        """
        gain, damping, period = dynamics
        damping = elementary.minimum(damping, 1.0 - _CRITICAL)
        decay = damping / period
        turn = elementary.sqrt(1.0 - damping * damping) / period
        fade = elementary.exp(-decay * h)
        cosine, sine = elementary.cos(turn * h), elementary.sin(turn * h) / turn
        x_y, y_y = -fade * sine / (period * period), fade * (cosine + decay * sine)
        # Held v leads to y = gain v at rest: what is missing there decays as the states do.
        return fade * (cosine - decay * sine), x_y, fade * sine, y_y, -x_y * gain, (1.0 - y_y) * gain

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
