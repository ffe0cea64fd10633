"""Complementarity on gaps, two laws: on the gap at the end of a step, and on its mean over a short time.

At the end of a step a contact is open, or it has been pushed and is just shut. A step h of u+ = u + h u', q+ = q + h
u+ ends with the gap

    delta+ = delta(q + h u) + h^2 (A f + d),    A f + d: the part of delta'' by accelerations

up to terms of the third order. With 0 <= f, delta+ >= 0 and f delta+ = 0 no force acts in a step that ends above the
ground, and an impact is over within two steps, without rebound.

Energy. For masses M, a weight F and gaps with straight lines of action that do not depend on the place, a step
changes the energy by exactly

    E+ - E = -f delta - (u+ - u)' M (u+ - u) / 2 <= 0        (delta >= 0 before the step)

for any number of contacts and any h: (u+ - u)' M u+ = h (F + J' f)' u+, the weight's part is what the height takes,
and h f J u+ = f (delta+ - delta) = -f delta. Friction that opposes the slip at the end of the step takes more.

The mean of a gap over [t, t + h], to second order, is delta + (h/2) delta' + (h^2/6) delta''. With it contacts close,
rest and open without event location. Asking the mean to stay open while the force pushes gives, in contact, delta'' =
-(6/h^2) delta - (3/h) delta': a stop that yields for about h, with the same rebound for every h. A body that comes
with speed v is pushed from h v / 2 above the ground on. At rest on the ground (delta = delta' = 0) it is the
condition delta'' = 0 exactly.

Source of the first: D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with
inelastic collisions and Coulomb friction, Int. J. Numerical Methods in Engineering 39 (1996) 2673-2691.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.elementary import minimum

if TYPE_CHECKING:
    from collections.abc import Sequence


LIFT = 0.1
"""Speed at which a contact that begins inside the ground is lifted out of it [m/s]: without a limit it would be thrown
out within a step."""


def at_end(ahead: Sequence[Any], drift: Sequence[Any], gaps: Sequence[Any], h: Any) -> list[Any]:
    """Return b of the gaps at the end of a step, for A h^2 of the gaps' accelerations by forces.

    Parameters
    ----------
    ahead : [n]
        Gaps where the bodies would be at the end of the step with the velocities before it, delta(q + h u) [m].
    drift : [n]
        Part of delta'' by accelerations without contact forces [m/s^2].
    gaps : [n]
        Gaps before the step [m].
    h : number
        Step [s].
    """
    square = h * h
    return [
        far + square * free - minimum(gap + h * LIFT, 0.0) for far, free, gap in zip(ahead, drift, gaps, strict=True)
    ]


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
