"""A frequency weighting as a sampled filter whose magnitudes are the standard's.

The bilinear transform squeezes the frequency axis and is exact at one frequency: at 1 ms a weighting would be 1.4 % off
at 80 Hz. So the sections that fall towards high frequencies (low-pass, transition) keep their poles exactly,
z = e^(p h), and get the numerator that gives the right magnitude at three frequencies. The other two (high-pass, step
upwards), which are level there, are transformed bilinearly, prewarped at their own frequency.

Largest error of the magnitude up to 80 Hz: 0.01 % at 1 ms, 0.15 % at 2 ms, 4.1 % at 5 ms (the standard allows 12 % and
more). At longer steps a simulation itself has nothing to say of 80 Hz: up to 0.8 of half the sampling rate, errors stay
below 4.2 %.

Source of the matched sections: M. Vicanek, Matched Second Order Digital Filters (2016).
"""

from __future__ import annotations

import cmath
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from plants.ride.weightings import Polynomial, Section, Weighting

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
