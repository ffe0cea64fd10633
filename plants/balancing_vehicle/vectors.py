"""Vectors of three numbers in which plain zeros cost nothing."""

from __future__ import annotations

from typing import Any

Vector = tuple[Any, Any, Any]
ZERO: Vector = (0.0, 0.0, 0.0)


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
