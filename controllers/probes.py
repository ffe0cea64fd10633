"""Where a schedule is looked at to know which gains it may give: signals about a point of rest.

A gain table or a knowledge base gives its gains by signals: control errors, their rates, measured outputs. `Near` says
which outputs belong to the neighbourhood of a point of rest; a schedule answers with the signals at which its gains
stand for all that it gives there (:meth:`controllers.schedule.GainTable.probes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controllers.protocols import Schedule

    Array = NDArray[np.float64]

Near = Mapping[str, tuple[float, float]]
"""Plant outputs to the ends of what belongs to the neighbourhood, which may be infinite [unit of the output]."""


@dataclass(frozen=True, eq=False)
class Probes:
    """Signals and states of a schedule, of candidates at many places.

    Attributes
    ----------
    signals : list of arrays [n or 1, n_places]
        As `s` of :meth:`controllers.protocols.Schedule.gains`.
    states : list of arrays [n or 1, n_places]
        As its `k`.
    """

    signals: list[Array]
    states: list[Array] = field(default_factory=list)

    def at(self, places: NDArray[np.intp]) -> Probes:
        """Return some of the places by number, of each candidate its own [n, n_chosen]."""
        shape = (len(places), max(column.shape[1] for column in (*self.signals, *self.states)))

        def chosen(column: Array) -> Array:
            return np.take_along_axis(np.broadcast_to(column, shape), places, axis=1)

        return Probes([chosen(column) for column in self.signals], [chosen(column) for column in self.states])


def gains_at(schedule: Schedule, theta: Array, probes: Probes) -> Array:
    """Return the gains [n, n_places, n_gains] of a schedule with parameters theta [n, n_theta]."""
    columns = tuple(np.ascontiguousarray(theta.T)[:, :, None])
    values, _ = schedule.gains(0.0, tuple(probes.signals), tuple(probes.states), columns)
    shapes = [np.shape(part) for part in (*probes.signals, *probes.states)]
    shape = np.broadcast_shapes((len(theta), 1), *shapes)
    return np.stack([np.broadcast_to(value, shape) for value in values], axis=-1)
