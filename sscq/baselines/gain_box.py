"""The box in which gains are searched: whether the best gains lie on its wall, and a wider one.

A controller that is compared with gains that a wall holds back wins against the wall. So the box is widened, for all
contenders alike, until the best fixed gains lie inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

NEAR_WALL = 0.02  # of the box's width: a search ends this close to a wall that holds it back
WIDENING = 2.0  # by which the side of a box grows


@dataclass(frozen=True)
class Wall:
    """A side of the box.

    Attributes
    ----------
    gain : int
        Its place among the gains.
    upper : bool
    value : float
        Where the wall stands.
    """

    gain: int
    upper: bool
    value: float

    def said(self, names: Sequence[str]) -> str:
        """Return it in words, such as "kp <= 10"."""
        return f"{names[self.gain]} {'<=' if self.upper else '>='} {self.value:g}"


def walls(gains: Array, low: Array, high: Array, near: float = NEAR_WALL) -> tuple[Wall, ...]:
    """Return the walls of the box [low, high] on which gains [n_gains] lie, within a share `near` of its width.

    A wall at 0 is none: beyond it a gain would change its sign. Neither is one of a gain that the box holds still.
    """
    closest = near * (high - low)
    found = []
    for place in np.flatnonzero(low < high):
        ends = ((False, low[place], gains[place] - low[place]), (True, high[place], high[place] - gains[place]))
        found += [Wall(int(place), up, float(end)) for up, end, way in ends if end != 0.0 and way <= closest[place]]
    return tuple(found)


def widened(low: Array, high: Array, on: Sequence[Wall]) -> tuple[Array, Array]:
    """Return the box [low, high] with the walls `on` moved outwards, so that its width is `WIDENING` times as large."""
    low, high = low.copy(), high.copy()
    for wall in on:
        way = (WIDENING - 1.0) * (high[wall.gain] - low[wall.gain])
        if wall.upper:
            high[wall.gain] += way
            high[wall.gain] = min(high[wall.gain], 0.0) if wall.value < 0.0 else high[wall.gain]
        else:
            low[wall.gain] -= way
            low[wall.gain] = max(low[wall.gain], 0.0) if wall.value > 0.0 else low[wall.gain]
    return low, high
