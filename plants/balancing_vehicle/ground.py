"""The ground under a wheel: height with slope and a cosine bump, and how much friction it gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.parameters import PATCH_EDGE
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, cos, minimum, sin, where

if TYPE_CHECKING:
    from plants.balancing_vehicle.parameters import Numbers


class Ground(NamedTuple):
    """The ground at a place: height [m], slopes along x and y, curvature along x [1/m], share of the patch."""

    height: Any
    slope_x: Any
    slope_y: Any
    curvature: Any
    friction: Any


def ground(x: Any, y: Any, height: Any, p: Numbers) -> Ground:
    """Return the ground at (x, y) [m] under a wheel whose bump is `height` [m] high.

    The bump is (h/2) (1 - cos(2 pi (x - x_b) / L)) on [x_b, x_b + L]: height and slope are continuous.
    """
    rate = 2.0 * math.pi / p.bump_length
    along = x - p.bump_x
    on = minimum(along, p.bump_length - along)
    angle = rate * clip(along, 0.0, p.bump_length)
    half, turn = 0.5 * height, cos(angle)
    return Ground(
        height=p.slope_x * x + p.slope_y * y + half * (1.0 - turn),
        slope_x=p.slope_x + half * rate * sin(angle),
        slope_y=p.slope_y,
        curvature=where(on, half * rate * rate * turn, 0.0),
        friction=1.0 + (p.patch - 1.0) * on_patch(x, y, p),
    )


def on_patch(x: Any, y: Any, p: Numbers) -> Any:
    """Share of the patch's ground at (x, y), 0 to 1."""
    half = 0.5 * p.patch_length
    along = half - magnitude(x - p.patch_x - half)
    across = 0.5 * p.patch_width - magnitude(y - p.patch_y)
    return clip(0.5 + minimum(along, across) / PATCH_EDGE, 0.0, 1.0)
