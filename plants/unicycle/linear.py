"""The unicycle about its upright motion, as a linear model.

It has no equilibrium while it rolls: the legs turn with the wheel, and all slopes with them. Their mean over a turn is
what a loop that is slow against a turn sees; at rest it is the mean over all places at which the wheel may stand.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from plants.core.linearise import linearise
from plants.core.slopes import Slopes
from plants.unicycle.model import UNICYCLE
from plants.unicycle.pose import PITCH, WHEEL
from plants.unicycle.tasks import start
from plants.unicycle.trim import trim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.linearise import LinearModel
    from plants.core.plant import Plant

_ANGLES = 32


def averaged(
    speed: float, parameters: Mapping[str, float] | None = None, *, plant: Plant = UNICYCLE, commands: bool = False
) -> LinearModel:
    """Return the mean over a turn of the wheel of the linear models at a speed [m/s], balanced, without torques.

    Parameters
    ----------
    parameters : mapping by name, optional
        Replace nominal values; the pitch is that at which such a unicycle balances.
    plant : Plant
        One of the registered unicycles.
    commands : bool
        Take the channels' commands in place of the torques.
    """
    state = np.array(start(speed))
    state[PITCH] = trim(parameters)
    none = (0.0,) * len(plant.channels if commands else plant.inputs)
    model = linearise(plant, tuple(state.tolist()), parameters, none, commands=commands)
    turn = np.tile(state[:, None], _ANGLES)
    turn[WHEEL] = np.linspace(0.0, 2.0 * pi, _ANGLES, endpoint=False)
    still, p = (0.0,) * len(plant.disturbances), plant.values("parameters", parameters)
    local = Slopes(plant, commands=commands).at(0.0, turn, np.array(none), np.array(still), np.array(p))
    means = {name: getattr(local, name).mean(axis=0) for name in ("rates", "output", "A", "B", "C", "D", "E", "F")}
    return replace(model, state=state, **means)
