"""Two lags with dead time, slope and curve, and the load on its input: what most loops of a plant are like near rest.

    x1' = (v - x1) / lag                      v(t) = s phi(u(t - dead_time)) + d + c
    y'  = -decay y + slope x1                 phi(u) = (exp(curve (u - middle)) - 1) / curve
    d: a random walk of variance walk^2 per second;  c: an Ornstein-Uhlenbeck process of deviation and time

One structure for real lags, integrating (decay 0) and mildly unstable plants (decay below 0), whose gain slope / decay
changes with the input by exp(curve (u - middle)). All loads are counted in units of s u; s, the sense, is 1 or -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PARAMETERS = (
    "slope",
    "decay",
    "lag",
    "dead_time",
    "noise",
    "load",
    "walk",
    "load_time",
    "curve",
)
"""Columns of parameter arrays: [y/(u s)], [1/s], [s], [s], [y], [u], [u/sqrt(s)], [s], [1/u]."""

_EQUAL = 1e-6  # of their sum: rates of both lags nearer than this are nudged apart
_NO_DECAY = 1e-8  # of decay times step, below which an integral is told by its series
_SMALL_CURVE = 1e-5  # of curve times input, below which it is told by its series


def curved(u: Array, curve: Array | float) -> Array:
    """Return phi of deviations from the middle of the input: (exp(curve u) - 1) / curve, u itself without a curve."""
    curve = np.asarray(curve, float)
    bend = curve * u
    small = np.abs(bend) < _SMALL_CURVE
    steep = np.where(small, 1.0, curve)
    return np.where(small, u * (1.0 + bend * (0.5 + bend / 6.0)), np.expm1(bend) / steep)


@dataclass(frozen=True, eq=False)
class ExactStep:
    """What a step of some length does to (x1, y) while v is held: all arrays [n].

    x1+ = x1_x1 x1 + x1_v v;  y+ = y_y y + y_x1 x1 + y_v v.
    """

    x1_x1: Array
    x1_v: Array
    y_y: Array
    y_x1: Array
    y_v: Array

    @classmethod
    def of(cls, slope: Array, decay: Array, lag: Array, h: Array | float) -> ExactStep:
        """Return the step over `h` seconds [n], which may be 0."""
        rate = 1.0 / np.asarray(lag, float)
        decay = np.asarray(decay, float)
        near = np.abs(rate - decay) < _EQUAL * (rate + np.abs(decay))
        decay = np.where(near, rate * (1.0 + 3.0 * _EQUAL), decay)
        first, second = np.exp(-decay * h), np.exp(-rate * h)
        slow = np.abs(decay * h) < _NO_DECAY
        whole = np.where(slow, h * (1.0 - 0.5 * decay * h), -np.expm1(-decay * h) / np.where(slow, 1.0, decay))
        passed = (first - second) / (rate - decay)
        return cls(second, 1.0 - second, first, slope * passed, slope * (whole - passed))


@dataclass(frozen=True, eq=False)
class Row:
    """What happens from one row to the next, for parameter sets [n]: coefficients of the two inputs in force.

    With dead time (rows + part) step the input of `rows + 1` rows before acts for the first `part` of the row, that of
    `rows` before for the rest.

    Attributes
    ----------
    whole : ExactStep
    rows : array of int [n]
    x1_before, x1_after, y_before, y_after : array [n]
        What both inputs give to x1 and y.
    fading : array [n]
        Of the coloured load.
    """

    whole: ExactStep
    rows: NDArray[np.intp]
    x1_before: Array
    x1_after: Array
    y_before: Array
    y_after: Array
    fading: Array

    @classmethod
    def of(cls, parameters: Array, step: float) -> Row:
        """Return it for parameters [n, len(PARAMETERS)]."""
        slope, decay, lag, dead = parameters[:, :4].T
        rows = np.floor(dead / step).astype(np.intp)
        part = dead - rows * step
        early, late = (ExactStep.of(slope, decay, lag, h) for h in (part, step - part))
        return cls(
            whole=ExactStep.of(slope, decay, lag, step),
            rows=rows,
            x1_before=late.x1_x1 * early.x1_v,
            x1_after=late.x1_v,
            y_before=late.y_y * early.y_v + late.y_x1 * early.x1_v,
            y_after=late.y_v,
            fading=np.exp(-step / parameters[:, PARAMETERS.index("load_time")]),
        )
