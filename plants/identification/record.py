"""What a filter reads of a log: measured output and plant input in rows of equal distance, some of them missing."""

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
    """Rows of a log, `step` seconds apart; an input acts from its own row to the next.

    Attributes
    ----------
    output : array [n]
        Measured, in its own unit; NaN where a row has no valid value.
    input : array [n]
        Of the plant, after its limits.
    step : float
        Between rows [s].

    Raises
    ------
    ValueError
        If the columns differ in length, have no measured value, or the input is not finite.
    """

    output: Array
    input: Array
    step: float

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
        object.__setattr__(self, "output", np.where(np.isfinite(output), output, np.nan))
        object.__setattr__(self, "input", given)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.output)

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """Whether each row has a measured output [n]."""
        return np.isfinite(self.output)

    @cached_property
    def origin(self) -> tuple[float, float]:
        """Output and input from which deviations are counted: the median of the first outputs, that of all inputs."""
        return float(np.median(self.output[self.measured][:_FIRST])), float(np.median(self.input))
