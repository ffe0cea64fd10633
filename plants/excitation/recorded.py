"""Recorded series: a user's own data, resampled to the steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core import noise
from plants.excitation.checks import check_finite
from plants.excitation.series_file import read_series
from plants.excitation.signals import TIME_TOLERANCE, Feed, Part

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Recorded(Part):
    """A recorded series, times `gain`: a user's own data.

    Attributes
    ----------
    time : tuple of float [n], s, increasing
    values : tuple of float [n]
    interpolation : str
        "hold" (each value until the next), "linear" between the values, or "mean": the mean of the linear series over
        each step, for series finer than the step, of which the others would alias what is above half the step's rate.
        The first value holds before, the last one after.
    """

    time: tuple[float, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)
    interpolation: str = "hold"
    gain: float = 1.0
    n_settings: ClassVar[int] = 1
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", tuple(float(t) for t in self.time))
        object.__setattr__(self, "values", tuple(float(v) for v in self.values))
        _check_series(self.time, self.values)
        check_finite("Recorded", gain=self.gain)
        if self.interpolation not in {"hold", "linear", "mean"}:
            message = f"Recorded: interpolation is 'hold', 'linear' or 'mean', got {self.interpolation!r}"
            raise ValueError(message)

    @classmethod
    def from_csv(cls, path: str | Path, column: str | int = 1, **options: Any) -> Recorded:
        """Read time [s] from the first column of a CSV file and the values from `column` (its name or number)."""
        time, values = read_series(Path(path), column)
        return cls(time, values, **options)

    @classmethod
    def held(cls, values: Sequence[float], hold: float, **options: Any) -> Recorded:
        """Return a series of values that each last `hold` [s], from time 0."""
        return cls(tuple(k * hold for k in range(len(values))), tuple(values), **options)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Gain."""
        return (self.gain,)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The present sample, scaled."""
        return settings[0] * state

    def feed(self, step: float) -> Feed:
        """The series resampled to the steps; a uniform held series keeps its own period."""
        time, values = np.array(self.time), np.array(self.values)
        gaps = np.diff(time)
        if self.interpolation == "hold" and len(time) > 1 and time[0] == 0.0 and np.allclose(gaps, gaps[0], rtol=1e-9):
            ratio = gaps[0] / step
            if ratio > 1.0 - 1e-9 and abs(ratio - round(ratio)) < 1e-6 * ratio:
                return Feed(noise.RECORDED, float(gaps[0]), self.values)
        steps = np.arange(max(0, math.ceil(time[-1] / step)) + 1) * step
        if self.interpolation == "linear":
            resampled = np.interp(steps, time, values)
        elif self.interpolation == "mean":
            resampled = _means(np.append(steps, steps[-1] + step), time, values)
        else:
            resampled = values[np.clip(np.searchsorted(time, steps + TIME_TOLERANCE, side="right") - 1, 0, None)]
        return Feed(noise.RECORDED, step, tuple(resampled))


def _means(edges: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Means of the piecewise linear series between `edges` [n + 1]: differences of its integral."""
    t = np.union1d(edges, time)
    x = np.interp(t, time, values)
    integral = np.append(0.0, np.cumsum(0.5 * (x[1:] + x[:-1]) * np.diff(t)))
    return np.diff(integral[np.searchsorted(t, edges)]) / np.diff(edges)


def _check_series(time: tuple[float, ...], values: tuple[float, ...]) -> None:
    if len(time) != len(values) or not time:
        message = f"a recorded series needs as many times as values, at least one; got {len(time)} and {len(values)}"
        raise ValueError(message)
    for row, (t, value) in enumerate(zip(time, values, strict=True)):
        if not (math.isfinite(t) and math.isfinite(value)):
            message = f"a recorded series must be finite: row {row} has time {t} s, value {value}; mend or cut the data"
            raise ValueError(message)
    if any(b <= a for a, b in pairwise(time)):
        message = "the times of a recorded series must increase strictly"
        raise ValueError(message)
