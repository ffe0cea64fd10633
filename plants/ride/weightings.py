"""Frequency weightings of ISO 2631-1: what people feel of an acceleration, by direction, and as sampled filters.

Each is a product of second-order sections: band limits (two Butterworth filters), the transition from acceleration to
velocity (people feel accelerations below it and velocities above), and for vertical motion a step upwards towards the
resonances of the body.

Sampled, its magnitudes are the standard's. The bilinear transform squeezes the frequency axis and is exact at one
frequency: at 1 ms a weighting would be 1.4 % off at 80 Hz. So the sections that fall towards high frequencies
(low-pass, transition) keep their poles exactly, z = e^(p h), and get the numerator that gives the right magnitude at
three frequencies. The other two (high-pass, step upwards), which are level there, are transformed bilinearly,
prewarped at their own frequency.

Largest error of the magnitude up to 80 Hz: 0.01 % at 1 ms, 0.15 % at 2 ms, 4.1 % at 5 ms (the standard allows 12 %
and more). At longer steps a simulation itself has nothing to say of 80 Hz: up to 0.8 of half the sampling rate,
errors stay below 4.2 %.

Sources: ISO 2631-1:1997, annex A, table A.1; the same constants in ISO 8041:2005, table 3 (reprinted in the reference
manual of the Larson Davis HVM200, table 3.1), and those of Wd and We in BS 6841:1987. Matched sections: M. Vicanek,
Matched Second Order Digital Filters (2016).
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import lru_cache

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


Sampled = tuple[float, float, float, float, float]
"""b0, b1, b2, a1, a2 of (b0 + b1 / z + b2 / z^2) / (1 + a1 / z + a2 / z^2)."""
LONGEST_STEP = 0.05
"""Largest step [s]: at longer ones little is left of what people feel below half the sampling rate."""
_USABLE = 0.8  # of half the sampling rate: magnitudes are matched up to there


@lru_cache(maxsize=64)
def sampled(weighting: Weighting, step: float) -> tuple[Sampled, ...]:
    """Return the sections of a weighting for samples `step` [s] apart.

    Raises
    ------
    ValueError
        For steps above :data:`LONGEST_STEP`.
    """
    if not 0.0 < step <= LONGEST_STEP * (1.0 + 1e-9):
        raise ValueError(
            f"the frequency weighting {weighting.name} needs an integration step of at most {LONGEST_STEP:g} s, better "
            f"0.002 s or less, got {step:g} s; give a finer step"
        )
    top = min(weighting.f2, _USABLE * 0.5 / step)
    high_pass, low_pass = weighting.band
    found = [
        _bilinear(high_pass, step, weighting.f1),
        _matched(low_pass, step, (0.5 * top, top)),
        _matched(weighting.transition, step, (min(weighting.f4, 0.5 * top), top)),
    ]
    if weighting.upward_step is not None and weighting.step is not None:
        found.append(_bilinear(weighting.upward_step, step, weighting.step[2]))
    return tuple(found)


def _bilinear(section: Section, step: float, exact_at: float) -> Sampled:
    """Return the bilinear transform that is exact at one frequency [Hz]."""
    w = 2.0 * math.pi * exact_at
    c = w / math.tan(0.5 * w * step)
    (b0, b1, b2), (a0, a1, a2) = (_in_z(polynomial, c) for polynomial in section)
    return b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0


def _in_z(polynomial: Polynomial, c: float) -> Polynomial:
    """Numerator of a polynomial of s = c (z - 1) / (z + 1), over (1 + 1 / z)^2."""
    zero, one, two = polynomial[0], c * polynomial[1], c * c * polynomial[2]
    return zero + one + two, 2.0 * (zero - two), zero - one + two


def _matched(section: Section, step: float, exact_at: tuple[float, float]) -> Sampled:
    """Return the section with exact poles and the exact magnitude at 0 and at two frequencies [Hz]."""
    above, below = section
    decay = below[1] / (2.0 * below[2])
    turn = cmath.sqrt(decay * decay - 1.0 / below[2])
    poles = [cmath.exp((-decay + sign * turn) * step) for sign in (1.0, -1.0)]
    a1, a2 = -(poles[0] + poles[1]).real, (poles[0] * poles[1]).real
    denominator = np.array([(1.0 + a1 + a2) ** 2, (1.0 - a1 + a2) ** 2, -4.0 * a2])
    s = np.array([0j, *(2j * math.pi * f for f in exact_at)])
    wanted = np.abs((above[0] + s * above[1]) / (below[0] + s * (below[1] + s * below[2]))) ** 2
    # Squared magnitudes of such polynomials are sums of these three functions of the frequency.
    share = np.sin(0.5 * s.imag * step) ** 2
    shapes = np.stack([1.0 - share, share, 4.0 * share * (1.0 - share)], axis=1)
    at_zero, at_half, between = np.linalg.solve(shapes, wanted * (shapes @ denominator)).tolist()
    root_zero, root_half = math.sqrt(at_zero), math.sqrt(at_half)
    middle = 0.5 * (root_zero + root_half)
    b0 = 0.5 * (middle + math.sqrt(middle * middle + between))
    return b0, 0.5 * (root_zero - root_half), -between / (4.0 * b0), a1, a2
