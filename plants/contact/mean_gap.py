"""Complementarity on the gap's mean over a short time: contacts that close, rest and open without event location.

The mean of a gap over [t, t + h], to second order, is delta + (h/2) delta' + (h^2/6) delta''. Asking it to stay open
while the force pushes gives, in contact, delta'' = -(6/h^2) delta - (3/h) delta': a stop that yields for about h, with
the same rebound for every h. A body that comes with speed v is pushed from h v / 2 above the ground on. At rest on the
ground (delta = delta' = 0) it is the condition delta'' = 0 exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

RATIO = 5.0  # averaging time in integration steps of the semi-implicit scheme
LEAST_RATIO = 2.5  # below, that scheme is close to instability (2.19)
DAMPING = math.sqrt(6.0) / 4.0
_SINK = DAMPING / math.sqrt(1.0 - DAMPING**2)
RESTITUTION = math.exp(-_SINK * math.acos(2.0 * DAMPING**2 - 1.0))
"""Rebound over impact speed of a free body that is met by the law at gap 0, in continuous time: 0.2435."""
PENETRATION = math.exp(-_SINK * math.acos(DAMPING)) / math.sqrt(6.0)
"""Its largest penetration in averaging times times impact speed, 0.2015; fixed steps stay below."""
RESTITUTION_FROM_ABOVE = math.exp(-_SINK * math.pi)
"""The same rebound of a body that comes from above and is pushed from h v / 2 on: 0.0877."""
PENETRATION_FROM_ABOVE = math.exp(-_SINK * (math.pi - math.acos(DAMPING))) / math.sqrt(6.0)
"""The same penetration of such a body: 0.0726."""


def averaged(
    matrix: Sequence[Sequence[Any]], offset: Sequence[Any], gaps: Sequence[Any], rates: Sequence[Any], h: Any
) -> tuple[list[list[Any]], list[Any]]:
    """Return A and b of the mean gaps.

    Parameters
    ----------
    matrix, offset : A [n][n], b [n]
        Of the gaps' accelerations delta'' = A f + b.
    gaps, rates : [n]
        delta [m] and delta' [m/s].
    h : number
        Averaging time [s].
    """
    square = weight(h)
    mean = [gap + 0.5 * h * rate + square * free for gap, rate, free in zip(gaps, rates, offset, strict=True)]
    return [[square * value for value in row] for row in matrix], mean


def weight(h: Any) -> Any:
    """Return the weight of a gap's acceleration in its mean, h^2 / 6 [s^2]."""
    return h * h * (1.0 / 6.0)


def force_range(load: float, h: float) -> float:
    """Return the largest open gap [m] at which a contact already pushes that would close with `load` [m/s^2]."""
    return load * h * h / 6.0
