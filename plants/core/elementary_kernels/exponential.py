# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Exponential and hyperbolic tangent: reduced by octaves, then a polynomial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.elementary_kernels.bits import k_bits, k_from_bits, k_ratio

if TYPE_CHECKING:
    import numpy as np


def k_octave_exp(x: float, low: float) -> tuple[float, float, np.int64]:
    """Give (r, rest, n): exp(x + low) = 2**n (1 + r + rest), n in the low 12 bits, for |x| <= 800 and a small low."""
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    a = x - n * 0.6931471805598903
    b = n * 5.497923018708371e-14 - low
    r = a - b
    z = r * r
    w = z * z
    even = (0.5 + z * 0.04166666666666669) + w * (
        (0.0013888888888889926 + z * 2.480158728614084e-05) + w * (2.7557323779705495e-07 + z * 2.0895578706546633e-09)
    )
    odd = (0.16666666666666677 + z * 0.008333333333321825) + w * (
        (0.00019841269885224148 + z * 2.7557245302270243e-06) + w * 2.5108626239046052e-08
    )
    return r, z * (even + r * odd) + ((a - r) - b), k_bits(shifted)


def k_sum_exp(x: float, low: float) -> float:
    """Exponential of x + low, |x| <= 800 and a small low; two factors of 2**(n / 2) reach subnormals and infinity."""
    r, rest, n = k_octave_exp(x, low)
    half = n >> 1
    first = k_from_bits((half + 1023) << 52)
    second = k_from_bits((n - half + 1023) << 52)
    return (1.0 + (r + rest)) * first * second


def k_exp(x: float) -> float:
    """Exponential within 1.05 ulp for all x; gradual underflow (no flush to zero), then 0; overflow gives infinity."""
    x = 800.0 if x > 800.0 else x
    return k_sum_exp(-800.0 if x < -800.0 else x, 0.0)


def k_tanh(x: float) -> float:
    """Hyperbolic tangent within 1.25 ulp for all x; odd bit for bit, tanh(x) = x for tiny x."""
    a = 2.0 * abs(x)
    r, rest, n = k_octave_exp(44.0 if a > 44.0 else a, 0.0)
    u = k_from_bits((1023 - n) << 52)
    below, above = 1.0 - u, 1.0 + u
    g, h = below + r, above + r
    g_rest = ((below - g) + r) + rest
    h_rest = ((above - h) + r) + (((1.0 - above) + u) + rest)
    num, den = g + g_rest, h + h_rest
    return math.copysign(k_ratio(num, (num - g) - g_rest, den, (h - den) + h_rest), x)
