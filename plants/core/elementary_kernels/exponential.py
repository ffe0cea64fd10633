# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Exponential and hyperbolic tangent, natural logarithm, powers.

A power is the exponential of a logarithm that is known to more digits than a double has: as a sum of two.
"""

from __future__ import annotations

import math

import numpy as np

from plants.core.elementary_kernels.bits import k_bits, k_from_bits, k_head, k_ratio


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


def k_octave(x: float) -> tuple[float, float]:
    """Give (m, n): x = m 2**n with m in [sqrt(1/2), sqrt(2)), for finite x > 0, subnormal numbers included."""
    small = x < 2.2250738585072014e-308
    bits = k_bits(x * 18014398509481984.0 if small else x)
    shifted = bits + 2638147582215219  # its exponent field steps at sqrt(2) 2**n instead of 2**n
    m = k_from_bits(bits - (shifted & -4503599627370496) + 4607182418800017408)
    return m, k_from_bits((shifted >> 52) | 4841369599423283200) - (4503599627371573.0 if small else 4503599627371519.0)


def k_log(x: float) -> float:
    """Natural logarithm within 0.95 ulp for x > 0, subnormal numbers included.

    log(0) is -inf, log(inf) is inf, NaN and negative numbers give NaN.
    """
    inside = x > 0.0 and x <= 1.7976931348623157e308
    m, n = k_octave(x if inside else 1.0)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    p = (0.6666666666666734 + z * 0.39999999999416647) + w * (
        (0.28571428742026095 + z * 0.22222198605338425)
        + w * ((0.18183562833378963 + z * 0.1531408537309075) + w * 0.14795627344088108)
    )
    half = 0.5 * f * f
    value = n * 0.6931471805598903 + (f - (half - (s * (half + z * p) + n * 5.497923018708371e-14)))
    outside = x if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    return value if inside else outside


def k_log_square_series(z: float) -> float:
    """Give p for z = s s: atanh(s) = s + s z (1/3 + z p), where |s| <= 3 - sqrt(8)."""
    w = z * z
    low = (0.1999999999999999 + z * 0.1428571428572192) + w * (0.11111111108894879 + z * 0.09090909421993551)
    high = (0.07692279214590719 + z * 0.06668132232751692) + w * (0.058378907746562174 + z * 0.059908726540178175)
    return low + w * w * high


def k_pair_log(x: float) -> tuple[float, float]:
    """Give (high, low): the sum is log(x) within 2**-64 of itself, for finite x > 0."""
    m, n = k_octave(x)
    f, d = m - 1.0, m + 1.0
    d_head = k_head(d)
    inverse = 1.0 / d
    s = k_head(f * inverse)
    s_low = ((f - s * d_head) - s * ((d - d_head) + (m - (d - 1.0)))) * inverse
    z_low = s_low * (2.0 * s + s_low)
    z = s * s + z_low
    z_head = k_head(z)
    z_low = (s * s - z_head) + z_low
    q = z * k_log_square_series(z)
    c = k_head(0.3333333333333333 + q)
    c_low = ((0.3333333333333333 - c) + q) + 1.850371707708594e-17
    t_low = z_head * c_low + z_low * (c + c_low)
    t = k_head(z_head * c + t_low)
    t_low = (z_head * c - t) + t_low
    a = s + s * t
    b = ((s - a) + s * t) + (s * t_low + s_low * (1.0 + (t + t_low)))
    high = n * 0.6931471805598903 + 2.0 * a
    return high, ((n * 0.6931471805598903 - high) + 2.0 * a) + (2.0 * b + n * 5.497923018708371e-14)


def k_pow(x: float, y: float) -> float:
    """Power x**y within 1.2 ulp for all x and y.

    Special cases are those of IEEE 754 and C: x**0 and 1**y are 1 (also for NaN), a negative x needs a whole y (else
    NaN), 0**y is 0 or infinity (-0 and -inf keep their sign for odd y), infinities give their limits.
    """
    inside = abs(x) > 0.0 and abs(x) <= 1.7976931348623157e308
    high, low = k_pair_log(abs(x) if inside else 2.0)
    e = 1e21 if y > 1e21 else y
    e = -1e21 if e < -1e21 else e
    e_head, l_head = k_head(e), k_head(high)
    rest = e_head * ((high - l_head) + low) + (e - e_head) * (high + low)
    v = e_head * l_head + rest
    fits = abs(v) < 800.0  # beyond, the result is 0 or infinite, and the low part is no longer small
    size = k_sum_exp(v if fits else math.copysign(800.0, v), (e_head * l_head - v) + rest if fits else 0.0)
    size = size if inside else (math.inf if (x == 0.0) == (y < 0.0) else 0.0)
    whole = np.floor(y) == y
    odd = whole and np.floor(0.5 * y) != 0.5 * y
    size = -size if odd and k_bits(x) < 0 else size
    size = math.nan if x < 0.0 and inside and not whole else size
    size = math.nan if math.isnan(x) or math.isnan(y) else size
    return 1.0 if y == 0.0 or x == 1.0 else size
