# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Arc sine, arc cosine and the angle of a point."""

from __future__ import annotations

import math

from plants.core.elementary_kernels.bits import k_bits, k_head


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
