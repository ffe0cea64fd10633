"""What the signals of a loop show without a model: oscillation, limits, moves, and how it compares to the best.

Sources: N. F. Thornhill and T. Hagglund, Detection and diagnosis of oscillation in control loops, Control Engineering
Practice 5 (1997); T. J. Harris, Assessment of control loop performance, Can. J. Chem. Eng. 67 (1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_INTERVALS, _PERIODS = 10, 5  # zero crossings that are looked at; periods below which nothing is called an oscillation
_ORDER = 20  # of the autoregression for the minimum variance
_MOVE = 3.0  # deviations of the noise: a smaller step of the set point tells nothing
_BY_HAND = 6.0  # usual moves: in manual most rows have none
_AT_LIMIT = 1e-6  # of the limits' distance


@dataclass(frozen=True)
class LoopOscillation:
    """A regular oscillation.

    Attributes
    ----------
    period : float
        [s]
    regularity : float
        Mean of the intervals between zero crossings of the autocorrelation over three times their deviation; above 1:
        regular.
    of_measured, of_output : float
        Amplitudes, root two times the deviation [y], [u].
    """

    period: float
    regularity: float
    of_measured: float
    of_output: float


def oscillation(error: Array, output: Array, step: float) -> LoopOscillation | None:
    """Return the oscillation of a control error [n], None where it is not regular or has fewer than five periods."""
    known = np.isfinite(error)
    if known.sum() < 4 * _INTERVALS:
        return None
    values = np.where(known, error - error[known].mean(), 0.0)
    n = len(values)
    spectrum = np.abs(np.fft.rfft(values, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[:n]
    if not correlation[0] > 0.0:
        return None
    signs = np.signbit(correlation)
    crossings = np.flatnonzero(signs[1:] != signs[:-1])[: _INTERVALS + 1]
    if len(crossings) < _INTERVALS + 1:
        return None
    parts = correlation[crossings] / (correlation[crossings] - correlation[crossings + 1])
    intervals = np.diff(crossings + parts)
    deviation = float(intervals.std(ddof=1))
    regularity = float(intervals.mean()) / (3.0 * deviation) if deviation > 0.0 else np.inf
    period = 2.0 * float(intervals.mean())
    if regularity <= 1.0 or n < _PERIODS * period:
        return None
    amplitudes = (np.sqrt(2.0) * float(np.std(column)) for column in (values[known], output))
    return LoopOscillation(period * step, regularity, *amplitudes)


def share_at_limits(output: Array, limits: tuple[float, float]) -> tuple[float, float]:
    """Return the shares of rows at the lower and at the upper limit."""
    room = _AT_LIMIT * (limits[1] - limits[0])
    return float((output <= limits[0] + room).mean()), float((output >= limits[1] - room).mean())


def moves(set_point: Array, output: Array, automatic: NDArray[np.bool_] | None, noise: float, usual: float) -> int:
    """Return how many moves tell of the plant: steps of the set point in automatic, of the output in manual.

    Parameters
    ----------
    set_point, output : array [n]
    automatic : array of bool [n], or None
        None: automatic throughout.
    noise : float
        Standard deviation of the sensor's [y]: smaller steps of the set point do not count.
    usual : float
        Size of the output's usual moves [u]: in manual those count that are six times as large.
    """
    by_hand = np.zeros(len(output), bool) if automatic is None else ~automatic
    of_set_point = (np.abs(np.diff(set_point)) > _MOVE * noise) & ~by_hand[1:]
    of_output = (np.abs(np.diff(output)) > _BY_HAND * max(usual, 1e-9)) & by_hand[1:] & by_hand[:-1]
    # Ramps are one move: what follows within five rows belongs to it.
    places = np.flatnonzero(of_set_point | of_output)
    return int((np.diff(places, prepend=-100) > 5).sum())


def minimum_variance_index(error: Array, dead_rows: int) -> float:
    """Return Harris' index: the variance that no controller can take away, over that of the error [n].

    Of an autoregression of order 20, with the impulse weights of the first `dead_rows` rows and one more.
    """
    values = error[np.isfinite(error)]
    values = values - values.mean()
    total = float(values.var())
    if len(values) < 5 * _ORDER or not total > 0.0:
        return float("nan")
    rows = np.lib.stride_tricks.sliding_window_view(values, _ORDER + 1)
    past, now = rows[:, -2::-1], rows[:, -1]
    weights, *_ = np.linalg.lstsq(past, now, rcond=None)
    left = float(np.mean((now - past @ weights) ** 2))
    impulse = np.zeros(dead_rows + 1)
    impulse[0] = 1.0
    for k in range(1, dead_rows + 1):
        n = min(k, _ORDER)
        impulse[k] = weights[:n] @ impulse[k - 1 :: -1][:n]
    return float(min(1.0, left * (impulse**2).sum() / total))
