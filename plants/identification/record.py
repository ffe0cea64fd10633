"""What a filter reads of a log: measured output and plant input in rows, some of them missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_FIRST = 5  # measured values whose median is the origin: one outlier among them does no harm


@dataclass(frozen=True, eq=False)
class LoopRecord:
    """Rows of a log; an input acts from its own row to the next.

    Attributes
    ----------
    output : array [n]
        Measured, in its own unit; NaN where a row has no valid value.
    input : array [n]
        Of the plant, after its limits.
    step : float
        Between rows [s]; where they are not equally far apart, the usual distance.
    times : array [n], optional
        Of rows that are not equally far apart, increasing [s].

    Raises
    ------
    ValueError
        If the columns differ in length, have no measured value, the input is not finite, or times do not increase.
    """

    output: Array
    input: Array
    step: float
    times: Array | None = None

    def __post_init__(self) -> None:
        """Check."""
        output, given = (np.asarray(column, float) for column in (self.output, self.input))
        if output.ndim != 1 or output.shape != given.shape or not len(output):
            raise ValueError(f"output and input must be columns of equal length, got {output.shape} and {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"the input must be finite in all rows, row {int(np.argmin(np.isfinite(given)))} is not")
        if not np.isfinite(output).any():
            raise ValueError("no row has a measured output")
        if not (np.isfinite(self.step) and self.step > 0.0):
            raise ValueError(f"rows must be a positive time apart, got {self.step} s")
        if self.times is not None:
            times = np.asarray(self.times, float)
            if times.shape != output.shape or not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
                raise ValueError(f"times must be {len(output)} finite numbers that increase")
            object.__setattr__(self, "times", times)
        object.__setattr__(self, "output", np.where(np.isfinite(output), output, np.nan))
        object.__setattr__(self, "input", given)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.output)

    @cached_property
    def instants(self) -> Array:
        """Times of the rows [n] [s]."""
        return np.asarray(self.step * np.arange(len(self)), float) if self.times is None else self.times

    @property
    def duration(self) -> float:
        """From the first row to the end of the last one [s]."""
        return float(self.instants[-1] - self.instants[0]) + self.step

    @cached_property
    def lasting(self) -> Array:
        """How long each row lasts [n] [s]; the last one as long as usual."""
        return np.append(np.diff(self.instants), self.step)

    @cached_property
    def changes(self) -> NDArray[np.intp]:
        """Rows in which the input is another one than in the row before, the first row among them."""
        return np.flatnonzero(np.append(True, np.diff(self.input) != 0.0))

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """Whether each row has a measured output [n]."""
        return np.isfinite(self.output)

    @cached_property
    def origin(self) -> tuple[float, float]:
        """Output and input from which deviations are counted: the median of the first outputs, that of all inputs."""
        return float(np.median(self.output[self.measured][:_FIRST])), float(np.median(self.input))
