"""Where else to begin, when Newton's method finds no rest from the nominal input: all over the bounds.

A heater whose power goes with the square of its command has no slope at a command of 0, a valve none inside its dead
zone: there the method cannot move. A slope of the wrong sign leads it out of the bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.quantities import Quantity

    Array = NDArray[np.float64]

COUNT = 64  # points at which the rates are looked at
TRIED = 4  # of them from which Newton's method begins: where the least is left
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def bounds(quantities: Sequence[Quantity], around: Array) -> tuple[Array, Array]:
    """Return the range in which each quantity is searched [n]: its bounds, and `around` [n] where it has none."""
    size = 10.0 * (1.0 + np.abs(around))
    low, high = (np.array([getattr(q, side) for q in quantities], float) for side in ("low", "high"))
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), np.minimum(high, around), around) - size)
    high = np.where(np.isfinite(high), high, np.maximum(low, around) + size)
    return low, high


def starts(low: Array, high: Array) -> Array:
    """Return points spread evenly between `low` and `high`, always the same ones [n, COUNT]: Halton's sequence.

    The first are the middle and the two ends; with more quantities than primes at hand, some share theirs.
    """
    shares = np.array([_inverse(_PRIMES[k % len(_PRIMES)]) for k in range(len(low))]).reshape(len(low), -1)
    shares = np.hstack([np.tile([0.5, 0.0, 1.0], (len(low), 1)), shares])
    return np.asarray(low[:, None] + (high - low)[:, None] * shares, float)


def fewest_left(left: Array) -> list[int]:
    """Return the places of the points from which to begin, of what is `left` of the equations [n_points, n]."""
    largest = np.abs(left).max(axis=0, initial=1e-300, where=np.isfinite(left))
    size = np.linalg.norm(left / largest, axis=1)
    return np.argsort(np.where(np.isfinite(size), size, np.inf), kind="stable")[:TRIED].tolist()


def _inverse(base: int) -> list[float]:
    """Van der Corput's sequence: the digits of 1, 2, 3, ... mirrored at the point."""
    values = []
    for number in range(1, COUNT - 2):
        value, share, rest = 0.0, 1.0, number
        while rest:
            rest, digit = divmod(rest, base)
            share /= base
            value += share * digit
        values.append(value)
    return values
