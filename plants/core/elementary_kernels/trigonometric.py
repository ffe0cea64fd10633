# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Sine, cosine and tangent, reduced by quarter turns, then polynomials; and the angles that belong to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.elementary_kernels.bits import k_bits, k_head, k_ratio

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


def k_pair_sqrt(z: float) -> tuple[float, float]:
    """Give (head, rest): the sum is sqrt(z) for 0 <= z <= 1; 0 for a negative z."""
    root = math.sqrt(z if z > 0.0 else 0.0)
    head = k_head(root)
    return head, (z - head * head) / (root + head + 1e-200)


def k_arc_series(z: float) -> float:
    """Give p for z = s s: asin(s) = s + s p, where |s| <= 1/2."""
    w = z * z
    even = (0.16666666666665408 + w * 0.04464285682821853) + w * w * (
        (0.022371757933838683 + w * 0.013885217165944005) + w * w * (0.006527433213805593 + w * -0.01622667129388174)
    )
    odd = (0.07500000000337141 + w * 0.03038195914167378) + w * w * (
        (0.017359706571465298 + w * 0.012169334449410324) + w * w * (0.01952977775105867 + w * 0.031913958033930816)
    )
    return z * (even + z * odd)


def k_asin(x: float) -> float:
    """Arc sine within 0.9 ulp for |x| <= 1, else NaN; odd bit for bit."""
    a = abs(x)
    far = a > 0.5  # asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
    z = 0.5 * (1.0 - a) if far else a * a
    p = k_arc_series(z)
    head, rest = k_pair_sqrt(z)
    from_top = (1.5707963267948966 - 2.0 * head) - (2.0 * (rest + (head + rest) * p) - 6.123233995736766e-17)
    angle = from_top if far else a + a * p
    return math.copysign(math.nan if a > 1.0 else angle, x)


def k_acos(x: float) -> float:
    """Arc cosine within 1.0 ulp for |x| <= 1, else NaN."""
    far = abs(x) > 0.5
    z = 0.5 * (1.0 - abs(x)) if far else x * x
    p = k_arc_series(z)
    head, rest = k_pair_sqrt(z)
    root = head + rest
    right = 2.0 * (head + (rest + root * p))
    left = 2.0 * (1.5707963267948966 - (root + (root * p - 6.123233995736766e-17)))
    middle = 1.5707963267948966 - (x - (6.123233995736766e-17 - x * p))
    angle = (right if x > 0.0 else left) if far else middle
    return math.nan if abs(x) > 1.0 else angle


def k_atan_series(z: float) -> float:
    """Give p for z = q q: atan(q) = q + q p, where |q| <= 1/2."""
    w = z * z
    even = (-0.3333333333333298 + w * -0.1428571427638489) + w * w * (
        (-0.09090896242801202 + w * -0.06663810209104988) + w * w * (-0.05121991424400953 + w * -0.02743423227198513)
    )
    odd = (0.19999999999903104 + w * 0.11111110659574955) + w * w * (
        (0.07692073877005702 + w * 0.058582959009793344) + w * w * (0.04186461670740365 + w * 0.010116325324392456)
    )
    return z * (even + z * odd)


def k_atan2(y: float, x: float) -> float:
    """Angle of the point (x, y) within 1.7 ulp for all x and y; zeros, signs and infinities as in `math.atan2`."""
    steep = abs(y) > abs(x)
    a, b = (abs(x) if steep else abs(y)), (abs(y) if steep else abs(x))
    scale = 0.25 if b > 1e300 else 1.0  # so that the sum of both is finite
    a, b = a * scale, b * scale
    turned = b > 0.0 and a + a >= b  # the angle is seen from the diagonal
    num = (a - b if a < b else 0.0) if turned else a
    den = a + b if turned else (b if b != 0.0 else 1.0)
    q = num / den
    p = k_atan_series(q * q)
    left = k_bits(x) < 0
    n = 1.0 if turned else 0.0
    n = 2.0 - n if steep else n
    n = 4.0 - n if left else n
    q = -q if steep != left else q
    corner = n * 0.7853981633974483  # exact: the double nearest to pi/4 ends in three zero bits
    angle = corner + q
    return math.copysign(angle + (((corner - angle) + q) + (q * p + n * 3.061616997868383e-17)), y)
