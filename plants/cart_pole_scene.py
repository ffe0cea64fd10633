"""Cart and pole as they are seen from the side: the track, the cart on two wheels, the pole, the force."""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.scene import Body, Scene, View

Points = Any
_HIGH, _HALF, _RADIUS = 0.28, 0.3, 0.08  # m: pivot above the track, half the cart's length, wheels
_METRES_PER_NEWTON = 0.05


def cart(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """Outline of the cart."""
    left, right, low = x[0] - _HALF, x[0] + _HALF, 0.1
    return (left, low), (right, low), (right, _HIGH), (left, _HIGH)


def pole(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The pole from its pivot to its tip; positive angles lean to positive positions."""
    length = 2.0 * p[2]
    return (x[0], _HIGH), (x[0] + length * np.sin(x[1]), _HIGH + length * np.cos(x[1]))


def force(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """Force on the cart, 5 cm for each newton."""
    return (x[0], 0.19), (x[0] + _METRES_PER_NEWTON * u[0], 0.19)


def _wheel(place: float) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        centre, turned = x[0] + place, x[0] / _RADIUS
        return (centre, _RADIUS), (centre + _RADIUS * np.sin(turned), _RADIUS + _RADIUS * np.cos(turned))

    return points


SCENE = Scene(
    views=(
        View(
            "from the side",
            (
                Body("ground", ((-3.0, 0.0), (3.0, 0.0)), "track", tint="soft"),
                Body("polygon", cart, "cart"),
                Body("wheel", _wheel(-0.2)),
                Body("wheel", _wheel(0.2)),
                Body("line", pole, "pole"),
                Body("arrow", force, "force on the cart, 5 cm for each newton", tint="ink"),
            ),
            window=(-2.0, 2.0, -0.15, 1.55),
        ),
    ),
    text="A cart drives on its track and balances a pole that is hinged on its top.",
)
