"""What every search method has: settings that end a search, and a strategy that asks for fitness and is told it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers.settings import check, finite, setting

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Cube:
    """The unit cube a strategy searches.

    Attributes
    ----------
    levels : array [n_free]
        Steps of each step gene, 0 for a real gene.
    start : array [n_start, n_free]
        Points that must be in the first population.
    """

    levels: NDArray[np.int64]
    start: NDArray[np.float64]

    @property
    def n_genes(self) -> int:
        """Number of (free) genes."""
        return len(self.levels)


class Strategy(ABC):
    """State of one running search: asked for points of the unit cube, told their fitness, turn by turn.

    Arrays in the state are replaced, never written to, so that the state of a completed generation stays valid while
    the next one is under way.
    """

    @abstractmethod
    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:
        """Return the points [n, n_free] to be valued; with `revalue` also those kept, whose fitness is void."""

    @abstractmethod
    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Take in the fitness [n] of the points asked for; inf: failed."""

    @property
    def converged(self) -> bool:
        """Whether more generations cannot change anything worth having."""
        return False

    @abstractmethod
    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that the next generations depend on, but the random generator."""

    @abstractmethod
    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Restore what :meth:`state` returned."""


class SinglePoint(Strategy):
    """Of a box whose genes are all fixed: there is one genome."""

    def ask(self, *, revalue: bool = False) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the point without coordinates."""
        return np.empty((1, 0))

    def tell(self, points: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Nothing is learned."""

    @property
    def converged(self) -> bool:
        """Whether nothing is left to search."""
        return True

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Nothing changes."""
        return {}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Nothing changes."""


@dataclass(frozen=True, kw_only=True)
class SearchMethod(ABC):
    """Settings of a search.

    With `renew_every`, ``evaluate.renew(generation)`` is called every so many generations (new random numbers, common
    to all individuals), and all fitness known before is void from then on.

    Raises
    ------
    ValueError
        For a setting outside its range, or a search without an end.
    """

    population: int | None = setting(None, "individuals; null: by the number of genes", low=4, advanced=True)
    generations: int | None = setting(None, "most populations valued, the first included; null: no limit", low=1)
    evaluations: int | None = setting(None, "most genomes valued, kept to the evaluation; null: no limit", low=1)
    stall_generations: int | None = setting(
        None, "stop after so many generations without progress; null: go on", low=1, advanced=True
    )
    stall_tolerance: float = setting(1e-3, "relative change that counts as progress", low=0, advanced=True)
    renew_every: int | None = setting(
        None,
        "generations between new noise, the same for all individuals; null: the declared seeds throughout",
        low=1,
        advanced=True,
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self, type(self).__name__)
        if self.generations is None and self.evaluations is None:
            raise ValueError(
                f"{type(self).__name__} needs an end: give evaluations (genomes to be valued) or generations"
            )

    @abstractmethod
    def strategy(self, cube: Cube, rng: Generator) -> Strategy:
        """Return the strategy at its start."""


def usual_population(n_genes: int) -> int:
    """Return 24 sqrt(n_genes), at least 24."""
    return max(24, round(24.0 * math.sqrt(n_genes)))


def whole(what: str, value: int, least: int) -> int:
    """Return `value` if it is an integer of at least `least`, else raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{what} must be an integer >= {least}, got {value!r}")
    return value


def not_negative(what: str, value: float) -> float:
    """Return `value` as a finite float >= 0, or raise ValueError."""
    number = finite(what, value)
    if number < 0.0:
        raise ValueError(f"{what} must not be negative, got {value}")
    return number


def share(what: str, value: float) -> float:
    """Return `value` as a float in [0, 1], or raise ValueError."""
    number = finite(what, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{what} must lie in [0, 1], got {value}")
    return number
