"""What constraints and energy lose over a long run: by the choice of state, by feedback, by projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import plants
from benchmarks import mechanisms
from plants.core.trajectory import DivergedError

if TYPE_CHECKING:
    from plants.core.plant import Plant

T_END = 20.0  # s
STEPS = (0.01, 0.001)  # s
PROJECTED = "Routh + projection"
QUASI_PROJECTED = "quasi + projection"
JOINTS = "joint coordinates"


@dataclass(frozen=True)
class Drift:
    """What a run has lost of its constraints and its energy, at every step.

    Attributes
    ----------
    time [n] : s
    speed, position [n]
        Largest |A v + b| and |phi| of all constraints; no positions: 0.
    energy [n] : J
        E - E0.
    states [n, n_x]
    """

    time: np.ndarray
    speed: np.ndarray
    position: np.ndarray
    energy: np.ndarray
    states: np.ndarray

    @property
    def most(self) -> tuple[float, float, float]:
        """Largest of each over the run."""
        return tuple(float(np.abs(values).max()) for values in (self.speed, self.position, self.energy))  # type: ignore[return-value]


def drift(name: str, plant: Plant, step: float, t_end: float = T_END) -> Drift | None:
    """Return what a system's free motion by RK4 loses; nothing where it diverges."""
    return drift_from(plant, mechanisms.start(name, plant), step, t_end)


def drift_from(plant: Plant, initial: tuple[float, ...], step: float, t_end: float = T_END) -> Drift | None:
    """Return what the free motion from a state by RK4 loses; nothing where it diverges."""
    try:
        run = plants.simulate(plant, t_end=t_end, step=step, initial=initial)
    except DivergedError:
        return None
    equations, states = plant.equations, run.states
    block = equations.block(run.time, tuple(states.T))
    q, v = equations.motion(*block)
    residuals, speeds = equations.full(("residuals", "speeds"), run.time, q, v, *block[2:])
    energy = np.asarray(equations.energy(*block))
    return Drift(run.time, _largest(speeds, run.time), _largest(residuals, run.time), energy - energy[0], states)


def _largest(rows: list, time: np.ndarray) -> np.ndarray:
    """Largest magnitude of several residuals at every time."""
    return np.max([np.abs(row) + np.zeros_like(time) for row in rows], axis=0) if rows else np.zeros_like(time)


def forms(name: str) -> dict[str, Plant]:
    """Return a system in every form whose drift is compared."""
    made = mechanisms.SYSTEMS[name]
    quasi = made().build("quasi", check=False)
    found = {
        mechanisms.ROUTH: made().build("routh", check=False),
        mechanisms.FED_BACK: made().build("routh", stabilise=mechanisms.BAUMGARTE, check=False),
        PROJECTED: made().build("routh", stabilise="project", check=False),
        mechanisms.QUASI: quasi,
    }
    if quasi.equations.declared.positions:
        found[QUASI_PROJECTED] = made().build("quasi", stabilise="project", check=False)
    if name in mechanisms.BY_JOINTS:
        found[JOINTS] = mechanisms.BY_JOINTS[name][0]().build("joints", check=False)
    return found
