"""Bit patterns of doubles, and what needs nothing else: exact functions, parts of exact products, quotients.

Exact or correctly rounded are floor, magnitude, sign and square root. Quotients by pivots and masses are products
alone, where a processor's division would hold up its multipliers: a division of eight doubles occupies the unit
for 16 cycles, these eleven operations on two units for 5 or 6; and all but the last need the divisor only, so
they run beside whatever computes the dividend.
"""

from __future__ import annotations

import math

import numpy as np


def fma(a: float, b: float, c: float) -> float:
    """a * b + c; in compiled text, where the header gives the name, with one rounding."""
    return a * b + c


def k_bits(x: float) -> np.int64:
    """Bit pattern of a double as a 64-bit integer."""
    return np.float64(x).view(np.int64)


def k_from_bits(bits: np.int64 | int) -> float:
    """Double with the given bit pattern."""
    return float(np.int64(bits).view(np.float64))


def k_head(x: float) -> float:
    """Leading 26 bits of x: the product of two heads is exact."""
    return k_from_bits(k_bits(x) & -134217728)


def k_ratio(n: float, over: float, d: float, rest: float) -> float:
    """Quotient (n - over) / (d + rest) of two sums with small second terms, with one rounding that matters."""
    inverse = 1.0 / d
    q = n * inverse
    q_head, d_head = k_head(q), k_head(d)
    residue = ((q_head * d_head - n) + q_head * (d - d_head)) + (q - q_head) * d
    return q - (residue + (over + q * rest)) * inverse


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


def k_quotient(a: float, d: float) -> float:
    """Quotient a / d within 1.51 ulp for 1e-300 <= abs(d) <= 1e300 and a result that is not subnormal.

    Without fused products: within 2.6 ulp. A divisor outside, such as a lost pivot, may give NaN; 0, infinity and NaN
    never give a number.

    A constant less the bits of abs(d), under the sign of d, is a guess x of the reciprocal with d x in [0.950, 1.051];
    a polynomial of second degree makes that 3.3e-5 (its two constants and the first are minimax together), and two
    Newton steps 1.1e-9 and 1.1e-18.
    """
    size = k_bits(d) & 9223372036854775807
    x = k_from_bits((9213914620562313814 - size) | (k_bits(d) - size))
    g = fma(-d, x, 1.5009610782251561)
    x = x * fma(g, g, 0.7490392294650423)
    x = fma(x, fma(-d, x, 1.0), x)
    x = fma(x, fma(-d, x, 1.0), x)
    return a * x
