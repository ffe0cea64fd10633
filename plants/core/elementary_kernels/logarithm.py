"""Natural logarithm: as one double, and as a sum of two for the power."""

from __future__ import annotations

import math

from plants.core.elementary_kernels.bits import k_bits, k_from_bits, k_head


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
