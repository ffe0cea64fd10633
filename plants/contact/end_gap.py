"""Complementarity on the gap itself: at the end of a step a contact is open, or it has been pushed and is just shut.

A step h of u+ = u + h u', q+ = q + h u+ ends with the gap

    delta+ = delta(q + h u) + h^2 (A f + d),    A f + d: the part of delta'' by accelerations

up to terms of the third order. With 0 <= f, delta+ >= 0 and f delta+ = 0 no force acts in a step that ends above the
ground, and an impact is over within two steps, without rebound.

Energy. For masses M, a weight F and gaps with straight lines of action that do not depend on the place, a step changes
the energy by exactly

    E+ - E = -f delta - (u+ - u)' M (u+ - u) / 2 <= 0        (delta >= 0 before the step)

for any number of contacts and any h: (u+ - u)' M u+ = h (F + J' f)' u+, the weight's part is what the height takes, and
h f J u+ = f (delta+ - delta) = -f delta. Friction that opposes the slip at the end of the step takes more.

Source: D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
and Coulomb friction, Int. J. Numerical Methods in Engineering 39 (1996) 2673-2691.
"""

from __future__ import annotations

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
