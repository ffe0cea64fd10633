"""What most tools do with a log, to be judged beside: least squares of the simulated output, with Gaussian covariance.

First order plus dead time, the dead time searched on the grid of the rows and then freely, the output simulated from
the record's first value on; an offset of the input takes up a constant load. The covariance is that of white residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import lfilter

from plants.identification.two_lags import TWO_LAGS
from sscq.identification.ensemble import MEMBERS, PlantMembers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]

_GRID = 12  # dead times that are tried
_LATEST = 1.0 / 8.0  # of the log
_STARTS = (0.02, 0.1, 0.3)  # time constants to begin with, as shares of the log
_NO_LAG = 1e-3  # of a row


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """Plants around a least-squares fit, with what advice asks of an ensemble.

    Attributes
    ----------
    records : tuple of LoopRecord
    sense : float
    members : tuple of PlantMembers
    seed : int
    refusal : str
        Empty: it has no tests.
    """

    records: tuple[LoopRecord, ...]
    sense: float
    members: tuple[PlantMembers, ...]
    seed: int = 0
    refusal: str = ""
    reach: tuple[float, float] = (0.0, 0.0)

    def spread(self, discrepancy: float = 0.0) -> tuple[PlantMembers, ...]:  # noqa: ARG002  (most tools know of none)
        """Return the members as they are."""
        return self.members


def fitted(record: LoopRecord, sense: float, seed: int = 0) -> FittedEnsemble:
    """Return plants drawn from a fit's covariance."""
    rest_y, rest_u = record.origin
    known = record.measured
    y, u = record.output[known] - rest_y, sense * (record.input - rest_u)
    length, h = len(record) * record.step, record.step
    scale = max(float(np.std(y)), 1e-9) / max(float(np.std(u)), 1e-9)

    def missed(numbers: Array) -> Array:
        return _simulated(numbers, u, h)[known] - y

    best = None
    for late in np.linspace(0.0, _LATEST * length, _GRID):
        for share in _STARTS:
            time = share * length
            start = [np.log(scale / time), -np.log(time), late, 0.0]
            found = least_squares(missed, start, bounds=([-30, -12, 0.0, -100.0], [10, 3, _LATEST * length, 100.0]))
            if best is None or found.cost < best.cost:
                best = found
    assert best is not None  # noqa: S101  (there are starts)
    variance = 2.0 * best.cost / max(len(y) - len(best.x), 1)
    covariance = variance * np.linalg.pinv(best.jac.T @ best.jac)
    rng = np.random.default_rng([seed, len(record)])
    drawn = best.x + rng.standard_normal((MEMBERS, len(best.x))) @ np.linalg.cholesky(_made_positive(covariance)).T
    return FittedEnsemble((replace(record),), sense, (_members(drawn, np.sqrt(variance), h, length),), seed)


def _simulated(numbers: Array, u: Array, h: float) -> Array:
    """First order plus dead time in exact steps: ln slope, ln decay, dead time, offset of the input."""
    slope, decay, late, offset = np.exp(numbers[0]), np.exp(numbers[1]), numbers[2], numbers[3]
    rows = int(late / h)
    part = late - rows * h
    delayed = np.concatenate([np.full(rows + 1, u[0]), u])[: len(u) + 1] + offset
    whole, rest = np.exp(-decay * h), np.exp(-decay * (h - part))
    given = slope / decay * ((rest - whole) * delayed[:-1] + (1.0 - rest) * delayed[1:])
    return np.concatenate([[0.0], np.asarray(lfilter([1.0], [1.0, -whole], given))[:-1]])


def _made_positive(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray((vectors * np.maximum(values, 1e-12)) @ vectors.T)


def _members(drawn: Array, noise: float, h: float, length: float) -> PlantMembers:
    names = TWO_LAGS.parameters
    values = {name: np.zeros(len(drawn)) for name in names} | {
        "slope": np.exp(np.clip(drawn[:, 0], -30.0, 10.0)),
        "decay": np.exp(np.clip(drawn[:, 1], -12.0, 3.0)),
        "lag": np.full(len(drawn), _NO_LAG * h),
        "dead_time": np.clip(drawn[:, 2], 0.0, _LATEST * length),
        "noise": np.full(len(drawn), noise),
        "load_time": np.full(len(drawn), h),
    }
    return PlantMembers(TWO_LAGS, np.stack([values[name] for name in names], axis=1))
