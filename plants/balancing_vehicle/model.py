"""The plant itself: names, bounds, channels and blocks put together; and the same on rigid ground.

There loads follow from the gaps themselves, and an impact is over within two steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.balancing_vehicle import energy, motion, signals
from plants.balancing_vehicle.motion import END, opening, under
from plants.balancing_vehicle.parameters import PARAMETERS, VehicleParameters
from plants.balancing_vehicle.scene import SCENE
from plants.balancing_vehicle.signals import MEASURES
from plants.balancing_vehicle.stepping import PASSES, advance, pushes
from plants.balancing_vehicle.tasks import RANGES, SITUATIONS, SLIPPERY_SITUATIONS, standing
from plants.balancing_vehicle.wheels import dynamics
from plants.core.plant import Plant
from plants.core.presentation import Presentation
from plants.core.quantities import Channel, ControlTask, OperatingPoint, Quantity
from plants.core.registry import register

if TYPE_CHECKING:
    from plants.core.measures import Measure
    from plants.core.presentation import Body, Scene


FALLEN = 1.4  # rad
TORQUE = 6.0  # N m
_HEIGHT = standing()[2]
_STATES = (
    Quantity("x", "m", 0.0, -1e3, 1e3, "of the platform's centre of mass"),
    Quantity("y", "m", 0.0, -1e3, 1e3, "to the left"),
    Quantity("z", "m", _HEIGHT, -5.0, 5.0, "upwards"),
    Quantity("psi", "rad", 0.0, -1e3, 1e3, "yaw, positive to the left"),
    Quantity("phi", "rad", 0.0, -1.2, 1.2, "roll, positive where the left wheel is higher"),
    Quantity("theta", "rad", 0.0, -FALLEN, FALLEN, "pitch, positive where it leans forward; beyond, it has fallen"),
    Quantity("aL", "rad", 0.0, -1e5, 1e5, "left wheel against the platform"),
    Quantity("aR", "rad", 0.0, -1e5, 1e5, "right wheel against the platform"),
    Quantity("x_rate", "m/s", 0.0, -50.0, 50.0),
    Quantity("y_rate", "m/s", 0.0, -50.0, 50.0),
    Quantity("z_rate", "m/s", 0.0, -50.0, 50.0),
    Quantity("psi_rate", "rad/s", 0.0, -100.0, 100.0),
    Quantity("phi_rate", "rad/s", 0.0, -100.0, 100.0),
    Quantity("theta_rate", "rad/s", 0.0, -100.0, 100.0),
    Quantity("aL_rate", "rad/s", 0.0, -1e3, 1e3),
    Quantity("aR_rate", "rad/s", 0.0, -1e3, 1e3),
    *(
        Quantity(f"z{direction}_{wheel}", "m", 0.0, -1e-2, 1e-2, f"bristles of the {side} wheel {way}")
        for wheel, side in (("L", "left"), ("R", "right"))
        for direction, way in (("t", "along the heading"), ("s", "to the left"))
    ),
)
_DISTURBANCES = (
    Quantity("s_L", "1", 0.1, 0.0, 10.0, "friction scale of the ground under the left wheel; its usual change", 1.0),
    Quantity("s_R", "1", 0.1, 0.0, 10.0, "friction scale of the ground under the right wheel", 1.0),
    Quantity("push", "N", 20.0, text="along the heading, at the push height"),
    Quantity("push_side", "N", 10.0, text="to the left, at the push height"),
)
LEAN = 18.0  # N m: a lean of 0.3 rad at 60 N m/rad, what the speed channel may ask for
CHANNELS = (
    # The pitch channel must be able to overrule the speed channel and still use the motors to their limits.
    Channel(
        output="pitch", rate="pitch_rate", scale=0.1, low=-2.0 * TORQUE - LEAN, high=2.0 * TORQUE + LEAN,
        gains_low=(20.0, 0.0, 2.0), gains_high=(150.0, 100.0, 20.0),
    ),
    # Newton metres for a speed. No derivative action: it would need accelerations.
    Channel(
        output="speed", scale=0.5, low=-LEAN, high=LEAN, collocated=False,
        gains_low=(1.0, 0.0, 0.0), gains_high=(30.0, 18.0, 0.0),
    ),
    Channel(
        output="yaw_rate", scale=0.5, low=-2.0 * TORQUE, high=2.0 * TORQUE, collocated=False,
        gains_low=(0.2, 0.0, 0.0), gains_high=(8.0, 15.0, 0.0),
    ),
)  # fmt: skip
NOMINAL_GAINS = (60.0, 0.0, 8.0, 12.0, 4.8, 0.0, 2.0, 4.0, 0.0)
"""The source's gains as these channels take them: kp, ki, kd of pitch, of speed (kp_v and ki_v times kp), of yaw."""

BALANCING_VEHICLE = Plant(
    name="balancing_vehicle",
    step=0.001,
    states=_STATES,
    parameters=PARAMETERS,
    inputs=tuple(
        Quantity(f"tau_{n}", "N m", 0.0, -TORQUE, TORQUE, f"torque of the {side} motor")
        for n, side in (("L", "left"), ("R", "right"))
    ),
    disturbances=_DISTURBANCES,
    measurements=signals.MEASUREMENTS,
    channels=CHANNELS,
    derivative=motion.derivative,
    advance=advance,
    outputs=signals.outputs,
    energy=energy.energy,
    supplied_power=energy.supplied_power,
    entropy_rate=energy.entropy_rate,
    allocate=signals.allocate,
    task=ControlTask(
        operating_points=(OperatingPoint("upright", standing()),),
        situations=SITUATIONS,
        measures=MEASURES,
        ranges=RANGES,
    ),
    presentation=Presentation(scene=SCENE),
    text="Platform on two driven wheels with LuGre friction and one-sided contact; friction after Canudas de Wit "
    "et al. (1995), phenomena after Wang, Zhang, Yao.",
)

BALANCING_VEHICLE_SLIPPERY = replace(
    BALANCING_VEHICLE,
    name="balancing_vehicle_slippery",
    task=replace(BALANCING_VEHICLE.task, situations=SLIPPERY_SITUATIONS),
    text=BALANCING_VEHICLE.text + " Slippery ground is taught as well.",
)
register(BALANCING_VEHICLE, tasks={"slippery": BALANCING_VEHICLE_SLIPPERY})


_BLOCKS = ("derivative", "advance", "outputs", "supplied_power", "entropy_rate")
_TEXT = " Rigid contact: loads by complementarity with the gaps at the end of a step."


def on_rigid_ground(plant: Plant, name: str) -> Plant:
    """Return a balancing vehicle whose loads follow from its gaps instead of their means over a short time.

    Parameters
    ----------
    plant : Plant
        One of :mod:`plants.balancing_vehicle` with slip, or a changed copy of it.
    name : str
        Of the new plant.
    """
    blocks: dict[str, Any] = {
        block: under(END, found) for block in _BLOCKS if (found := getattr(plant, block)) is not None
    }
    task = replace(plant.task, measures=tuple(_measure(one) for one in plant.measures))
    shown = replace(plant.presentation, scene=None if plant.scene is None else _scene(plant.scene))
    return replace(plant, name=name, text=plant.text + _TEXT, task=task, presentation=shown, **blocks)


def _measure(measure: Measure) -> Measure:
    update = _hit if measure.name == "impact_loss" else measure.update
    return replace(measure, update=under(END, update))


def _hit(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    """Work of the step's own loads: an impact is between two states, where the equations see nothing of it."""
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    acting = pushes(now, x, named, h, PASSES)
    total = m[0]
    for i in range(2):
        gained = now.drift[i]
        for j in range(2):
            gained = gained + opening(now, i, j, acting.friction[j]) * acting.forces[j]
        total = total - h * acting.forces[i] * (now.speeds[i] + 0.5 * h * gained)
    return (total,)


def _scene(scene: Scene) -> Scene:
    return replace(
        scene,
        views=tuple(replace(view, bodies=tuple(_body(body) for body in view.bodies)) for view in scene.views),
    )


def _body(body: Body) -> Body:
    return replace(body, points=under(END, body.points)) if callable(body.points) else body


BALANCING_VEHICLE_RIGID = register(on_rigid_ground(BALANCING_VEHICLE, "balancing_vehicle_rigid"))
