"""Chains of rigid links with any number of joints: the mechanisms for measuring how derivation grows with size."""

from __future__ import annotations

from typing import Any

from plants import Mechanism
from plants.core.elementary import cos, sin

G = 9.81  # m/s^2
Vector = tuple[Any, Any, Any]


def chain(n: int) -> Mechanism:
    """Return a cart with a plane chain of `n` rods, angles from upright."""
    mech = Mechanism(f"chain_{n}")
    mech.coordinates("place " + " ".join(f"angle_{k}" for k in range(n)), initial=0.3)
    speed, *turning = mech.rates()
    cart, mass, length, inertia = mech.parameters(cart=1.0, mass=0.3, length=0.4, inertia=0.004)
    mech.force({"place": mech.inputs("push")})
    mech.kinetic(cart / 2 * speed**2)
    along, up, height = speed, 0.0, 0.0
    for k, w in enumerate(turning):
        angle = mech.symbol(f"angle_{k}")
        reach, rise = length / 2 * cos(angle), length / 2 * sin(angle)
        mech.kinetic(mass / 2 * ((along + reach * w) ** 2 + (up - rise * w) ** 2) + inertia / 2 * w**2)
        mech.potential(mass * G * (height + reach))
        along, up, height = along + 2 * reach * w, up - 2 * rise * w, height + 2 * reach
    return mech


def arm(n: int) -> Mechanism:
    """Return a spatial arm of `n` links whose joints turn about z and y in turns, velocities in the links' frames."""
    mech = Mechanism(f"arm_{n}")
    mech.coordinates(" ".join(f"joint_{k}" for k in range(n)), initial=0.3)
    rates = mech.rates()
    mass, length = mech.parameters(mass=1.0, length=0.4)
    inertias = mech.parameters(J1=0.001, J2=0.01, J3=0.012)
    up: Vector = (0.0, 0.0, 1.0)  # the vertical, seen from the link
    turning: Vector = (0.0, 0.0, 0.0)
    speed: Vector = (0.0, 0.0, 0.0)
    height: Any = 0.0
    for k in range(n):
        turn, axis = _joint(k, mech.symbol(f"joint_{k}"))
        up, speed = turn(up), turn(speed)
        turning = tuple(a + rates[k] * b for a, b in zip(turn(turning), axis, strict=True))  # type: ignore[assignment]
        middle = _plus(speed, _cross(turning, (length / 2, 0.0, 0.0)))
        mech.kinetic(mass / 2 * _square(middle))
        mech.kinetic(sum((j * w**2 for j, w in zip(inertias, turning, strict=True)), 0.0) / 2)
        mech.potential(mass * G * (height + length / 2 * up[0]))
        height = height + length * up[0]
        speed = _plus(speed, _cross(turning, (length, 0.0, 0.0)))
    return mech


def _joint(k: int, angle: Any) -> tuple[Any, Vector]:
    """Change of frame over a joint, and its axis."""
    c, s = cos(angle), sin(angle)
    if k % 2:
        return lambda v: (c * v[0] - s * v[2], v[1], s * v[0] + c * v[2]), (0.0, 1.0, 0.0)
    return lambda v: (c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]), (0.0, 0.0, 1.0)


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _square(a: Vector) -> Any:
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
