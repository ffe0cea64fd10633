"""Pushes of all directions and sizes, each for an equal part of a disc: whose falls tell the region of survived pushes.

Rings hold equal areas, and every other ring is turned by half a step, so there are twice as many directions. The wheel
begins at another angle each time: gains must not lean on where the pedals are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST = 600.0  # N: beyond what any gains survive from most sides
DIRECTIONS, RINGS = 8, 15
AT, HORIZON = 0.5, 5.0  # s: when a push begins, and when the robot must still stand
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class PushOfDisc:
    """A push: size [N], where to [degrees] (0 forward, positive to the left), the wheel's angle at the start [rad]."""

    size: float
    degrees: float
    phase: float

    @property
    def forward(self) -> float:
        """Its part forward [N]."""
        return round(self.size * math.cos(math.radians(self.degrees)), 6)

    @property
    def left(self) -> float:
        """Its part to the left [N]."""
        return round(self.size * math.sin(math.radians(self.degrees)), 6)


def pushes() -> list[PushOfDisc]:
    """Return all pushes, ring by ring from the smallest."""
    return [
        PushOfDisc(
            size=LARGEST * math.sqrt((ring + 0.5) / RINGS),
            degrees=360.0 * (k + 0.5 * (ring % 2)) / DIRECTIONS,
            phase=2.0 * math.pi * ((ring * DIRECTIONS + k) * _GOLDEN % 1.0),
        )
        for ring in range(RINGS)
        for k in range(DIRECTIONS)
    ]
