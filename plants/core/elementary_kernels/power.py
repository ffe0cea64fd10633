# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Powers: the exponential of a logarithm that is known to more digits than a double has."""

from __future__ import annotations

import math

import numpy as np

from plants.core.elementary_kernels.bits import k_bits, k_head
from plants.core.elementary_kernels.exponential import k_sum_exp
from plants.core.elementary_kernels.logarithm import k_pair_log


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
