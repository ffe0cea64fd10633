"""Gains that exist in steps: stepping actuators, switched dampers, potentiometers with notches.

A stepped gain takes the values low, low + step, low + 2 step, ... up to its high; from one window to the next it moves
by at most some of these steps. Levels are whole numbers, so every value is one of the grid's own floats, to the last
bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import settings
from sscq.box import check_bounds
from sscq.search_method import not_negative, whole

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
