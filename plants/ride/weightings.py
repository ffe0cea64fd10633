"""Frequency weightings of ISO 2631-1: what people feel of an acceleration, by direction.

Each is a product of second-order sections: band limits (two Butterworth filters), the transition from acceleration to
velocity (people feel accelerations below it and velocities above), and for vertical motion a step upwards towards the
resonances of the body.

Sources: ISO 2631-1:1997, annex A, table A.1; the same constants in ISO 8041:2005, table 3 (reprinted in the reference
manual of the Larson Davis HVM200, table 3.1), and those of Wd and We in BS 6841:1987.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Polynomial = tuple[float, float, float]
"""Coefficients of 1, s and s^2."""
Section = tuple[Polynomial, Polynomial]
"""Numerator and denominator."""

_BUTTERWORTH = math.sqrt(0.5)


@dataclass(frozen=True)
class Weighting:
    """A frequency weighting.

    Attributes
    ----------
    name : str
    f1, f2 : float
        Band limits [Hz].
    f3, f4, q4 : float
        Transition from acceleration to velocity [Hz, Hz, 1].
    step : tuple of four floats, optional
        f5 [Hz], Q5, f6 [Hz] and Q6 of the step upwards.
    text : str
        What it is for.
    """

    name: str
    f1: float
    f2: float
    f3: float
    f4: float
    q4: float
    step: tuple[float, float, float, float] | None = None
    text: str = ""

    @property
    def band(self) -> tuple[Section, Section]:
        """The high-pass and the low-pass filter at the band limits."""
        low, high = _resonance(self.f1, _BUTTERWORTH), _resonance(self.f2, _BUTTERWORTH)
        return ((0.0, 0.0, low[2]), low), ((1.0, 0.0, 0.0), high)

    @property
    def transition(self) -> Section:
        """From acceleration to velocity."""
        return (1.0, 1.0 / _rad(self.f3), 0.0), _resonance(self.f4, self.q4)

    @property
    def upward_step(self) -> Section | None:
        """Gain 1 far above, (f5 / f6)^2 far below."""
        if self.step is None:
            return None
        f5, q5, f6, q6 = self.step
        gain, above = (f5 / f6) ** 2, _resonance(f5, q5)
        return (gain, gain * above[1], gain * above[2]), _resonance(f6, q6)

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections."""
        step = self.upward_step
        return (*self.band, self.transition) if step is None else (*self.band, self.transition, step)

    def response(self, frequency: np.ndarray) -> np.ndarray:
        """Return the complex frequency response at frequencies [Hz]."""
        s = 2j * np.pi * np.asarray(frequency, float)
        result = np.ones_like(s)
        for above, below in self.sections:
            result = result * _at(above, s) / _at(below, s)
        return result


def _rad(frequency: float) -> float:
    return 2.0 * math.pi * frequency


def _resonance(frequency: float, quality: float) -> Polynomial:
    """1 + s / (Q w) + (s / w)^2."""
    w = _rad(frequency)
    return 1.0, 1.0 / (quality * w), 1.0 / (w * w)


def _at(polynomial: Polynomial, s: np.ndarray) -> np.ndarray:
    return polynomial[0] + s * (polynomial[1] + s * polynomial[2])


WK = Weighting("Wk", 0.4, 100.0, 12.5, 12.5, 0.63, (2.37, 0.91, 3.35, 0.91), "vertical acceleration of the seat")
WD = Weighting("Wd", 0.4, 100.0, 2.0, 2.0, 0.63, None, "horizontal acceleration of the seat")
WE = Weighting("We", 0.4, 100.0, 1.0, 1.0, 0.63, None, "rotational acceleration: pitch, roll, yaw")
WEIGHTINGS = {one.name: one for one in (WK, WD, WE)}
