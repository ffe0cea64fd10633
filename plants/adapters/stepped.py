"""A plant of this project stepped in plain Python: for plants that cannot be traced, and to hold slow loops against.

Its blocks are called with floats. A plant that stands in a user's file is found by executing that file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.motion.integrators import INTEGRATORS, USUAL
from plants.core.names import unknown
from plants.core.registry import find
from plants.core.slow import LostError, SlowPlant
from plants.core.user_file import load_plant_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.plant import Plant


def stepped(plant: Plant, integrator: str = USUAL, file: str | None = None) -> SlowPlant:
    """Return a plant as a slow one.

    Parameters
    ----------
    plant : Plant
        Registered, or standing in `file`: processes find it by name.
    integrator : str
        An explicit one.
    file : str, optional
        The user's plant file; it is executed in every process.
    """
    if integrator == "rosenbrock" or integrator not in INTEGRATORS:
        raise ValueError(unknown("explicit integrator", integrator, ("euler", "heun", "rk2", "rk4")))
    settings = {"plant": plant.name, "integrator": integrator, "file": file}
    return SlowPlant(plant, "plants.adapters.stepped:open_session", settings)


def open_session(settings: Mapping[str, Any]) -> Stepped:
    """Open a session."""
    if settings.get("file"):
        load_plant_file(settings["file"])
    return Stepped(find(settings["plant"]), settings["integrator"])


class Stepped:
    """One rollout of a plant in plain Python."""

    def __init__(self, plant: Plant, integrator: str) -> None:
        self.plant, self.move = plant, INTEGRATORS[integrator]
        self.p: tuple[float, ...] = plant.nominal()
        self.x: tuple[float, ...] = plant.initial()

    def start(self, parameters: Sequence[float], initial: Mapping[str, float]) -> Sequence[float]:
        """Begin anew."""
        self.p = tuple(parameters)
        self.x = self.plant.start(initial, self.p)[0]
        return self.x

    def step(self, t: float, u: Sequence[float], w: Sequence[float], h: float) -> Sequence[float]:
        """Return the states after a step; disturbances are held."""
        u, w, plant = tuple(u), tuple(w), self.plant
        try:
            self.x = self._moved(t, u, w, h)
            if plant.after_step is not None:
                self.x = tuple(plant.after_step(t + h, self.x, u, w, self.p, h))
        except (ArithmeticError, ValueError) as error:
            raise LostError(str(error)) from error
        return self.x

    def _moved(self, t: float, u: tuple[float, ...], w: tuple[float, ...], h: float) -> tuple[float, ...]:
        plant = self.plant
        if plant.advance is not None:
            return tuple(plant.advance(t, self.x, u, w, self.p, h))
        derivative = plant.derivative
        return tuple(self.move(lambda s, x: derivative(s, x, u, w, self.p), t, self.x, h))  # type: ignore[misc]

    def close(self) -> None:
        """Nothing is held."""
