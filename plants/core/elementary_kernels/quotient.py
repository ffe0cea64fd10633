"""Quotients by pivots and masses: products alone, where a processor's division would hold up its multipliers.

A division of eight doubles occupies the unit for 16 cycles, these eleven operations on two units for 5 or 6; and all
but the last need the divisor only, so they run beside whatever computes the dividend.
"""

from __future__ import annotations

from plants.core.elementary_kernels.bits import fma, k_bits, k_from_bits


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
