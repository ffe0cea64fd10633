"""The vehicle on rigid ground: loads follow from the gaps themselves, and an impact is over within two steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.balancing_vehicle.model import BALANCING_VEHICLE
from plants.balancing_vehicle.motion import END, opening, under
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.stepping import PASSES, pushes
from plants.balancing_vehicle.wheels import dynamics
from plants.core.registry import register

if TYPE_CHECKING:
    from plants.core.measures import Measure
    from plants.core.plant import Plant
    from plants.core.presentation import Body, Scene

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
