"""The mechanics kit's benchmark systems and their motions.

The systems are written down once, for the tests of the kit; so are they measured.
"""

from __future__ import annotations

from functools import partial
from math import cos, sin
from typing import TYPE_CHECKING

from experiments.reproduce.mechanics import systems
from experiments.reproduce.mechanics.systems import BY_JOINTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant
    from plants.mechanics import Mechanism

_A, _B = 2.0, 1.0  # rad, of the double pendulum from the downward vertical
_XA, _YA = sin(_A), -cos(_A)
_LB = 0.7
_XB, _YB = _LB * sin(_B), -_LB * cos(_B)

SYSTEMS: dict[str, Callable[[], Mechanism]] = {
    "sleigh": systems.sleigh,
    "vertical disk": systems.vertical_disk,
    "rolling disk": systems.rolling_disk,
    "cart (1 link)": partial(systems.cart, 1),
    "cart (2 links)": partial(systems.cart, 2),
    "cart (3 links)": partial(systems.cart, 3),
    "snakeboard": systems.snakeboard,
    "trailers": systems.trailers,
    "Cartesian pendulum": systems.pendulum,
    "Cartesian double pendulum": systems.double_pendulum,
    "slider-crank": systems.slider_crank,
}
"""By name; the last one passes positions where its constraints depend on one another."""

STARTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "sleigh": ((0, 0, 0.2), (1.0, 1.5)),
    "vertical disk": ((0, 0, 0, 0), (0.8, 4.0)),
    "rolling disk": ((0, 0, 0, 0.2, 0), (0.5, 0.0, 6.0)),
    "cart (1 link)": ((0.1, -0.2, 0.4, 0, 0, 0.3), (0.5, 0.4, -0.7)),
    "cart (2 links)": ((0.1, -0.2, 0.4, 0, 0, 0.3, -0.2), (0.5, 0.4, -0.7, 0.2)),
    "cart (3 links)": ((0.1, -0.2, 0.4, 0, 0, 0.3, -0.2, 0.1), (0.5, 0.4, -0.7, 0.2, 0.1)),
    "snakeboard": ((0, 0, 0.1, 0, 0.4, -0.3), (1.0, 2.0, 0.5, -0.4)),
    "trailers": ((0, 0, 0.1, 0.3, -0.2), (1.0, 0.5)),
    "Cartesian pendulum": ((sin(2.0), -cos(2.0)), (0.0,)),
    "Cartesian double pendulum": ((_XA, _YA, _XA + _XB, _YA + _YB), (0.0, 0.0)),
    "slider-crank": ((0.3, 0.3, 2.0 * cos(0.3)), (1.5,)),
}
"""Coordinates and quasi-velocities at the beginning; no inputs act."""


def start(name: str, plant: Plant) -> tuple[float, ...]:
    """Return a system's first state in the form of `plant`: the same motion in each."""
    if plant.equations.form == "joints":
        return BY_JOINTS[name][1]
    q, w = STARTS[name]
    if plant.equations.form == "quasi":
        return (*q, *w)
    basis = SYSTEMS[name]().build("quasi", derivatives="tape", check=False).equations
    rates = tuple(float(rate) for rate in basis.motion(*basis.block(0.0, (*q, *w)))[1])
    names = [quantity.name for quantity in plant.equations.declared.quantities["v"]]
    return (*q, *(rates[names.index(velocity)] for velocity in plant.equations.velocities))
