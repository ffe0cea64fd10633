"""What the last window tells of the plant: values of the parameters that drift, as members, or why they are not told.

Declared measurements are instruments that tell a parameter with a known deviation; measured signals of the loop itself
go through the filter and the sampler of :mod:`sscq.identification.grey_box`, with its tests and refusals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plants.identification.grey_box import GreyBox
from plants.identification.record import LoopRecord
from sscq.identification.grey_box.members import identify_grey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.operation.course import DriftCourse
    from sscq.operation.running import PartRecord

    Array = NDArray[np.float64]

_SEED_MEASURED, _SEED_MEMBERS = 1, 2


@dataclass(frozen=True, eq=False)
class PlantEstimate:
    """Members: plants that could be the one in operation.

    Attributes
    ----------
    names : tuple of str
    members : array [n, n_parameters]
        Of the parameters that drift; empty where nothing is told.
    refusal : str
        Why they must not be used; empty: they may.
    """

    names: tuple[str, ...]
    members: Array
    refusal: str = ""

    @property
    def plants(self) -> list[dict[str, float]]:
        """The members by name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.members.tolist()]

    @property
    def middle(self) -> dict[str, float]:
        """Medians."""
        return dict(zip(self.names, np.median(self.members, axis=0).tolist(), strict=True))

    def some(self, n: int, first: int = 0) -> list[dict[str, float]]:
        """Return `n` members, evenly from among those at places `first`, `first` + 2, ...: two halves share none."""
        chosen = self.members[first::2]
        places = np.linspace(0, len(chosen) - 1, n).astype(int)
        return [dict(zip(self.names, row, strict=True)) for row in chosen[places].tolist()]

    def holds(self, values: Mapping[str, float], level: float = 0.9) -> bool:
        """Return whether values lie between the members' quantiles, all of them."""
        low, high = np.quantile(self.members, (0.5 - 0.5 * level, 0.5 + 0.5 * level), axis=0)
        given = np.array([values[name] for name in self.names])
        return bool(((low <= given) & (given <= high)).all())


class Estimator(Protocol):
    """Whoever tells what the plant has become."""

    def estimate(self, window: int, time: float, records: Sequence[PartRecord], seed: int) -> PlantEstimate:
        """Return what is known at the end `time` [s] of a window."""


@dataclass(frozen=True)
class DeclaredMeasurement:
    """Instruments that tell the drifting parameters at the end of each window.

    Attributes
    ----------
    course : DriftCourse
        What they measure.
    deviation : float
        Relative standard deviation of an instrument.
    limits : mapping of parameter to (low, high)
        What the plant can have: members beyond are taken to lie there.
    wrong : mapping of parameter to factor, optional
        An instrument that is out of order tells so many times the value.
    count : int
        Members.
    """

    course: DriftCourse
    deviation: float
    limits: Mapping[str, tuple[float, float]]
    count: int = 64
    wrong: Mapping[str, float] | None = None

    def estimate(self, window: int, time: float, records: Sequence[PartRecord], seed: int) -> PlantEstimate:  # noqa: ARG002
        """Return members spread about the measured values as the instrument errs; refused where the plant has none."""
        truth = self.course.at(time)
        rng = np.random.default_rng([seed, window, _SEED_MEASURED])
        factors = dict(self.wrong or {})
        told = np.array([truth[name] * factors.get(name, 1.0) for name in self.course.names])
        told = told * np.exp(self.deviation * rng.standard_normal(len(told)))
        spread = np.random.default_rng([seed, window, _SEED_MEMBERS]).standard_normal((self.count, len(told)))
        members = told * np.exp(self.deviation * spread)
        low, high = np.array([self.limits[name] for name in self.course.names]).T
        beyond = ((members < low) | (members > high)).all(axis=0)
        refusals = [
            f"the instrument tells {name} = {value:.4g}, and the plant's lies in [{least:g}, {most:g}]"
            for name, value, least, most, out in zip(self.course.names, told, low, high, beyond, strict=True)
            if out
        ]
        return PlantEstimate(self.course.names, np.clip(members, low, high), "; ".join(refusals))


@dataclass(frozen=True)
class IdentifiedEnsemble:
    """The grey box of the plant's own equations, from what the loop measures anyway.

    Attributes
    ----------
    plant : Plant
        With one channel.
    fitted : tuple of str
        Parameters that the logs are to tell.
    step : float
        Integration step [s].
    row : int
        Steps in a row of the log: the last of its measured values, the mean of its inputs.
    loaded : str
        The disturbance that the loads are added to; empty: the command.
    longest_dead_time : float, optional
    threads : int, optional
    count : int
        Members that are kept.
    """

    plant: Plant
    fitted: tuple[str, ...]
    step: float
    row: int
    loaded: str = ""
    longest_dead_time: float | None = None
    threads: int | None = None
    count: int = 64

    def estimate(self, window: int, time: float, records: Sequence[PartRecord], seed: int) -> PlantEstimate:  # noqa: ARG002
        """Return members of the posterior after the window, or the refusal of the identification's tests."""
        box = GreyBox(self.plant, self.fitted, step=self.row * self.step, loaded=self.loaded)
        try:
            found = identify_grey(
                box,
                [self._record(records)],
                seed=seed + window,
                longest_dead_time=self.longest_dead_time,
                threads=self.threads,
            )
        except ValueError as error:
            return PlantEstimate(self.fitted, np.empty((0, len(self.fitted))), str(error))
        places = np.linspace(0, len(found.parameters) - 1, self.count).astype(int)
        members = found.parameters[places][:, : len(self.fitted)]
        shuffled = np.random.default_rng([seed, window, _SEED_MEMBERS]).permutation(len(members))
        return PlantEstimate(self.fitted, members[shuffled], found.refusal)

    def _record(self, records: Sequence[PartRecord]) -> LoopRecord:
        def column(name: str) -> Any:
            values = np.concatenate([part.log[name][:, 0] for part in records])
            return values[: len(values) // self.row * self.row].reshape(-1, self.row)

        return LoopRecord(column("y")[:, 0], column("u").mean(axis=1), self.row * self.step)
