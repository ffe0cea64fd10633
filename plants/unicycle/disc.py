"""Pushes of all directions, sizes and heights: whose falls tell the region of survived pushes.

The region ends, in each direction, at the least push at which the robot falls. So small pushes count as much as large
ones: sizes are even, not areas; a robot that bears 300 N from behind may fall at 30 N, with the wheel nearly at rest.
Directions, heights and the wheel's angle at the start follow a sequence that fills their space evenly for any number
of pushes: gains must not lean on where the pedals are, nor on one lever arm.
Source: M. Roberts, The unreasonable effectiveness of quasirandom sequences (2018): multiples of powers of 1/g, where
g^4 = g + 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST = 600.0  # N: beyond what any gains survive from most sides
NUMBER = 160  # at each speed
LOWEST, HIGHEST = 0.2, 0.6  # m above the axle
AT, HORIZON = 0.5, 5.0  # s: when a push begins, and when the robot must still stand
_GROWTH = 1.2207440846057596
_EVEN = tuple(_GROWTH**-power for power in (1, 2, 3))  # of direction, height, wheel's angle


@dataclass(frozen=True)
class PushOfDisc:
    """A push: size [N], where to [degrees] (0 forward, positive to the left), height above the axle [m].

    With it goes the wheel's angle at the start, `phase` [rad].
    """

    size: float
    degrees: float
    height: float
    phase: float

    @property
    def forward(self) -> float:
        """Its part forward [N]."""
        return round(self.size * math.cos(math.radians(self.degrees)), 6)

    @property
    def left(self) -> float:
        """Its part to the left [N]."""
        return round(self.size * math.sin(math.radians(self.degrees)), 6)


def pushes(turn: int = 0) -> list[PushOfDisc]:
    """Return all pushes of one speed from the smallest; other directions, heights and angles for each `turn`."""
    return [_push(k, turn * NUMBER + k) for k in range(NUMBER)]


def _push(rank: int, place: int) -> PushOfDisc:
    direction, height, phase = (place * step % 1.0 for step in _EVEN)
    return PushOfDisc(
        size=LARGEST * (rank + 0.5) / NUMBER,
        degrees=360.0 * direction,
        height=LOWEST + (HIGHEST - LOWEST) * height,
        phase=2.0 * math.pi * phase,
    )
