"""The plant itself: names, bounds, channels and blocks put together; and its linear model about the upright motion.

It has no equilibrium while it rolls: the legs turn with the wheel, and all slopes with them. Their mean over a turn
is what a loop that is slow against a turn sees; at rest it is the mean over all places at which the wheel may stand.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.linearise import linearise
from plants.core.analysis.slopes import Slopes
from plants.core.plant import Plant
from plants.core.presentation import Presentation
from plants.core.quantities import Channel, ControlTask, Quantity
from plants.core.registry import register
from plants.unicycle import energy, motion, signals
from plants.unicycle.geometry import PITCH, WHEEL
from plants.unicycle.motion import trim
from plants.unicycle.parameters import PARAMETERS
from plants.unicycle.scene import SCENE
from plants.unicycle.signals import MEASURES, PEDAL_MAX, TABLE_MAX
from plants.unicycle.tasks import HANDS, RANGES, situations, start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.analysis.linearise import LinearModel


FALLEN = 1.0
"""rad of pitch or roll."""
_START = start(1.5, 0.05, 0.05)
_STATES = (
    Quantity("alpha", "rad", _START[0], -1e3, 1e3, "yaw of the wheel's plane, positive to the left"),
    Quantity("gamma", "rad", _START[1], -FALLEN, FALLEN, "roll, positive to the right; beyond 1 it has fallen"),
    Quantity("beta", "rad", _START[2], -FALLEN, FALLEN, "pitch of the body, positive forward; beyond 1 it has fallen"),
    Quantity("theta_w", "rad", _START[3], -1e5, 1e5, "rotation of the wheel"),
    Quantity("eta", "rad", _START[4], -1e5, 1e5, "angle of the turntable on the body"),
    Quantity("alpha_rate", "rad/s", _START[5], -100.0, 100.0),
    Quantity("gamma_rate", "rad/s", _START[6], -50.0, 50.0),
    Quantity("beta_rate", "rad/s", _START[7], -50.0, 50.0),
    Quantity("theta_w_rate", "rad/s", _START[8], -300.0, 300.0),
    Quantity("eta_rate", "rad/s", _START[9], -300.0, 300.0),
    Quantity("x_P", "m", _START[10], -1e4, 1e4, "contact point"),
    Quantity("y_P", "m", _START[11], -1e4, 1e4, "contact point, positive to the left at yaw 0"),
)
_INPUTS = (
    Quantity("tau1", "N m", 0.0, -PEDAL_MAX, PEDAL_MAX, "of the right pedal's motor, on theta_3"),
    Quantity("tau2", "N m", 0.0, -PEDAL_MAX, PEDAL_MAX, "of the left pedal's motor, on -theta_4"),
    Quantity("tau3", "N m", 0.0, -TABLE_MAX, TABLE_MAX, "of the turntable's motor, on eta"),
)
_DISTURBANCES = (
    Quantity("Fx", "N", 20.0, text="push on the body's axis, forward; its usual size"),
    Quantity("Fy", "N", 20.0, text="to the left, in axes that yaw with the wheel's plane; its usual size"),
    Quantity("Fz", "N", 0.0, text="upwards; its usual size"),
    Quantity("hF", "m", HANDS, text="where it is pushed, above the axle; its usual size"),
    Quantity("sx", "1", 0.0, text="rise of the ground forward; its usual size"),
    Quantity("sy", "1", 0.0, text="rise of the ground to the left; its usual size"),
)


_EITHER_SIGN = ((-150.0, 0.0, -60.0), (300.0, 40.0, 150.0))
"""Box of the roll gains where it may roll backwards: there it is steered the other way round."""


def _channels(output: str, *, backwards: bool) -> tuple[Channel, Channel]:
    """Both motions, with the source's laws inside the boxes; damping torques are no power of the angle's own rate."""
    low, high = _EITHER_SIGN if backwards else ((10.0, 0.0, 10.0), (300.0, 40.0, 150.0))
    return (
        Channel(
            output=output, rate="pitch_rate", scale=0.1, low=-PEDAL_MAX, high=PEDAL_MAX, collocated=False,
            gains_low=(15.0, 0.0, 2.0) if backwards else (30.0, 0.0, 3.0),
            gains_high=(400.0, 40.0, 60.0) if backwards else (1500.0, 160.0, 60.0),
        ),
        Channel(
            output="roll", rate="roll_rate", scale=0.1, low=-TABLE_MAX, high=TABLE_MAX, collocated=False,
            gains_low=low, gains_high=high,
        ),
    )  # fmt: skip


_ASKED = 4.0
"""Times a motor's limit: what each of several channels may ask of it. The motor limits their sum: where one asks for
more than it bears and another takes some back, all that is left counts."""
_DRIVE, _STEER = _ASKED * PEDAL_MAX, _ASKED * TABLE_MAX


def _alone(output: str, scale: float, most: float, low: float, high: float) -> Channel:
    """A channel that answers a measurement in proportion."""
    return Channel(
        output=output, scale=scale, low=-most, high=most, collocated=False, gains_low=(low, 0.0, 0.0),
        gains_high=(high, 0.0, 0.0),
    )  # fmt: skip


_BALANCE_CHANNELS = (
    Channel(
        output="pitch", rate="pitch_rate", scale=0.1, low=-_DRIVE, high=_DRIVE, collocated=False,
        gains_low=(10.0, 0.0, 2.0), gains_high=(400.0, 40.0, 60.0),
    ),
    # Either sign: where it rolls backwards it is steered the other way round.
    Channel(
        output="roll", rate="roll_rate", scale=0.1, low=-_STEER, high=_STEER, collocated=False,
        gains_low=(-300.0, 0.0, -100.0), gains_high=(500.0, 40.0, 150.0),
    ),
    # A speed counts as where the pitch holds it: 5 m/s as 0.1 rad.
    _alone("speed", 5.0, _DRIVE, 0.0, 8.0),
    # Damping: neither a heading nor the turntable's angle is held. A quick turn, and a quick turntable, are large.
    _alone("yaw_rate", 2.0, _STEER, -1.0, 10.0),
    _alone("table_rate", 100.0, _STEER, -0.02, 0.06),
)  # fmt: skip


UNICYCLE = Plant(
    name="unicycle",
    step=0.002,
    states=_STATES,
    parameters=PARAMETERS,
    inputs=_INPUTS,
    disturbances=_DISTURBANCES,
    measurements=signals.MEASUREMENTS,
    channels=_channels("pitch", backwards=False),
    velocities=motion.VELOCITIES,
    kinematics=motion.kinematics,
    mass_matrix=motion.mass_matrix,
    force=motion.force,
    outputs=signals.outputs,
    energy=energy.energy,
    supplied_power=energy.supplied_power,
    entropy_rate=energy.entropy_rate,
    allocate=signals.allocate,
    # No operating points: it rolls, or it cannot be held. Nowhere are all rates 0 and both loops at work.
    task=ControlTask(situations=situations(speed_hold=False), ranges=RANGES),
    presentation=Presentation(scene=SCENE),
    text="Unicycle robot with pedalling legs and a turntable, rolling without slip; US 2004/0039555 A1, Fig. 10.",
)
"""As in the source: the pitch loop controls the pitch alone, and nothing holds the speed."""

UNICYCLE_SPEED_HOLD = replace(
    UNICYCLE,
    name="unicycle_speed_hold",
    channels=_channels("lean", backwards=False),
    task=ControlTask(situations=situations(speed_hold=True)),
)
"""The pitch loop controls `lean`, pitch + K5 times speed, so that K1 (reference - lean) is the source's law with
beta - beta0 - K5 (v - speed) in place of beta; its reference is beta0 + K5 times the speed to be held."""

UNICYCLE_PUSHED = replace(
    UNICYCLE,
    name="unicycle_pushed",
    channels=_channels("lean", backwards=True),
    task=ControlTask(situations=situations(speed_hold=True, hard=True)),
)
"""Taught are pushes up to the edge of what fixed gains survive, and wheels that roll backwards; the roll gains may have
either sign. With its speed held."""

UNICYCLE_BALANCED = replace(
    UNICYCLE,
    name="unicycle_balanced",
    channels=_BALANCE_CHANNELS,
    allocate=signals.allocate_balance,
    task=ControlTask(situations=situations(speed_hold=True, hard=True, balanced=True), measures=MEASURES),
)
"""Taught the same; pitch and speed have a channel each, and two more damp the yaw rate and the turntable's rate. What
its motors do is measured."""

UNICYCLE_REGION = replace(
    UNICYCLE_BALANCED,
    name="unicycle_region",
    task=replace(UNICYCLE_BALANCED.task, situations=situations(speed_hold=True, hard=True, balanced=True, region=True)),
)
"""Taught are pushes of all directions and sizes, evenly, far beyond what any gains survive: falls decide, so what is
searched for is the region of survived pushes."""

register(
    UNICYCLE,
    tasks={
        "speed_hold": UNICYCLE_SPEED_HOLD,
        "pushed": UNICYCLE_PUSHED,
        "balanced": UNICYCLE_BALANCED,
        "region": UNICYCLE_REGION,
    },
)


_ANGLES_OF_MEAN = 32


def averaged(
    speed: float, parameters: Mapping[str, float] | None = None, *, plant: Plant = UNICYCLE, commands: bool = False
) -> LinearModel:
    """Return the mean over a turn of the wheel of the linear models at a speed [m/s], balanced, without torques.

    Parameters
    ----------
    parameters : mapping by name, optional
        Replace nominal values; the pitch is that at which such a unicycle balances.
    plant : Plant
        The unicycle, for any of its tasks.
    commands : bool
        Take the channels' commands in place of the torques.
    """
    state = np.array(start(speed))
    state[PITCH] = trim(parameters)
    none = (0.0,) * len(plant.channels if commands else plant.inputs)
    model = linearise(plant, tuple(state.tolist()), parameters, none, commands=commands)
    turn = np.tile(state[:, None], _ANGLES_OF_MEAN)
    turn[WHEEL] = np.linspace(0.0, 2.0 * pi, _ANGLES_OF_MEAN, endpoint=False)
    still, p = (0.0,) * len(plant.disturbances), plant.values("parameters", parameters)
    local = Slopes(plant, commands=commands).at(0.0, turn, np.array(none), np.array(still), np.array(p))
    means = {name: getattr(local, name).mean(axis=0) for name in ("rates", "output", "A", "B", "C", "D", "E", "F")}
    return replace(model, state=state, **means)
