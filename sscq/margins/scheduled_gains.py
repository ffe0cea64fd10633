"""Which gains a schedule gives about points of rest: those that stand there, and those that it passes through.

Two levels of margins are asked. Gains that stand at a point of rest are the loop there for as long as nothing happens:
they keep the limits. Gains that a schedule gives while errors are on their way pass within a settling time: frozen,
they keep a wider limit on the maximum sensitivity. Gains that no value of the inputs gives near a point are not asked.

Where the plant is its own mirror image, its points are so as well: what is declared at 1.5 holds at -1.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from controllers import ConstantGains, gain_names
from controllers.probes import gains_at
from plants.core.analysis.symmetry import is_odd

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from numpy.typing import NDArray

    from controllers.probes import Near
    from plants import Plant

    Array = NDArray[np.float64]

_SAME = 1e-9  # of the largest output: points whose outputs differ by rounding share them

PASSING = 24
"""Drawn places at which the gains in passing are seen while a search looks around, beside those of all rules."""

WATCHED = 200
"""The same for a descent, and for the choice among what a search has found.

A descent finds what lies between few places: with 16, two of three Duffing designs lost a sixth of their authority
afterwards.
"""


class ScheduleConstraint(Protocol):
    """What a search of a schedule asks of its gains, beside the fitness; see :class:`sscq.margins.operating`."""

    @property
    def watched(self) -> int:
        """Drawn places at which a descent sees the gains in passing."""

    def violation_of(
        self,
        controller: Any,
        theta: Array,
        threads: int | None = 1,
        focus: Focus | None = None,
        count: int = PASSING,
    ) -> Array:
        """Return the graded violation [n] of a schedule with parameters theta [n, n_theta]."""

    def focus(self, controller: Any, theta: Array, threads: int | None = 1) -> Focus | None:
        """Return the places in passing that matter most; None: all."""

    def violation_slopes(
        self,
        controller: Any,
        theta: Array,
        ahead: Array,
        nudges: Array,
        threads: int | None = 1,
        focus: Focus | None = None,
    ) -> Array:
        """Return slopes of the violation [n, n_genes] for theta with each gene moved by its nudge [n, n_genes]."""

    def keeps_of(self, controller: Any, theta: Array) -> bool:
        """Return whether a schedule with parameters [n_theta] keeps all of it, seen closely."""

    def tightened(self, share: float) -> ScheduleConstraint:
        """Return the same, tighter by a share of its limits (looser where it is negative)."""


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
    odd : frozenset of str
        Outputs that change sign where the plant, its own mirror image, is mirrored.
    """

    names: tuple[str, ...]
    values: Array
    points: NDArray[np.intp]
    odd: frozenset[str] = frozenset()
    _groups: dict[Any, list[tuple[Near, NDArray[np.intp]]]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, plant: Plant, values: Sequence[Array] | Array, points: Sequence[int]) -> RestOutputs:
        """Return the outputs of a plant."""
        names = tuple(q.name for q in plant.measurements)
        odd = [name for c in plant.channels for name in (c.output, c.rate) if name is not None]
        found = np.array(values, float).reshape(len(points), len(names))
        return cls(names, found, np.array(points, int), frozenset(odd if is_odd(plant) else ()))

    def of_cases(self, cases: Sequence[int]) -> RestOutputs:
        """Return some of the cases."""
        return replace(self, values=self.values[list(cases)], points=self.points[list(cases)])

    def beside(self, other: RestOutputs) -> RestOutputs:
        """Return these cases and then those of another's, of the same plant."""
        values, points = np.vstack([self.values, other.values]), np.concatenate([self.points, other.points])
        return replace(self, values=values, points=points)

    def column(self, name: str) -> Array:
        """Return one output [n_cases]."""
        return self.values[:, self.names.index(name)]

    def near(self, name: str) -> list[tuple[float, float]]:
        """Return the neighbourhood in one output of each operating point: half-way to the points next to it.

        Mirrored points count. The outermost neighbourhoods are open. Points that share an output share its
        neighbourhood.
        """
        column, numbers = self.column(name), sorted(set(self.points.tolist()))
        middles = np.array([np.mean(column[self.points == number]) for number in numbers])
        places = np.unique(np.concatenate([middles, -middles]) if name in self.odd else middles)
        apart = np.diff(places, prepend=-np.inf) > _SAME * np.abs(places).max()
        half = 0.5 * (places[apart][1:] + places[apart][:-1])
        ends = np.concatenate([[-np.inf], half, [np.inf]])
        at = (np.cumsum(apart) - 1)[np.searchsorted(places, middles)]
        return [(float(ends[k]), float(ends[k + 1])) for k in at]

    def groups(self, signals: tuple[str, ...], sides: tuple[float, ...]) -> list[tuple[Near, NDArray[np.intp]]]:
        """Return the neighbourhoods of the operating points, mirrored where `sides` holds -1, with their cases.

        A search asks for the same ones in every call, so they are kept.
        """
        known = self._groups.get((signals, sides))
        if known is None:
            ends, found = {name: self.near(name) for name in signals}, dict[tuple[tuple[float, float], ...], set[int]]()
            for place, number in enumerate(sorted(set(self.points.tolist()))):
                for side in sides:
                    neighbourhood = tuple(_mirrored(of[place]) if side < 0.0 else of[place] for of in ends.values())
                    found.setdefault(neighbourhood, set()).add(number)
            known = [
                (dict(zip(ends, neighbourhood, strict=True)), np.flatnonzero(np.isin(self.points, list(members))))
                for neighbourhood, members in found.items()
            ]
            self._groups[signals, sides] = known
        return known


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
        an integral of the error, and at mirrored points.
        """
        schedule = self._schedule
        columns = [self.outputs.column(name)[None] for name in schedule.signals]
        n_cases = len(self.outputs.values) if columns else 1
        sides = [schedule.at_rest(theta, [side * column for column in columns]) for side in self._sides]
        found = [gains_at(schedule, theta, side) for side in sides]
        return np.concatenate([one.reshape(len(theta), n_cases, -1, one.shape[-1]) for one in found], axis=2)

    @property
    def _sides(self) -> tuple[float, ...]:
        """1, and -1 where the gains depend on outputs that a mirrored plant mirrors."""
        signals = set(self._schedule.signals)
        return (1.0, -1.0) if signals and signals <= self.outputs.odd else (1.0,)

    def passing(
        self, theta: Array, count: int = PASSING, seed: int = 0, focus: Focus | None = None
    ) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield groups of cases with the gains that are passed through there [n, n_sets, n_gains]; none: they stand."""
        for _, cases, gains in self.by_group(theta, count, seed, focus):
            yield cases, gains

    def by_group(
        self,
        theta: Array,
        count: int = PASSING,
        seed: int = 0,
        focus: Focus | None = None,
        only: Container[int] | None = None,
    ) -> Iterator[tuple[int, NDArray[np.intp], Array]]:
        """Yield the same with the number of each group; those that are not among `only` are not computed."""
        schedule = self._schedule
        for group, (neighbourhood, cases) in enumerate(self.outputs.groups(schedule.signals, self._sides)):
            if only is not None and group not in only:
                continue
            probes = schedule.probes(theta, neighbourhood, count, seed)
            if probes is not None:
                probes = probes if focus is None else probes.at(focus.places[group])
                yield group, cases, gains_at(schedule, theta, probes)


_WORST = 8  # places of each group that a focus holds


@dataclass(frozen=True, eq=False)
class Focus:
    """Places in passing that matter most: enough for some small steps of a search, after which it is made anew.

    Attributes
    ----------
    places : list of arrays of int [n, n_places]
        Of each group of cases, for each schedule.
    """

    places: list[NDArray[np.intp]]

    @classmethod
    def of(cls, paid: Sequence[Array]) -> Focus:
        """Return the places that pay most, of those of each group [n, n_places]."""
        return cls([np.argsort(-group, axis=1, kind="stable")[:, :_WORST] for group in paid])

    def repeated(self, rows: NDArray[np.intp], times: int) -> Focus:
        """Return the focus of some schedules, each as often as it is varied."""
        return Focus([np.repeat(group[rows], times, axis=0) for group in self.places])


def _mirrored(ends: tuple[float, float]) -> tuple[float, float]:
    return -ends[1], -ends[0]
