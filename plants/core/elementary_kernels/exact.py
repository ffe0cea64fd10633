"""Functions that are exact or correctly rounded: floor, magnitude, sign, square root."""

from __future__ import annotations

import math

import numpy as np


def k_floor(x: float) -> float:
    """Largest whole number not above x, exact; infinities, NaN and -0 stay."""
    return float(np.floor(x))


def k_abs(x: float) -> float:
    """Magnitude, exact."""
    return abs(x)


def k_sign(x: float) -> float:
    """1, 0 or -1, exact; 0 for both zeros, NaN for NaN."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x - x)


def k_sqrt(x: float) -> float:
    """Square root, correctly rounded; NaN for a negative x."""
    return math.sqrt(x) if x >= 0.0 else math.nan
