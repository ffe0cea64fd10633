"""Margins of many gain sets at many operating points, and the worst of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Worst:
    """One margin's worst value and where it is."""

    value: float
    operating_point: str
    gain_set: int


@dataclass(frozen=True)
class Margins:
    """Worst margins over gain sets and operating points; attributes as in LoopMargins."""

    stable: bool
    growth: Worst
    sensitivity: Worst
    complementary: Worst
    gain_margin: Worst
    gain_reduction: Worst
    phase_margin: Worst
    delay_margin: Worst

    def __str__(self) -> str:
        """Print a line for each margin."""
        lines = ["stable at every operating point" if self.stable else "UNSTABLE"]
        for key in [f.name for f in fields(self)][1:]:
            worst: Worst = getattr(self, key)
            lines.append(f"{key:<16}{worst.value:>12.4g} {_UNITS.get(key, ''):<4} at {worst.operating_point}")
        return "\n".join(lines)


_UNITS = {"growth": "1/s", "phase_margin": "rad", "delay_margin": "s"}


@dataclass(frozen=True)
class LoopMargins:
    """Margins of each gain set at each operating point: arrays [gain_set, operating_point].

    Attributes
    ----------
    names : tuple of str
        Operating points.
    stable : array of bool
        All eigenvalues of the closed loop are inside the unit circle.
    growth : array
        How fast an unstable loop grows [1/s], most often to 20 %, surely to the spacing of the prepared circles (a
        factor of about two; below the slowest of them: half its rate); 0 for a stable one, infinite for gains that
        are not finite. :func:`sscq.sampled_loop.spectral_radius` gives e^(growth h) exactly.
    sensitivity, complementary : array
        Maxima over frequency of |1 / (1 + L)| and |L / (1 + L)|; infinite if unstable.
    gain_margin, gain_reduction : array
        Factor above 1 by which all three gains may be multiplied, or divided, before the loop becomes unstable;
        infinite where it may be any, 0 if unstable. An open-loop unstable plant has a finite reduction.
    phase_margin : array
        Least angle between L and -1 on the unit circle, to either side [rad]; infinite without a crossover, 0 if
        unstable.
    delay_margin : array
        Least lag T of e^(-j w T) that makes the loop unstable, over all crossovers [s]; infinite without a crossover.
        Exact where it is a whole number of samples; in between, samples see a little more or less than the pure lag.
    """

    names: tuple[str, ...]
    stable: NDArray[np.bool_]
    growth: Array
    sensitivity: Array
    complementary: Array
    gain_margin: Array
    gain_reduction: Array
    phase_margin: Array
    delay_margin: Array

    def worst(self) -> Margins:
        """Return the worst of each margin, with its operating point and gain set."""
        found = {}
        for key in [f.name for f in fields(self)][2:]:
            values = getattr(self, key)
            bad = values.argmax() if key in {"growth", "sensitivity", "complementary"} else values.argmin()
            row, column = np.unravel_index(bad, values.shape)
            found[key] = Worst(float(values[row, column]), self.names[column], int(row))
        return Margins(stable=bool(self.stable.all()), **found)
