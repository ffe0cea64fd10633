"""Numbers drawn at random from declared ranges, for situations that nobody chose.

They come one after another from one generator: what is drawn, and in which order, is part of a declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    T = TypeVar("T")
    Ends = Sequence[float]


class Draws:
    """Draws by a seed.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def between(self, ends: Ends) -> float:
        """Return a number of the range (low, high), uniformly."""
        low, high = ends
        return float(self.rng.uniform(low, high))

    def values(self, ranges: Mapping[str, Ends]) -> dict[str, float]:
        """Return one number of each range, in their order."""
        return {name: self.between(ends) for name, ends in ranges.items()}

    def on_grid(self, low: float, high: float, step: float) -> float:
        """Return low, low + step, ... or high, each as often; rounded to six decimals, as names print it."""
        return round(low + step * int(self.rng.integers(0, round((high - low) / step) + 1)), 6)

    def one_of(self, several: Sequence[T]) -> T:
        """Return one of several things, each as often."""
        return several[int(self.rng.integers(len(several)))]

    def happens(self, chance: float) -> bool:
        """Return whether something happens that has a chance in [0, 1]."""
        return bool(self.rng.random() < chance)
