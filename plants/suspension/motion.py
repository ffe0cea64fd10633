"""Equations of motion in minimal coordinates, M(q) q'' = r, and where the car rests on its springs.

M is an arrow: the arms' rows are coupled to heave, pitch and roll alone. So the equations come in the order theta_i
.. theta_iv, z0, beta, alpha, in which L D L' meets only plain zeros beside the arrow and skips them: the elimination
of the arms, one by one, and a 3x3 solve.

Pitched axes turn with beta; gravity is there an acceleration g of the frame. The rest is computed, for any load and
any set of numbers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.names import pick_values
from plants.suspension.geometry import contacts, mirrored, pose, stabiliser_moments, strut_forces
from plants.suspension.parameters import LEFT, PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.suspension.geometry import CarPose, Numbers, TyreContact


ARMS = 4
VELOCITIES = (*(f"theta_{n}_rate" for n in ("i", "ii", "iii", "iv")), "z0_rate", "beta_rate", "alpha_rate")
"""Order of the equations."""


def kinematics(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of z0 [m], beta, alpha and the four arms' angles [rad]."""
    return tuple(x[7:])


def mass_matrix(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[Numbers, ...]:
    """Inertia [7][7], arms first."""
    return inertia(pose(x, p))


def inertia(at: CarPose) -> tuple[Numbers, ...]:
    """Inertia [7][7] at a pose, arms first."""
    car, axles, corners = at.car, at.car.axles, at.corners
    arms = [_arm_row(at, k) for k in range(ARMS)]
    mass = sum((c.mass for c in corners), car.mb)
    u = sum((c.u for c in corners), car.mb * at.body_u)
    along = sum((axle.a1 * c.mass for axle, c in zip(axles, corners, strict=True)), car.mb * car.body_at)
    far = sum(
        (axle.a1 * axle.a1 * c.mass for axle, c in zip(axles, corners, strict=True)),
        car.mb * car.body_at * car.body_at,
    )
    v = [mirrored(LEFT[k], c.v) for k, c in enumerate(corners)]
    heave_pitch = -(u * at.sin_pitch + along * at.cos_pitch)
    heave_roll = at.cos_pitch * sum(v, car.mb * at.body_v)
    pitch = sum((c.uu for c in corners), car.Iby + far + car.mb * at.body_u * at.body_u)
    pitch_roll = -sum((axle.a1 * one for axle, one in zip(axles, v, strict=True)), car.mb * car.body_at * at.body_v)
    body = car.mb * (car.b0 * car.b0 + car.c0 * car.c0)
    roll = sum((c.inertia + axle.Iax for axle, c in zip(axles, corners, strict=True)), car.Ibx + body)
    rigid = ((mass, heave_pitch, heave_roll), (heave_pitch, pitch, pitch_roll), (heave_roll, pitch_roll, roll))
    diagonal = [c.own + axle.Iax for axle, c in zip(axles, corners, strict=True)]
    upper = [(*(diagonal[k] if j == k else 0.0 for j in range(ARMS)), *arms[k]) for k in range(ARMS)]
    lower = [(*(arm[i] for arm in arms), *rigid[i]) for i in range(3)]
    return (*upper, *lower)


def _arm_row(at: CarPose, k: int) -> Numbers:
    """Coupling of one arm with z0, beta and alpha."""
    c, axle = at.corners[k], at.car.axles[k]
    height = mirrored(LEFT[k], c.u_theta)
    return at.cos_pitch * height, -(axle.a1 * height), c.cross + axle.Iax


def force(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """All that carries no acceleration [7]: moments on the arms [N m], force [N], pitch and roll moment [N m]."""
    return _force(x, u, w, p, unilateral=False)


def force_unilateral(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """The same with tyres that only push."""
    return _force(x, u, w, p, unilateral=True)


def _force(x: Numbers, u: Numbers, w: Numbers, p: Numbers, *, unilateral: bool) -> Numbers:
    at = pose(x, p)
    return applied(at, strut_forces(at, u), contacts(at, w[:4], w[4:], unilateral=unilateral))


def applied(at: CarPose, struts: Numbers, tyres: tuple[TyreContact, ...]) -> Numbers:
    """Forces less what inertia and weight demand at the present rates [7], arms first."""
    bias = _bias(at)
    bars = stabiliser_moments(at)
    arms = [
        mirrored(LEFT[k], bars[k] - struts[k] * at.corners[k].link.slope + tyres[k].load * tyres[k].by_theta - bias[k])
        for k in range(ARMS)
    ]
    lift = sum((tyre.load for tyre in tyres), 0.0)
    pitch = sum((tyre.load * tyre.by_pitch for tyre in tyres), 0.0)
    roll = sum((mirrored(LEFT[k], tyre.load * tyre.by_roll) for k, tyre in enumerate(tyres)), 0.0)
    return (*arms, lift - bias[4], pitch - bias[5], roll - bias[6])


def _bias(at: CarPose) -> Numbers:
    """Centrifugal, gyroscopic and gravity terms: arms in their own mirrors, then z0, beta, alpha."""
    car, spin = at.car, at.pitch_rate
    squared, weight = spin * spin, car.g * at.cos_pitch
    body_u, body_v = car.mb * at.body_u, car.mb * at.body_v
    heights, lateral, swing, upward = [body_u], [body_v], [body_u * at.body_v * at.roll_rate], []
    turned, mixed, arms = [], [body_u * at.body_v], []
    rise = [body_v * at.roll_rate]
    accelerations = [-(body_u * at.roll_rate * at.roll_rate)]
    for k, c in enumerate(at.corners):
        _, roll = at.roll_of(k)
        rate = at.theta_rates[k]
        both, own, slow = 2.0 * roll * rate, rate * rate, roll * roll
        heights.append(c.u)
        lateral.append(mirrored(LEFT[k], c.v))
        rise.append(c.v * roll + c.u_theta * rate)
        swing.append(c.uv * roll + c.u_u * rate)
        mixed.append(mirrored(LEFT[k], c.uv))
        accelerations.append(both * c.v_theta + own * c.u_theta2 - slow * c.u)
        turned.append(mirrored(LEFT[k], both * c.dot + own * c.cross2))
        arms.append(own * c.dot2 - slow * c.dot - squared * c.u_u + weight * c.u_theta)
    places = [car.body_at, *(axle.a1 for axle in car.axles)]
    masses = [car.mb, *(c.mass for c in at.corners)]
    upward = sum(accelerations, 0.0) - squared * sum(heights, 0.0)
    along = sum((a * m for a, m in zip(places, masses, strict=True)), 0.0)
    back = 2.0 * spin * sum(rise, 0.0) - squared * along
    heave = at.cos_pitch * upward - at.sin_pitch * back + car.g * sum(masses, 0.0)
    pitch = (
        2.0 * spin * sum(swing, 0.0)
        - sum((a * b for a, b in zip(places, accelerations, strict=True)), 0.0)
        - (car.g * at.sin_pitch * sum(heights, 0.0) + weight * along)
    )
    roll = sum(turned, 0.0) - squared * sum(mixed, 0.0) + weight * sum(lateral, 0.0)
    return (*arms, heave, pitch, roll)


_ROUNDS, _SMALL, _DIFFERENCE = 30, 1e-13, 1e-6
_START = (0.55, 0.0, 0.0, 0.15, -0.15, 0.12, -0.12)


def equilibrium(
    parameters: Mapping[str, float] | Sequence[float] | None = None, heights: Sequence[float] = (0.0,) * 4
) -> tuple[float, ...]:
    """Return the state [14] of rest on roads of given heights [m], without active forces.

    Raises
    ------
    ValueError
        For unknown parameters, or where the car does not come to rest with all struts away from their dead points.
    """
    p = pick_values("parameters of plant 'suspension'", PARAMETERS, parameters)
    return _rest(tuple(p), tuple(heights))


@lru_cache(maxsize=256)
def _rest(p: tuple[float, ...], heights: tuple[float, ...]) -> tuple[float, ...]:
    """Newton's method with central differences; rounding of the forces leaves some 1e-14 of each coordinate."""
    q = np.array(_START)
    for _ in range(_ROUNDS):
        moved = np.hstack([q[:, None] + _DIFFERENCE * step for step in (np.eye(7), -np.eye(7), np.zeros((7, 1)))])
        forces = _forces(moved, p, heights)
        slopes = (forces[:, :7] - forces[:, 7:14]) / (2.0 * _DIFFERENCE)
        change = np.linalg.solve(slopes, forces[:, 14])
        q -= change
        if not np.isfinite(q).all() or np.abs(q[1:]).max() > 1.5:
            break
        if np.abs(change).max() < _SMALL:
            q[np.abs(q) < _SMALL] = 0.0  # a symmetric car rests exactly level
            return (*q.tolist(), *(0.0,) * 7)
    raise ValueError("the suspension has no rest near its nominal one; check loads, springs and free lengths")


def _forces(q: np.ndarray, p: tuple[float, ...], heights: tuple[float, ...]) -> Any:
    """Forces at rest [7, n]."""
    rest = np.zeros(q.shape[1])
    values = force(0.0, (*q, *(rest,) * 7), (0.0,) * 8, (*heights, *(0.0,) * 4), p)
    return np.array([np.broadcast_to(value, rest.shape) for value in values])
