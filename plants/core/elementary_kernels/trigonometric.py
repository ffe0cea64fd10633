"""Sine, cosine and tangent: reduced by quarter turns, then polynomials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.elementary_kernels.bits import k_bits, k_ratio

if TYPE_CHECKING:
    import numpy as np


def k_quarter_turns(x: float) -> tuple[float, float, np.int64]:
    """Give (r, over, n): x = n pi/2 + (r - over), where |r| <= pi/4 and the low two bits of n count.

    pi/2 is taken in parts of 36, 36 and 53 bits: the nearest that a double below 1e5 comes to a multiple of pi/2 is
    6e-19, which they resolve.
    """
    x = x if abs(x) <= 1e9 else math.nan
    shifted = x * 0.6366197723675814 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    a = x - n * 1.5707963267923333
    middle = n * 2.5633441515839558e-12
    b = a - middle
    low = n * 1.0562999066987428e-23 - ((a - b) - middle)
    r = b - low
    return r, low - (b - r), k_bits(shifted)


def k_turn_series(z: float) -> tuple[float, float]:
    """Give (p, q) for z = r r: sin(r) = r + r z p and cos(r) = 1 - z / 2 + z z q, where |r| <= pi/4."""
    w = z * z
    p = (-0.1666666666666663 + w * (-0.00019841269829358528 + w * -2.5050734389008595e-08)) + z * (
        0.00833333333332184 + w * (2.755731353851393e-06 + w * 1.5895433254557744e-10)
    )
    q = (0.041666666666666595 + w * (2.48015872890021e-05 + w * 2.087570539848664e-09)) + z * (
        -0.0013888888888873342 + w * (-2.7557314217051174e-07 + w * -1.1358749401681035e-11)
    )
    return p, q


def k_sincos(x: float) -> tuple[float, float]:
    """Sine and cosine within 1.0 ulp for |x| <= 1e5.

    The error stays below |x| 2**-52 up to 1e9; beyond, and for infinities and NaN, both are NaN. sin(-0) is -0.
    """
    r, over, n = k_quarter_turns(x)
    z = r * r
    p, q = k_turn_series(z)
    s = r + (r * (z * p + 0.0) - over)
    half = 0.5 * z
    head = 1.0 - half
    c = head + (((1.0 - head) - half) + (z * z * q + r * over))
    odd = (n & 1) != 0
    sine, cosine = c if odd else s, s if odd else c
    return (-sine if (n & 2) != 0 else sine), (-cosine if ((n + 1) & 2) != 0 else cosine)


def k_tan(x: float) -> float:
    """Tangent within 1.35 ulp for |x| <= 1e5.

    Up to 1e9 its angle is wrong by at most |x| 2**-52; beyond, and for infinities and NaN, NaN. tan(-0) is -0.
    """
    r, over, n = k_quarter_turns(x)
    z = r * r
    p, q = k_turn_series(z)
    rest = r * (z * p + 0.0) - over
    s = r + rest
    s_over = (s - r) - rest
    half = 0.5 * z
    head = 1.0 - half
    rest = ((1.0 - head) - half) + (z * z * q + r * over)
    c = head + rest
    c_rest = (head - c) + rest
    odd = (n & 1) != 0
    return k_ratio(-c if odd else s, c_rest if odd else s_over, s if odd else c, -s_over if odd else c_rest)
