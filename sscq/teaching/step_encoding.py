"""Gains that exist in steps (stepping actuators, switched dampers, potentiometers with notches) and their chromosomes.

A stepped gain takes the values low, low + step, low + 2 step, ... up to its high; from one window to the next it moves
by at most some of these steps. Levels are whole numbers, so every value is one of the grid's own floats, to the last
bit.

Where a gain starts is coded by its place, where it goes by symbols: a stepped gain's first gene is its level on the
grid of :class:`StepGrid`; in every further window a symbol -m, ..., -1, 0, 1, ..., m says by how many levels it moves,
and what would leave the grid stays at its end. Gains without steps have a real gene in every window, so a chromosome
may mix both kinds. Symbols are crossed uniformly and mutated by +-1 (:mod:`sscq.search.operators`), real genes as
everywhere.
Source: US 6,950,712 (controllers of actuators with discrete constraints, step-coded chromosomes).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import settings
from sscq.search.box import Box, check_bounds
from sscq.search.encoding import RecedingWindow, TimeWindows
from sscq.search.method import not_negative, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Levels = NDArray[np.int64]


_ROUNDING = 1e-9  # relative: bounds and steps are given in decimals


@dataclass(frozen=True)
class StepGrid:
    """The levels of all gains.

    Attributes
    ----------
    low, high : tuple of float [n_gains]
    step : tuple of float [n_gains], or one for all
        Distance of two levels, in units of the gain; 0: the gain takes any value and is no matter of this grid.
    most : tuple of int [n_gains], or one for all
        Largest number of steps between two windows, at least 1.
    names : tuple of str [n_gains]

    Examples
    --------
    >>> grid = StepGrid((0.0, 0.0), (1.0, 5.0), (0.25, 0.0), (1,), ("kp", "ki"))
    >>> grid.top.tolist()
    [4, 0]
    >>> grid.snapped((0.4, 3.3)).tolist()
    [0.5, 3.3]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    step: tuple[float, ...]
    most: tuple[int, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check the steps."""
        object.__setattr__(self, "names", settings.distinct("names of the gains", self.names))
        low, high = check_bounds(self.low, self.high, self.names, "gain")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "step", self._each("step", self.step))
        object.__setattr__(self, "most", self._each("largest number of steps", self.most))
        for name, below, above, step, most in zip(self.names, low, high, self.step, self.most, strict=True):
            not_negative(f"step of gain {name!r}", step)
            whole(f"largest number of steps of gain {name!r}", most, 1)
            if below < above < below + step * (1.0 - _ROUNDING):
                raise ValueError(
                    f"a step of gain {name!r} must fit between its bounds {below} and {above}, got {step}; take a "
                    "smaller one, 0 for a gain without steps, or equal bounds for one that stays"
                )

    def _each(self, what: str, given: Sequence[Any]) -> tuple[Any, ...]:
        """One entry a gain, from as many, from those of one channel, or from one."""
        several, n = tuple(given), len(self.names)
        if not several or n % len(several):
            raise ValueError(
                f"{what} must have one entry, or one for each gain ({', '.join(self.names)}), got {several}"
            )
        return several * (n // len(several))

    @cached_property
    def stepped(self) -> NDArray[np.bool_]:
        """Which gains move in steps [n_gains]; those with equal bounds do not move."""
        return (np.array(self.step) > 0.0) & (np.array(self.low) < np.array(self.high))

    @cached_property
    def top(self) -> Levels:
        """Highest level of each gain [n_gains]; 0 of those that are not stepped."""
        spans = np.array(self.high) - np.array(self.low)
        steps = np.where(self.stepped, self.step, np.inf)
        return np.floor(spans / steps * (1.0 + _ROUNDING)).astype(np.int64)

    @cached_property
    def reach(self) -> Levels:
        """Largest change of each gain's level between two windows [n_gains]."""
        return np.minimum(self.most, self.top)

    def levels(self, gains: ArrayLike) -> Levels:
        """Return the nearest levels [..., n_gains] of gains; 0 of those that are not stepped."""
        steps = np.where(self.stepped, self.step, np.inf)
        places = np.rint((np.asarray(gains, dtype=np.float64) - self.low) / steps)
        return np.clip(places, 0, self.top).astype(np.int64)

    def values(self, levels: Levels, gains: ArrayLike) -> NDArray[np.float64]:
        """Return the values [..., n_gains] of levels; gains that are not stepped are taken from `gains`."""
        stepped = np.minimum(np.array(self.low) + levels * np.array(self.step), self.high)
        return np.where(self.stepped, stepped, gains)

    def snapped(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Return gains [..., n_gains] at their nearest levels."""
        return self.values(self.levels(gains), gains)


@dataclass(frozen=True, kw_only=True)
class StepWindows(TimeWindows):
    """Gains at knots in time that move by steps: genes are those of the first knot, then of the second, ...

    With one knot it is a search on a grid: fixed gains that exist in steps only.

    Attributes
    ----------
    step : tuple of float
        Distance of two levels of each gain, or of all; 0: a gain that takes any value.
    most : tuple of int
        Largest number of steps between two knots, of each gain or of all.

    Examples
    --------
    >>> encoding = StepWindows(low=(0,), high=(4,), gain_names=("kp",), times=(0, 1, 2), step=(0.5,), most=(2,))
    >>> encoding.box.low, encoding.box.high
    ((0.0, -2.0, -2.0), (8.0, 2.0, 2.0))
    >>> encoding.decode([[3, 1, -2]])
    array([[1.5, 2. , 1. ]])
    """

    step: tuple[float, ...]
    most: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        """Check the steps as well."""
        super().__post_init__()
        if self.kind != "piecewise":
            raise ValueError(
                f"gains that move by steps are held between knots, got kind={self.kind!r}; use 'piecewise'"
            )
        self.grid  # noqa: B018  (built now, so that its complaints come from here)

    @cached_property
    def grid(self) -> StepGrid:
        """The levels of the gains."""
        return StepGrid(self.low, self.high, self.step, self.most, self.gain_names)

    @cached_property
    def box(self) -> Box:
        """Box of levels, symbols and gains."""
        return _box(self.gains_box, self.grid, len(self.times), self.schedule().theta_names)

    def decode(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return theta [n, n_theta] of genomes [n, n_genes], moved into the box."""
        genes = self.box.clip(genomes)
        genes = genes.reshape(len(genes), len(self.times), -1)
        level = np.zeros((len(genes), genes.shape[2]), np.int64)
        gains = []
        for w in range(genes.shape[1]):
            symbols = np.where(self.grid.stepped, genes[:, w], 0.0).astype(np.int64)
            level = np.clip(level + symbols, 0, self.grid.top)
            gains.append(self.grid.values(level, genes[:, w]))
        return np.stack(gains, axis=1).reshape(len(genes), -1)

    def start(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Return genomes [5, n_genes] to start from: these gains throughout, at the nearest levels, and neighbours."""
        given = self.gains_box.clip(gains)[0]
        first = np.where(self.grid.stepped, self.grid.levels(given), given)
        later = np.where(self.grid.stepped, 0.0, given)
        constant = np.concatenate([first, np.tile(later, len(self.times) - 1)])
        return np.vstack((constant, self.box.neighbours(constant)))


def _box(one: Box, grid: StepGrid, n_windows: int, names: tuple[str, ...]) -> Box:
    """Levels of the first window, symbols of the others, and the gains that have no steps."""
    stepped, reach = grid.stepped, grid.reach
    low = [np.where(stepped, 0.0, one.low), *([np.where(stepped, -reach, one.low)] * (n_windows - 1))]
    high = [np.where(stepped, grid.top, one.high), *([np.where(stepped, reach, one.high)] * (n_windows - 1))]
    scale = tuple("step" if s else word for s, word in zip(stepped, one.scale, strict=True))
    bottom, top = (tuple(np.concatenate(end).tolist()) for end in (low, high))
    return Box(bottom, top, scale * n_windows, names)


@dataclass(frozen=True, kw_only=True)
class StepWindow(RecedingWindow):
    """One window of a search through time whose gains move by steps: genes are symbols, and gains without steps.

    Attributes
    ----------
    step, most
        As for :class:`StepWindows`.
    first : bool
        In the first window every level can be reached.
    """

    step: tuple[float, ...]
    most: tuple[int, ...] = (1,)
    first: bool = True

    def __post_init__(self) -> None:
        """Check the steps as well, and move the previous gains to their nearest levels."""
        super().__post_init__()
        object.__setattr__(self, "previous", tuple(self.grid.snapped(self.previous).tolist()))

    @cached_property
    def grid(self) -> StepGrid:
        """The levels of the gains."""
        return StepGrid(self.low, self.high, self.step, self.most, self.gain_names)

    @cached_property
    def box(self) -> Box:
        """Box of the symbols that stay on the grid, and of the gains that have no steps."""
        one, stepped, level = self.gains_box, self.grid.stepped, self.grid.levels(self.previous)
        reach = self.grid.top if self.first else self.grid.reach
        low = np.where(stepped, np.maximum(-reach, -level), one.low)
        high = np.where(stepped, np.minimum(reach, self.grid.top - level), one.high)
        scale = tuple("step" if s else word for s, word in zip(stepped, one.scale, strict=True))
        return Box(tuple(low.tolist()), tuple(high.tolist()), scale, self.gain_names)

    def decode(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return gains [n, n_gains] of genomes [n, n_genes], moved into the box."""
        genes = self.box.clip(genomes)
        symbols = np.where(self.grid.stepped, genes, 0.0).astype(np.int64)
        return self.grid.values(self.grid.levels(self.previous) + symbols, genes)

    def start(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Return genomes [5, n_genes] to start from: those of these gains, as near as can be, and neighbours."""
        moves = self.grid.levels(gains) - self.grid.levels(self.previous)
        genome = self.box.clip(np.where(self.grid.stepped, moves, self.gains_box.clip(gains)[0]))[0]
        return np.vstack((genome, self.box.neighbours(genome)))

    def towards(self, gains: ArrayLike, weight: float) -> NDArray[np.float64]:
        """Return gains a part `weight` of the way to `gains`: a whole number of steps that the window can make.

        Broken steps are made whole: a gain that may move by one step only would else stay for ever where little is
        gained by each of them.
        """
        free = super().towards(gains, weight)
        moves = weight * (self.grid.levels(gains) - self.grid.levels(self.previous))
        symbols = np.sign(moves) * np.ceil(np.abs(moves))
        return self.decode(np.where(self.grid.stepped, symbols, free))[0]

    def following(self, gains: ArrayLike) -> StepWindow:
        """Return the encoding of the next window, after one with these gains [n_gains]."""
        return replace(self, previous=tuple(self.gains_box.clip(gains)[0].tolist()), first=False)
