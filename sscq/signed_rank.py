"""Wilcoxon's signed-rank test of paired differences.

Source: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945) 80; the variance with ties:
M. Hollander, D. Wolfe and E. Chicken, Nonparametric Statistical Methods, 3rd ed., Wiley 2014, sec. 3.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW = 50  # so many differences or fewer: the exact distribution


def p_value(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value [1] of paired differences [n]; 1 where none differs.

    The normal approximation for more than 50 of them, as usual. SciPy answers for fewer: it has the exact distribution,
    but importing its statistics takes longer than all else that a verdict does.
    """
    if not np.any(differences):
        return 1.0
    if len(differences) <= _FEW:
        from scipy.stats import wilcoxon

        return float(wilcoxon(differences).pvalue)
    some = differences[differences != 0.0]
    _, place, ties = np.unique(np.abs(some), return_inverse=True, return_counts=True)
    ranks = np.cumsum(ties) - 0.5 * (ties - 1.0)  # equal sizes share the mean of their ranks
    n = float(len(some))
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * float((ties**3.0 - ties).sum())) / 24.0
    z = (float(ranks[place[some > 0.0]].sum()) - 0.25 * n * (n + 1.0)) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2.0))
