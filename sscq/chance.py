"""What is drawn anew in every controller sample: sensor noise, sampling jitter, lost packets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core import noise
from plants.core.kernel import Design, Stream, stream_items
from plants.excitation import Feed

if TYPE_CHECKING:
    import numpy as np

    from plants.core.lanes import Lane

_SPAN = math.sqrt(12.0)  # width of the uniform density of mean 0 and variance 1


@dataclass(frozen=True)
class Chance:
    """A stream of unit noise, one number a controller sample, for the situations that use it.

    Attributes
    ----------
    name : str
        Names the stream: with the situation's name and seed it says which numbers are drawn.
    row : str
        Row group that receives the number.
    code : int
        Density, of :mod:`plants.core.noise`.
    used : ndarray [situation]
        Not 0 where a situation uses it; the others are spared the drawing.
    """

    name: str
    row: str
    code: int
    used: np.ndarray

    @property
    def every(self) -> str:
        """Name of the kernel integer that is the steps between samples."""
        return f"every_{self.row}"

    def add_to(self, design: Design) -> None:
        """Put the fetching of the next number into every step."""
        design.integers.append(self.every)
        design.before.append(stream_items(design, Stream(self.name, self.row, self.every)))

    def feed(self, situation: int) -> Feed:
        """Return what feeds the stream in a situation."""
        return Feed(self.code if self.used[situation] else noise.OFF)


def share(lane: Lane, row: str) -> Any:
    """Return the number of a uniform stream as one between 0 and 1."""
    return 0.5 + lane.one(row) * (1.0 / _SPAN)


def threshold(probability: float) -> float:
    """Return the value below which a uniform stream's number lies with this probability; an unused stream gives 0."""
    return _SPAN * (probability - 0.5)
