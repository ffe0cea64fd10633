"""Recorded series: a user's own data, read from CSV files and resampled to the steps.

Every error of reading names the file and the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.reading.formats import csv_rows
from plants.core.signals import noise
from plants.core.signals.signal import TIME_TOLERANCE, Feed, RandomPart, check_finite

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_STEPS = 1e7  # of a series that is resampled: some hundred megabytes


def read_series(path: Path, column: str | int, first: str = "times") -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Read (time [s], values) from a CSV file with an optional header line; `first` is what the first column holds.

    Raises
    ------
    ValueError
        Naming the file, the line and what was read, where a cell is missing, not a number, or not finite, or where a
        time does not increase; also where there is no series.
    """
    rows = _rows(path)
    header: list[str] = []
    if rows and _is_header(rows[0][1]):
        header = [cell.strip() for cell in rows.pop(0)[1]]
    place = _place(path, header, column)
    time: list[float] = []
    values: list[float] = []
    for number, row in rows:
        t, value = _numbers(f"{path}, line {number}: {row}", row, place)
        if time and t <= time[-1]:
            before = f"{time[-1]:g} s" if first == "times" else f"{time[-1]:g}"
            message = f"{path}, line {number}: {row}: the {first} must increase, but the line before is at {before}"
            raise ValueError(message)
        time.append(t)
        values.append(value)
    if not time:
        line = "time [s] and value" if first == "times" else f"{first} and what belongs to them"
        raise ValueError(f"{path} holds no series: expected lines of {line}")
    return tuple(time), tuple(values)


def _place(path: Path, header: list[str], column: str | int) -> int:
    """Number of the column of values."""
    if isinstance(column, int):
        return column
    if column not in header:
        raise ValueError(f"{path}: no column {column!r}; its header is {header or 'missing'}")
    return header.index(column)


def _numbers(line: str, row: list[str], place: int) -> tuple[float, float]:
    """Time [s] and value of a row; errors begin with `line`."""
    try:
        pair = float(row[0]), float(row[place])
    except (ValueError, IndexError):
        raise ValueError(f"{line}, expected numbers in columns 0 and {place}") from None
    if not all(map(math.isfinite, pair)):
        raise ValueError(f"{line}: a recorded series must be finite; mend or cut the data")
    return pair


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Line numbers and cells of a CSV file, without empty lines and comments (#)."""
    found = csv_rows(path, "utf-8-sig")
    return [(number, row) for number, row in found if row and not row[0].lstrip().startswith("#")]


def _is_header(row: list[str]) -> bool:
    """Whether a first row names its columns; one whose first cell is empty only if none of its cells is a number."""
    return not _is_number(row[0]) and (bool(row[0].strip()) or not any(map(_is_number, row)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Recorded(RandomPart):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", tuple(float(t) for t in self.time))
        object.__setattr__(self, "values", tuple(float(v) for v in self.values))
        _check_series(self.time, self.values)
        check_finite("Recorded", gain=self.gain)
        if self.interpolation not in {"hold", "linear", "mean"}:
            raise ValueError(f"Recorded: interpolation is 'hold', 'linear' or 'mean', got {self.interpolation!r}")

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
        end = max(0.0, time[-1])  # a rollout begins at 0
        if end / step > _MOST_STEPS:
            most = f"{_MOST_STEPS:g} steps of {step:g} s"
            raise ValueError(f"a recorded series must end within {most}, got {end:g} s; cut it")
        steps = np.arange(math.ceil(end / step) + 1) * step
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
        raise ValueError("the times of a recorded series must increase strictly")
