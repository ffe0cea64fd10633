"""How often a controller may fail, told from situations drawn at random: an exact one-sided confidence bound.

Source: C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
binomial, Biometrika 26 (1934), 404-413.
"""

from __future__ import annotations

import math


def failure_bound(n: int, k: int, confidence: float = 0.95) -> float:
    """Return the upper confidence bound on the failure probability after `k` failures in `n` independent draws.

    Parameters
    ----------
    n : int
        Situations drawn independently from one distribution, after the controller was fixed.
    k : int
        Failures among them.
    confidence : float
        Probability that the bound is at least the true failure probability; between 0 and 1.

    Returns
    -------
    float
        The largest p for which ``k`` or fewer failures in `n` have a probability of at least 1 - confidence. Without a
        failure it is 1 - (1 - confidence)**(1 / n): 299 draws give 1 % at 95 %.

    Raises
    ------
    ValueError
        If these are no such numbers.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"n must be an integer >= 1 (situations drawn), got {n!r}")
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= n:
        raise ValueError(f"k must be an integer from 0 to n = {n} (failures), got {k!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(math.log1p(-confidence) / n)
    from scipy.special import betaincinv

    return float(betaincinv(k + 1, n - k, confidence))
