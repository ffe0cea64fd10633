"""Rigid bodies of a mechanism, in six coordinates.

A rigid body has its centre of mass and three Euler angles (z, x', z''). Angular velocity in the body's frame: w = K
(psi', theta', phi'), with

    K = [[sin th sin ph,  cos ph, 0],
         [sin th cos ph, -sin ph, 0],
         [cos th,         0,      1]]

Singular at sin theta = 0: give a body an initial theta away from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import cos, sin
from plants.mechanics.declaration.declaration import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Vector = tuple[Any, Any, Any]
    Matrix = tuple[Vector, Vector, Vector]


class RigidBody:
    """One rigid body of a mechanism; made by :meth:`Mechanism.body`.

    Attributes
    ----------
    position, velocity : tuple [3]
        Of the centre of mass [m, m/s].
    angles, angle_rates : tuple [3]
        psi, theta, phi [rad], and their rates.
    """

    def __init__(self, mech: Any, name: str, mass: Any, inertia: Sequence[Any], initial: Any, gravity: Any) -> None:
        if len(inertia) != 3:
            raise DeclarationError(
                f"body {name!r} of mechanism {mech.name!r}: three principal moments of inertia were expected, "
                f"got {len(inertia)}"
            )
        labels = " ".join(f"{name}_{part}" for part in ("x", "y", "z", "psi", "theta", "phi"))
        q = mech.coordinates(labels, units="m m m rad rad rad", initial=initial)
        v = mech.rates()[-6:]  # coordinates before it may have had none
        self.mechanism, self.name = mech, name
        self.position, self.angles = q[:3], q[3:]
        self.velocity, self.angle_rates = v[:3], v[3:]
        turning = self.angular_velocity()
        mech.kinetic(mass / 2 * sum((speed**2 for speed in self.velocity), 0.0))
        mech.kinetic(sum((j * w**2 for j, w in zip(inertia, turning, strict=True)), 0.0) / 2)
        if not isinstance(gravity, int | float) or gravity:
            mech.potential(mass * gravity * self.position[2])

    def place(self, position: Sequence[Any], angles: Sequence[Any], point: Sequence[Any] = (0.0, 0.0, 0.0)) -> None:
        """Give all six coordinates as functions of joint coordinates, time, and coordinates of other placed bodies.

        Parameters
        ----------
        position : sequence [3]
            Where `point` lies on the ground [m], such as another body's :meth:`point`.
        angles : sequence [3]
            psi, theta, phi [rad].
        point : sequence [3]
            Fixed in this body [m], from its centre of mass.
        """
        turned = _times(self.rotation(), point)
        centre = (a - b for a, b in zip(position, turned, strict=True))
        self.mechanism.place(dict(zip((*self.position, *self.angles), (*centre, *angles), strict=True)))

    def axes(self) -> Matrix:
        """K: rows are the body's axes, columns the rotation axes."""
        _psi, theta, phi = self.angles
        return (
            (sin(theta) * sin(phi), cos(phi), 0.0),
            (sin(theta) * cos(phi), -sin(phi), 0.0),
            (cos(theta), 0.0, 1.0),
        )

    def angular_velocity(self) -> Vector:
        """In the body's frame [rad/s]."""
        return _times(self.axes(), self.angle_rates)

    def rotation(self) -> Matrix:
        """From the body's frame to the ground's."""
        psi, theta, phi = self.angles
        (cp, sp), (ct, st), (cf, sf) = ((cos(a), sin(a)) for a in (psi, theta, phi))
        return (
            (cp * cf - sp * ct * sf, -cp * sf - sp * ct * cf, sp * st),
            (sp * cf + cp * ct * sf, -sp * sf + cp * ct * cf, -cp * st),
            (st * sf, st * cf, ct),
        )

    def point(self, place: Sequence[Any]) -> Vector:
        """Where a point that is fixed in the body lies on the ground [m]."""
        turned = _times(self.rotation(), place)
        return tuple(a + b for a, b in zip(self.position, turned, strict=True))

    def point_velocity(self, place: Sequence[Any]) -> Vector:
        """Velocity of a point that is fixed in the body [m/s], in the ground's frame."""
        (a, b, c), (x, y, z) = self.angular_velocity(), place
        turned = _times(self.rotation(), (b * z - c * y, c * x - a * z, a * y - b * x))
        return tuple(v + s for v, s in zip(self.velocity, turned, strict=True))

    def load(
        self, force: Sequence[Any] = (0.0, 0.0, 0.0), moment: Sequence[Any] = (0.0, 0.0, 0.0), kind: str = "drive"
    ) -> None:
        """Add a force at the centre of mass [N, ground's frame] and a moment [N m, body's frame]."""
        axes = self.axes()
        about = [sum((axes[i][j] * moment[i] for i in range(3)), 0.0) for j in range(3)]
        pairs = zip((*self.position, *self.angles), (*force, *about), strict=True)
        self.mechanism.force(dict(pairs), kind=kind)


def _times(matrix: Matrix, vector: Sequence[Any]) -> Vector:
    x, y, z = vector
    first, second, third = ((a * x + b * y + c * z) for a, b, c in matrix)
    return first, second, third
