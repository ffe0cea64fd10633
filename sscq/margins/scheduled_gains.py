"""Which gains a schedule gives about points of rest: those that stand there, and those that it passes through.

Two levels of margins are asked. Gains that stand at a point of rest are the loop there for as long as nothing happens:
they keep the limits. Gains that a schedule gives while errors are on their way pass within a settling time: frozen,
they keep a wider limit on the maximum sensitivity. Gains that no value of the inputs gives near a point are not asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, gain_names
from controllers.probes import gains_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from plants import Plant

    Array = NDArray[np.float64]

PASSING = 16
"""Drawn places at which the gains in passing are seen in a search, beside those of all rules."""


@dataclass(frozen=True, eq=False)
class RestOutputs:
    """What a plant measures at its points of rest.

    Attributes
    ----------
    names : tuple of str
    values : array [n_cases, n_measurements]
        Several plants may share an operating point: a case is a pair of both.
    points : array of int [n_cases]
        The operating point of each case.
    """

    names: tuple[str, ...]
    values: Array
    points: NDArray[np.intp]

    @classmethod
    def of(cls, plant: Plant, values: Sequence[Array] | Array, points: Sequence[int]) -> RestOutputs:
        """Return the outputs of a plant."""
        names = tuple(q.name for q in plant.measurements)
        return cls(names, np.array(values, float).reshape(len(points), len(names)), np.array(points, int))

    def column(self, name: str) -> Array:
        """Return one output [n_cases]."""
        return self.values[:, self.names.index(name)]

    def near(self, name: str) -> list[tuple[float, float]]:
        """Return the neighbourhood in one output of each operating point: half-way to the points next to it.

        The outermost neighbourhoods are open. Points that share an output share its neighbourhood.
        """
        column, numbers = self.column(name), sorted(set(self.points.tolist()))
        middles = np.array([np.mean(column[self.points == number]) for number in numbers])
        places = np.unique(np.round(middles, 12))
        half = 0.5 * (places[1:] + places[:-1])
        ends = np.concatenate([[-np.inf], half, [np.inf]])
        at = np.searchsorted(places, np.round(middles, 12))
        return [(float(ends[k]), float(ends[k + 1])) for k in at]


@dataclass(frozen=True, eq=False)
class ScheduledGains:
    """The gains of a controller's schedule about points of rest.

    Attributes
    ----------
    controller : Controller, law, tuple of laws, or FuzzyController
    outputs : RestOutputs
    """

    controller: Any
    outputs: RestOutputs

    @property
    def _schedule(self) -> Any:
        schedule = getattr(self.controller, "schedule", None) or ConstantGains(gain_names(self.controller))
        return schedule.settled

    def at_rest(self, theta: Array) -> Array:
        """Return the gains that stand at rest [n, n_cases, n_sets, n_gains] for parameters theta [n, n_theta].

        One case stands for all where the gains do not depend on it; there are several sets where the gains depend on
        an integral of the error.
        """
        schedule = self._schedule
        columns = [self.outputs.column(name)[None] for name in schedule.signals]
        n_cases = len(self.outputs.values) if columns else 1
        found = gains_at(schedule, theta, schedule.at_rest(theta, columns))
        return found.reshape(len(theta), n_cases, -1, found.shape[-1])

    def passing(self, theta: Array, count: int = PASSING, seed: int = 0) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield groups of cases with the gains that are passed through there [n, n_sets, n_gains]; none: they stand."""
        schedule, points = self._schedule, self.outputs.points
        ends = {name: self.outputs.near(name) for name in schedule.signals}
        numbers = sorted(set(points.tolist()))
        groups: dict[tuple[tuple[float, float], ...], list[int]] = {}
        for place, number in enumerate(numbers):
            groups.setdefault(tuple(of[place] for of in ends.values()), []).append(number)
        for neighbourhood, members in groups.items():
            probes = schedule.probes(theta, dict(zip(ends, neighbourhood, strict=True)), count, seed)
            if probes is not None:
                yield np.flatnonzero(np.isin(points, members)), gains_at(schedule, theta, probes)
