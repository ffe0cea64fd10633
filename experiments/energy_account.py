"""The account of a simulation's energy: what is stored is what was supplied less what was turned into heat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants import Plant
    from plants.core.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class EnergyAccount:
    """Energies since the start [n + 1], J.

    Attributes
    ----------
    stored : ndarray
        Energy of the plant less that at the start.
    supplied : ndarray
        Through inputs and disturbances.
    entropy : ndarray
        Entropy production times T0.
    """

    stored: np.ndarray
    supplied: np.ndarray
    entropy: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        """What the account misses [n + 1]: the error of the integration, and the work of the plant's `after_step`."""
        return self.stored - self.supplied + self.entropy

    @property
    def turnover(self) -> float:
        """Largest of the energies: what a residual is to be compared with."""
        return float(max(np.abs(part).max() for part in (self.stored, self.supplied, self.entropy)))


def missing_blocks(plant: Plant) -> tuple[str, ...]:
    """Return the blocks that `plant` lacks for an account."""
    names = ["energy", "entropy_rate"]
    if plant.inputs or plant.disturbances:
        names.append("supplied_power")
    return tuple(name for name in names if getattr(plant, name) is None)


def energy_account(plant: Plant, run: Trajectory, parameters: Mapping[str, float] | None) -> EnergyAccount | None:
    """Return the account of a simulation, or None where the plant lacks a block for it (see `missing_blocks`)."""
    if plant.energy is None or missing_blocks(plant):
        return None
    x, u, w = (tuple(run.group(group).T) for group in ("states", "inputs", "disturbances"))
    energy = np.broadcast_to(plant.energy(run.time, x, u, w, plant.values("parameters", parameters)), run.time.shape)
    return EnergyAccount(energy - energy[0], run.supplied, run.entropy)
