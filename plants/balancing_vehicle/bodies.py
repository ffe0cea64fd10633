"""Mass matrix and forces of platform, payload and wheels, by virtual power, in the heading frame.

The heading frame has the axes f (forward along the heading), e_s (to the left) and k (up): it is turned about the
vertical alone. In it neither masses nor forces depend on the yaw angle, so the equations are solved there, for the
velocities U = (u_f, u_s, u_z, psi', phi', theta', aL', aR'), and turned back. Vectors are three numbers, in which
plain zeros cost nothing.

Axes of rotation: yaw k, roll f, pitch and wheels a = cos(phi) e_s + sin(phi) k; n = f x a completes the tilted frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.parameters import GRAVITY, SIDES
from plants.core.elementary import cos, sin

if TYPE_CHECKING:
    from plants.balancing_vehicle.parameters import VehicleParameters


Vector = tuple[Any, Any, Any]


def plus(*vectors: Vector) -> Vector:
    """Sum."""
    x, y, z = vectors[0]
    for a, b, c in vectors[1:]:
        x, y, z = x + a, y + b, z + c
    return x, y, z


def times(factor: Any, a: Vector) -> Vector:
    """Product with a number."""
    return factor * a[0], factor * a[1], factor * a[2]


def dot(a: Vector, b: Vector) -> Any:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


FORWARD: Vector = (1.0, 0.0, 0.0)
UP: Vector = (0.0, 0.0, 1.0)
N_U = 8
PSI, PHI, THETA, A_L, A_R = 3, 4, 5, 6, 7


class VehiclePose(NamedTuple):
    """Axes and rates, in the heading frame.

    Attributes
    ----------
    heading : (cos psi, sin psi)
    axle, upright : the axes a and n
    body : the platform's axes x, y, z
    turning : platform's angular velocity
    bias : velocity part of its angular acceleration
    velocity : of the platform's centre of mass
    rates : U [8]
    """

    heading: tuple[Any, Any]
    axle: Vector
    upright: Vector
    body: tuple[Vector, Vector, Vector]
    turning: Vector
    bias: Vector
    velocity: Vector
    rates: tuple[Any, ...]


def pose(x: Any) -> VehiclePose:
    """Return the pose at the plant's state."""
    c, s = cos(x[3]), sin(x[3])
    cp, sp, ct, st = cos(x[4]), sin(x[4]), cos(x[5]), sin(x[5])
    axle, upright = (0.0, cp, sp), (0.0, -sp, cp)
    ahead = plus(times(ct, FORWARD), times(-st, upright))
    above = plus(times(st, FORWARD), times(ct, upright))
    velocity = (c * x[8] + s * x[9], c * x[9] - s * x[8], x[10])
    psi, phi, theta = x[11:14]
    frame = (phi, 0.0, psi)  # of the tilted frame: psi' k + phi' f
    turning = plus(frame, times(theta, axle))
    bias = plus((0.0, phi * psi, 0.0), times(theta, cross(frame, axle)))
    return VehiclePose((c, s), axle, upright, (ahead, axle, above), turning, bias, velocity, (*velocity, *x[11:16]))


def place(at: VehiclePose, along: Any, across: Any, above: Any) -> Vector:
    """Return a point of the platform from its centre of mass, given in its own axes."""
    return plus(times(along, at.body[0]), times(across, at.body[1]), times(above, at.body[2]))


def arms(at: VehiclePose, d: Vector) -> tuple[Vector, Vector, Vector]:
    """Velocities of a point of the platform by unit rates of yaw, roll and pitch."""
    return cross(UP, d), cross(FORWARD, d), cross(at.axle, d)


def drawn(at: VehiclePose, d: Vector) -> Vector:
    """Acceleration of a point of the platform without rates' rates [m/s^2]."""
    return plus(cross(at.bias, d), cross(at.turning, cross(at.turning, d)))


def wheel_centres(at: VehiclePose, p: VehicleParameters) -> tuple[Vector, ...]:
    """Wheel centres from the platform's centre of mass, left and right."""
    return tuple(place(at, 0.0, 0.5 * side * p.b, -p.l) for side in SIDES)


def payload_place(at: VehiclePose, p: VehicleParameters) -> Vector:
    """The payload from the platform's centre of mass."""
    return place(at, p.payload_x, p.payload_y, p.payload_z - p.l)


class BodyEquations(NamedTuple):
    """M U' = F without ground and pushes: matrix [8][8], forces [8]."""

    mass: list[list[Any]]
    force: list[Any]


def equations(at: VehiclePose, u: Any, p: VehicleParameters) -> BodyEquations:
    """Assemble masses and forces: inertia, gravity, motors and bearings."""
    result = BodyEquations([[0.0] * N_U for _ in range(N_U)], [0.0] * N_U)
    for k in range(3):
        result.mass[k][k] = p.m_p + 2.0 * p.m_w + p.payload
    result.force[2] = -(p.m_p + 2.0 * p.m_w + p.payload) * GRAVITY
    _point(result, at, p.payload, payload_place(at, p))
    _platform(result, at, p)
    for column, d in zip((A_L, A_R), wheel_centres(at, p), strict=True):
        _point(result, at, p.m_w, d)
        _wheel(result, at, at.rates[column], column, p)
    for column, torque in zip((A_L, A_R), u, strict=True):
        result.force[column] += torque - p.c_b * at.rates[column]
    return result


def _point(result: BodyEquations, at: VehiclePose, mass: Any, d: Vector) -> None:
    """A point mass of the platform; what it adds to translation is in the total mass already."""
    columns, drag = arms(at, d), drawn(at, d)
    for i, column in enumerate(columns, PSI):
        for k in range(3):
            result.mass[k][i] += mass * column[k]
            result.mass[i][k] = result.mass[k][i]
        for j, other in enumerate(columns, PSI):
            result.mass[i][j] += mass * dot(column, other)
        result.force[i] -= mass * (dot(column, drag) + GRAVITY * column[2])
    for k in range(3):
        result.force[k] -= mass * drag[k]


def _platform(result: BodyEquations, at: VehiclePose, p: VehicleParameters) -> None:
    inertias = (p.I_px, p.I_py, p.I_pz)
    axes = (UP, FORWARD, at.axle)
    spin = [inertia * dot(axis, at.turning) for inertia, axis in zip(inertias, at.body, strict=True)]
    bias = [inertia * dot(axis, at.bias) for inertia, axis in zip(inertias, at.body, strict=True)]
    moment = plus(*(times(value, axis) for value, axis in zip(bias, at.body, strict=True)))
    momentum = plus(*(times(value, axis) for value, axis in zip(spin, at.body, strict=True)))
    moment = plus(moment, cross(at.turning, momentum))
    for i, first in enumerate(axes, PSI):
        parts = [inertia * dot(axis, first) for inertia, axis in zip(inertias, at.body, strict=True)]
        for j, second in enumerate(axes, PSI):
            result.mass[i][j] += sum(part * dot(axis, second) for part, axis in zip(parts, at.body, strict=True))
        result.force[i] -= dot(first, moment)


def _wheel(result: BodyEquations, at: VehiclePose, spin: Any, column: int, p: VehicleParameters) -> None:
    """Rotation of a wheel with inertia I_d 1 + (I_a - I_d) a a'."""
    axes = {PSI: UP, PHI: FORWARD, THETA: at.axle, column: at.axle}
    psi, phi = at.rates[PSI], at.rates[PHI]
    bias = plus(at.bias, times(spin, cross((phi, 0.0, psi), at.axle)))
    turning = plus(at.turning, times(spin, at.axle))
    more = p.I_a - p.I_d
    moment = plus(
        times(p.I_d, bias),
        times(more * dot(at.axle, bias), at.axle),
        times(more * dot(at.axle, turning), cross(turning, at.axle)),
    )
    for i, first in axes.items():
        along = more * dot(at.axle, first)
        for j, second in axes.items():
            result.mass[i][j] += p.I_d * dot(first, second) + along * dot(at.axle, second)
        result.force[i] -= dot(first, moment)
