"""The Cartesian pendulums once more, transferred to joint coordinates: no constraint is left to drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
from tests.plants.mechanics.systems import G

if TYPE_CHECKING:
    from collections.abc import Callable


def pendulum_by_joint() -> Mechanism:
    """The Cartesian pendulum, transferred to its angle from the downward vertical."""
    mech = Mechanism("pendulum_by_joint")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates()
    m, l = mech.parameters(m=1.0, l=1.0)
    mech.kinetic(m / 2 * (vx**2 + vy**2))
    mech.potential(m * G * y)
    angle = mech.joints("angle")
    mech.place({x: l * sin(angle), y: -l * cos(angle)})
    return mech


def double_pendulum_by_joints() -> Mechanism:
    """The Cartesian double pendulum, transferred to its angles from the downward vertical."""
    mech = Mechanism("double_pendulum_by_joints")
    xa, ya, xb, yb = mech.coordinates("xa ya xb yb")
    vxa, vya, vxb, vyb = mech.rates()
    ma, mb, la, lb = mech.parameters(ma=1.0, mb=1.5, la=1.0, lb=0.7)
    mech.kinetic(ma / 2 * (vxa**2 + vya**2) + mb / 2 * (vxb**2 + vyb**2))
    mech.potential(ma * G * ya + mb * G * yb)
    a, b = mech.joints("a b")
    x, y = la * sin(a), -la * cos(a)
    mech.place({xa: x, ya: y, xb: x + lb * sin(b), yb: y - lb * cos(b)})
    return mech


BY_JOINTS: dict[str, tuple[Callable[[], Mechanism], tuple[float, ...]]] = {
    "Cartesian pendulum": (pendulum_by_joint, (2.0, 0.0)),
    "Cartesian double pendulum": (double_pendulum_by_joints, (2.0, 1.0, 0.0, 0.0)),
}
"""The same systems and motions without constraints: their first states are angles and rates."""
