"""Signals for identification: chirp, multisine, pseudo-random binary sequence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.elementary import clip, exp, floor, sin
from plants.core.signals import noise
from plants.core.signals.elementary_forms import Sine
from plants.core.signals.signal import Feed, Part, RandomPart, Signal, check_finite, check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SINES = 40  # each takes three rows of the kernels' workspace


@dataclass(frozen=True)
class Chirp(Part):
    """A sine whose frequency runs from `start_frequency` to `stop_frequency` [Hz] within `duration` [s], then stays.

    Attributes
    ----------
    amplitude, start_frequency, stop_frequency, duration : float
    sweep : {"linear", "exponential"}
        Frequency over time.
    """

    amplitude: float
    start_frequency: float
    stop_frequency: float
    duration: float
    sweep: str = "linear"
    n_settings: ClassVar[int] = 6

    def __post_init__(self) -> None:
        check_finite("Chirp", amplitude=self.amplitude)
        ends = {"start_frequency": self.start_frequency, "stop_frequency": self.stop_frequency}
        check_positive("Chirp", duration=self.duration, **ends)
        if self.sweep not in {"linear", "exponential"}:
            raise ValueError(f"Chirp: sweep is 'linear' or 'exponential', got {self.sweep!r}")

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Amplitude, duration; phase = a t + b t^2 + c (exp(d t) - 1), with the four as 2 pi times cycles."""
        first, last, time = self.start_frequency, self.stop_frequency, self.duration
        ratio = math.log(last / first)
        turn = 2.0 * math.pi
        if self.sweep == "linear" or ratio == 0.0:
            return (self.amplitude, time, turn * first, math.pi * (last - first) / time, 0.0, 0.0)
        return (self.amplitude, time, 0.0, 0.0, turn * first * time / ratio, ratio / time)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The sine of the phase; behind the sweep it goes on at the last frequency."""
        amplitude, duration, a, b, c, d = settings
        s = clip(t, 0.0, duration)
        grown = exp(d * s)
        phase = (a + b * s) * s + c * (grown - 1.0)
        return amplitude * sin(phase + (t - s) * (a + 2.0 * b * s + c * d * grown))


# Feedback taps of registers whose sequence has the full length 2^n - 1: primitive trinomials x^n + x^k + 1.
_TAPS = {3: 2, 4: 3, 5: 3, 6: 5, 7: 6, 9: 5, 10: 7, 11: 9, 15: 14, 17: 14, 18: 11, 20: 17, 22: 21, 23: 18, 25: 22,
         28: 25, 29: 27, 31: 28}  # fmt: skip


@dataclass(frozen=True)
class PRBS(RandomPart):
    """Pseudo-random binary sequence of maximum length: plus or minus `amplitude`, each held for `hold` [s].

    Attributes
    ----------
    amplitude, hold : float
    order : int
        Length of the shift register; the sequence repeats after 2^order - 1 holds. Its mean over a period is
        -amplitude / (2^order - 1), its correlation at any other lag the same share of its square.

    Notes
    -----
    The seed says where in the sequence it begins.
    """

    amplitude: float
    hold: float = 0.1
    order: int = 10
    n_settings: ClassVar[int] = 4
    n_units: ClassVar[int] = 0

    def __post_init__(self) -> None:
        check_finite("PRBS", amplitude=self.amplitude)
        check_positive("PRBS", hold=self.hold)
        if self.order not in _TAPS:
            raise ValueError(f"PRBS: order must be one of {', '.join(map(str, _TAPS))}, got {self.order!r}")

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Amplitude; what brings the two taps' bits to the units; the weight of the new bit."""
        return (self.amplitude, 1.0, 0.5 ** (self.order - _TAPS[self.order]), 2.0 ** (self.order - 1))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Plus for a last bit of 0, minus for 1."""
        return settings[0] * (1.0 - 2.0 * _bit(state))

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """No noise: a new bit each hold time."""
        return Feed(noise.OFF, self.hold)

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:  # noqa: ARG004
        """Shift the register; the new bit is the sum of two bits modulo 2."""
        one, other = _bit(floor(settings[1] * state)), _bit(floor(settings[2] * state))
        return floor(0.5 * state) + settings[3] * (one + other - 2.0 * one * other)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a register that is not empty."""
        return 1.0 + np.floor((0.5 + unit_uniform / math.sqrt(12.0)) * (2.0**self.order - 1.0))


def _bit(number: Any) -> Any:
    """Last bit of a whole number."""
    return number - 2.0 * floor(0.5 * number)


def multisine(rms: float, low: float, high: float, count: int, *, seed: int | None = None) -> Signal:
    """Return `count` sines of equal amplitude, at equal distances from `low` to `high` [Hz].

    Parameters
    ----------
    rms : float
        Root mean square over a common period.
    low, high : float
        Ends of the band [Hz]. Where low is a multiple of (high - low) / (count - 1), the period is the inverse of that.
    count : int
        From 2 to 40.
    seed : int, optional
        Random phases; without it Schroeder's, which keep the peaks low (IEEE Trans. Inf. Theory 16, 1970).

    Raises
    ------
    ValueError
        For a band or a number of sines that makes none.
    """
    check_positive("multisine", rms=rms, low=low, high=high)
    if not high > low or not 2 <= count <= MOST_SINES:
        message = f"multisine: needs low < high and 2 to {MOST_SINES} sines, got {low} and {high} Hz, {count} sines"
        raise ValueError(message)
    number = np.arange(count)
    phases = -math.pi * number * (number + 1.0) / count
    if seed is not None:
        unit = noise.samples(noise.UNIFORM, count, noise.stream_key("multisine", seed, "phase"))
        phases = math.pi * (1.0 + unit / math.sqrt(3.0))
    amplitude = rms * math.sqrt(2.0 / count)
    frequencies = np.linspace(low, high, count)
    sines = (Sine(amplitude, float(f), float(p % (2.0 * math.pi))) for f, p in zip(frequencies, phases, strict=True))
    return Signal(tuple(sines))
