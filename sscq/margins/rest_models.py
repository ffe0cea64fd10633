"""Linear plants about their own states of rest at a plant's operating points, for any number of parameter sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.rest_points import RestPointSearch
from sscq.margins.coupled.sampled_loops import CoupledPlant
from sscq.margins.linear_loop import LinearPlant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants import Plant

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RestModel:
    """The plant of one parameter set about its state of rest at an operating point, commands as inputs.

    Attributes
    ----------
    plant : Plant
    point : int
        Number of the operating point.
    A, B, C : arrays [n_x, n_x], [n_x, n_channels], [n_measurements, n_x]
    output : array [n_measurements]
        At rest.
    delay : float
        Of the plant itself [s].
    """

    plant: Plant
    point: int
    A: Array
    B: Array
    C: Array
    output: Array
    delay: float

    def row(self, name: str) -> Array:
        """Return the slopes of a measurement [n_x]."""
        return self.C[self.plant.index("measurements", name)]

    def alone(self, name: str) -> LinearPlant:
        """Return the plant of a single channel, under a name."""
        channel = self.plant.channels[0]
        rate = None if channel.rate is None else self.row(channel.rate)
        return LinearPlant(self.A, self.B[:, 0], self.row(channel.output), rate, self.delay, name)

    def together(self, name: str) -> CoupledPlant:
        """Return the plant of all channels, under a name."""
        channels = self.plant.channels
        outputs = np.array([self.row(channel.output) for channel in channels])
        rates = np.array([np.zeros(len(self.A)) if c.rate is None else self.row(c.rate) for c in channels])
        return CoupledPlant(self.A, self.B, outputs, rates, self.delay, name)


class RestModels:
    """States of rest of a plant with many parameter sets; its program is traced once.

    Parameters
    ----------
    plant : Plant
    sets : array [n, n_parameters]
        An operating point that brings parameters of its own keeps them.
    """

    def __init__(self, plant: Plant, sets: Array) -> None:
        self.plant = plant
        self.sets = np.asarray(sets, float).reshape(-1, len(plant.parameters))
        self._search = RestPointSearch(plant)

    def at(self, number: int) -> dict[int, RestModel]:
        """Return the models at an operating point by number of the set; what nothing holds there is left out."""
        plant, point, values = self.plant, self.plant.operating_points[number], self.sets.copy()
        for name, value in dict(point.parameters).items():
            values[:, plant.index("parameters", name)] = value
        nominal = np.array(plant.values("parameters", point.parameters), float)
        rest = self._search.at(plant.values("states", point.state), nominal, values)
        of, late = rest.local, np.zeros(len(values))
        if plant.input_delay is not None:
            late = values[:, plant.index("parameters", plant.input_delay)]
        return {
            int(k): RestModel(plant, number, of.A[k], of.B[k], of.C[k], of.output[k], float(late[k]))
            for k in np.flatnonzero(rest.at_rest)
        }
