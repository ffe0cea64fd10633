"""Where names stand in a chart: beside their points, over as few other points as can be, never over one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.report.situations import Array

LETTER, ABOVE, BELOW = 5.9, 9.0, 3.0  # pixels: width of a letter, height of a line above and below its foot
_NEAR = 11.0  # from a point to its name
_REACHES = (_NEAR, 22.0, 36.0, 52.0, 70.0, 92.0, 118.0, 148.0)
_ANGLES = np.deg2rad([-35.0, 35.0, -145.0, 145.0, -90.0, 90.0, 0.0, 180.0, -65.0, 65.0, -115.0, 115.0])
_GAP = 5.0  # pixels between two names side by side, for the halo around them
_SIZE = 5.0  # pixels from the middle of a point to its edge
_COVERED, _FAR = 3.0, 0.08  # costs: of a point that is covered, of a pixel of distance


@dataclass(frozen=True)
class Place:
    """Foot of a name [pixels], whether it ends there, and where its point is."""

    x: float
    y: float
    ends: bool
    point: tuple[float, float]

    @property
    def led(self) -> bool:
        """Whether it stands so far from its point that a line must lead there."""
        return float(np.hypot(self.x - self.point[0], self.y - self.point[1])) > _NEAR + 6.0

    def box(self, name: str) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a name that stands here."""
        width = LETTER * len(name)
        left = self.x - width if self.ends else self.x
        return left, self.y - ABOVE, left + width, self.y + BELOW


def places(
    names: Sequence[tuple[float, float, str]], dots: Array, width: float, height: float
) -> list[tuple[str, Place]]:
    """Return a place for each name, those that find none left out.

    Parameters
    ----------
    names : sequence of (x, y, name)
        Points in pixels, the most important first.
    dots : array [n, 2]
        Points that had better not be covered.
    width, height : float
        Of the chart; names stay inside.
    """
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for x, y, name in names:
        free = [
            (cost, place)
            for place in _candidates(x, y)
            if (cost := _cost(place, name, taken, dots, width, height)) is not None
        ]
        if free:
            place = min(free, key=lambda pair: pair[0])[1]
            taken.append(place.box(name))
            found.append((name, place))
    return found


def _candidates(x: float, y: float) -> Iterable[Place]:
    for reach in _REACHES:
        for angle in _ANGLES:
            across, down = reach * float(np.cos(angle)), reach * float(np.sin(angle))
            yield Place(x + across, y + down + 3.0, bool(across < -1e-9), (x, y))


def _cost(
    place: Place, name: str, taken: Sequence[tuple[float, float, float, float]], dots: Array, width: float,
    height: float,
) -> float | None:  # fmt: skip
    """Points that are covered and distance; None where the name leaves the chart or covers another."""
    left, top, right, bottom = place.box(name)
    if left < 0.0 or top < 0.0 or right > width or bottom > height:
        return None
    if any(left < r + _GAP and right > l - _GAP and top < b and bottom > t for l, t, r, b in taken):
        return None
    x, y = dots[:, 0], dots[:, 1]
    inside = (x > left - _SIZE) & (x < right + _SIZE) & (y > top - _SIZE) & (y < bottom + _SIZE)
    reach = float(np.hypot(place.x - place.point[0], place.y - place.point[1]))
    return _COVERED * float(inside.sum()) + _FAR * reach
