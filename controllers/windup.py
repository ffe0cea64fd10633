"""Limits of a command, and the integral action that has to know of them.

Ends of a window are numbers; an end that is the float -inf or inf costs no operation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.elementary import maximum, minimum, where

if TYPE_CHECKING:
    from controllers.protocols import Number


def _is_open(end: Number) -> bool:
    return isinstance(end, float) and math.isinf(end)


def at_least(value: Number, low: Number) -> Number:
    """`value`, but not below `low`; `low` where it is NaN."""
    return value if _is_open(low) else maximum(value, low)


def at_most(value: Number, high: Number) -> Number:
    """`value`, but not above `high`; `high` where it is NaN."""
    return value if _is_open(high) else minimum(value, high)


def limited(value: Number, low: Number, high: Number) -> Number:
    """`value` limited to [low, high]."""
    return at_most(at_least(value, low), high)


def window(limits: tuple[float, float] | None, travel: float | None, previous: Number) -> tuple[Number, Number]:
    """Return the ends between which this sample's command may lie.

    Parameters
    ----------
    limits : tuple of float, optional
        Limits of the command [unit of the command].
    travel : float, optional
        How far the command may move within one sample.
    previous : number
        The last command, inside `limits`; read with `travel` only.
    """
    low, high = limits if limits is not None else (-math.inf, math.inf)
    if travel is None:
        return low, high
    return at_least(previous - travel, low), at_most(previous + travel, high)


def conditional(increment: Number, demand: Number, low: Number, high: Number) -> Number:
    """Increment of the integral, 0 where it would drive a demand that is at or beyond an end further out."""
    if not _is_open(high):
        increment = where(high - demand, increment, minimum(increment, 0.0))
    if not _is_open(low):
        increment = where(demand - low, increment, maximum(increment, 0.0))
    return increment
