"""Where the unicycle balances: its thighs are in front of the axle, so it leans back a little."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import TYPE_CHECKING

from plants.core.naming import pick_values
from plants.unicycle.parameters import PARAMETERS
from plants.unicycle.pose import pose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ANGLES = 64  # of the wheel, over a turn: the legs' shares are smooth and periodic, so their mean is right to rounding
_WIDEST = 0.5  # rad


def trim(parameters: Mapping[str, float] | Sequence[float] | None = None) -> float:
    """Return the pitch [rad] at which all weights stand above the contact point, on average over a turn of the wheel.

    Raises
    ------
    ValueError
        For unknown parameters, or where it does not balance within half a radian.
    """
    return _trim(tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters)))


@lru_cache(maxsize=64)
def _trim(p: tuple[float, ...]) -> float:
    from scipy.optimize import brentq

    def forward(pitch: float) -> float:
        """Mean moment of all masses about the axle [kg m]."""
        turns = (2.0 * pi * k / _ANGLES for k in range(_ANGLES))
        poses = (pose((0.0, 0.0, pitch, turn, *(0.0,) * 8), p) for turn in turns)
        return sum(part.mass * part.place[0] for at in poses for part in at.parts) / _ANGLES

    if forward(-_WIDEST) * forward(_WIDEST) >= 0.0:
        message = f"the unicycle does not balance at any pitch within {_WIDEST} rad; check masses and places"
        raise ValueError(message)
    return float(brentq(forward, -_WIDEST, _WIDEST, xtol=1e-15))


BETA0 = -0.017116331871972545
"""Of the nominal unicycle [rad]; written down, so that importing plants does not load a solver."""
