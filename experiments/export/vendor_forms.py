"""Gains as an external PID block takes them: K, Ti, Td of the standard (ISA) and of the series form, as a block.

Without a branch and without a division by a small number: where the form cannot say what the gains are, it says the
nearest controller it has, and a flag says so.

standard (ISA, non-interacting)   u = K (e + 1/Ti int e + Td e'),        K = kp, Ti = kp / ki, Td = kd / kp
series (interacting)              u = Ks (1 + 1/(Tis s)) (1 + Tds s) e,  the same zeros; real ones need Ti >= 4 Td

Source: K. J. Astrom and T. Hagglund, Advanced PID Control (ISA, 2006), sec. 3.3 and 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import maximum, minimum, sqrt, where

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = {"s": 1.0, "min": 60.0}
_SMALLEST = 1e-6  # of the box: a smaller K has no Ti and Td
_ROUNDING = 1e-6  # relative: a double zero (Ti = 4 Td) must survive rounding, to single precision too


@dataclass(frozen=True)
class VendorForm:
    """How the block wants its times.

    Attributes
    ----------
    unit : {"s", "min"}
        Of Ti and Td.
    longest : float
        Largest Ti and Td [unit]: Ti is held there where ki goes to 0, which is as good as no integral action.

    Raises
    ------
    ValueError
        For another unit, or a longest time that is not positive.
    """

    unit: str = "s"
    longest: float = 9999.0

    def __post_init__(self) -> None:
        """Check."""
        if self.unit not in _SECONDS:
            raise ValueError(f"times of a PID block are in s or min, got {self.unit!r}")
        if not 0.0 < self.longest < 1e9:
            raise ValueError(f"the longest time of a PID block must be positive and below 1e9, got {self.longest}")

    @property
    def longest_seconds(self) -> float:
        """Largest time [s]."""
        return self.longest * _SECONDS[self.unit]


@dataclass(frozen=True)
class Forms:
    """The block's numbers of one channel: numbers, arrays or traced numbers.

    Attributes
    ----------
    gain, integral_time, derivative_time : number
        K, Ti, Td of the standard form, times in the block's unit.
    standard : number
        1 where these are the scheduled gains (Ti at its longest counts as no integral action), else 0.
    series_gain, series_integral_time, series_derivative_time : number
        Of the series form.
    series : number
        1 where these are the scheduled gains, else 0.
    """

    gain: Any
    integral_time: Any
    derivative_time: Any
    standard: Any
    series_gain: Any
    series_integral_time: Any
    series_derivative_time: Any
    series: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """All, in the order of :data:`NAMES`."""
        return (
            self.gain, self.integral_time, self.derivative_time, self.standard,
            self.series_gain, self.series_integral_time, self.series_derivative_time, self.series,
        )  # fmt: skip


NAMES = ("K", "Ti", "Td", "standard", "Ks", "Tis", "Tds", "series")


def sense(low: float, high: float, reference: float) -> float:
    """Sign of K, one for the whole schedule: the reference gain's, or where that is 0 the larger end's of the box."""
    value = reference or (high if abs(high) >= abs(low) else low)
    return -1.0 if value < 0.0 else 1.0


def forms(gains: Sequence[Any], box: tuple[float, float, float], how: VendorForm) -> Forms:
    """Return the forms of the gains kp, ki, kd [u/y, u/(y s), u s/y]: a block.

    Parameters
    ----------
    gains : sequence of number
        kp, ki, kd.
    box : (low, high, reference)
        Of kp.
    how : VendorForm
    """
    sign, longest = sense(*box), how.longest_seconds
    smallest = _SMALLEST * max(abs(box[0]), abs(box[1]), 1e-9)
    p, i, d = (sign * gain for gain in gains[:3])
    size = maximum(p, smallest)
    integral = size / maximum(i, size * (1.0 / longest))
    wanted = maximum(d, 0.0) / size
    derivative = minimum(wanted, longest)
    good = where(smallest - p, 0.0, where(-i, 0.0, where(-d, 0.0, where(wanted - longest, 0.0, 1.0))))
    ratio = 4.0 * derivative / integral
    share = 0.5 * (1.0 + sqrt(maximum(1.0 - ratio, 0.0)))
    unit = 1.0 / _SECONDS[how.unit]
    series_derivative = minimum(derivative, 0.25 * integral) / share
    return Forms(
        sign * size, integral * unit, derivative * unit, good,
        sign * size * share, integral * share * unit, series_derivative * unit,
        where(ratio - (1.0 + _ROUNDING), 0.0, good),
    )  # fmt: skip
