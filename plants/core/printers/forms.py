"""Forms that several languages share: numbers with a sign in parentheses, and the choice ``mask ? then : other``."""

from __future__ import annotations

import math


def decimal(value: float, nan: str, infinity: str) -> str:
    """Return a constant's text: the shortest decimal number that reads back as the same double.

    Parameters
    ----------
    value : float
    nan, infinity : str
        The language's words for them.

    Returns
    -------
    str
        In parentheses where it has a sign, so that it may stand behind any operator.
    """
    if math.isnan(value):
        return nan
    text = repr(abs(value)) if math.isfinite(value) else infinity
    return f"(-{text})" if math.copysign(1.0, value) < 0.0 else text


class Ternary:
    """Choices as C and its descendants write them."""

    @staticmethod
    def select(mask: str, then: str, other: str) -> str:
        """Return the expression that is `then` where `mask` holds, else `other`."""
        return f"{mask} ? {then} : {other}"
