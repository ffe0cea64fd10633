"""The road of ISO 8608 under one wheel of a car with four: heights and rates of all wheels belong together.

Each wheel's height and each wheel's rate is a signal of its own, but all are made of the same two tracks: parts of one
situation share the numbers of the streams "road left" and "road other". A rear wheel meets the same numbers later. So
the road is drawn anew with every seed, and no series is stored. The law of a wheel's road is that of `Road`; it is not
claimed here, since streams of one situation are one road and not independent samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core import noise
from plants.excitation.checks import check_positive
from plants.excitation.road import Road
from plants.excitation.signals import Feed, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAMS = ("road left", "road other")
"""Two independent tracks: the left one, and what the right one is mixed with."""
_WHOLE = 1e-9  # of a step: a delay that is a whole number of steps but for rounding


@dataclass(frozen=True)
class WheelRoad(Part):
    """Height [m] of the road under one wheel.

    Attributes
    ----------
    road_class : {"A", "B", "C", "D", "E"}
    speed : float
        v [m/s].
    right, rear : bool
        Which wheel.
    correlation : float
        r of the left and the right track: ``right = r left + sqrt(1 - r^2) other``.
    wheelbase : float
        [m]; a delay between two steps mixes the neighbouring samples.
    """

    road_class: str
    speed: float
    right: bool = False
    rear: bool = False
    correlation: float = 0.5
    wheelbase: float = 2.70
    n_settings: ClassVar[int] = 8
    n_states: ClassVar[int] = 6
    n_units: ClassVar[int] = 2
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, speed=self.speed, wheelbase=self.wheelbase)
        if not -1.0 <= self.correlation <= 1.0:
            message = f"{type(self).__name__}: correlation must lie in [-1, 1], got {self.correlation}"
            raise ValueError(message)
        _ = self.road

    @property
    def road(self) -> Road:
        """The road under any wheel alone."""
        return Road(self.road_class, self.speed)

    @property
    def shares(self) -> tuple[float, float]:
        """What this wheel's track has of each of the two."""
        r = self.correlation
        return (r, math.sqrt(1.0 - r * r)) if self.right else (1.0, 0.0)

    def _delay(self, step: float) -> tuple[int, float]:
        """Whole steps between front and rear, rounded up, and how much that is too many."""
        delay = self.wheelbase / self.speed / step
        whole = math.ceil(delay - _WHOLE)
        return whole, max(0.0, whole - delay)

    def _ahead(self, step: float) -> int:
        """Samples by which this wheel is ahead of a rear one that is late by whole steps."""
        whole, excess = self._delay(step)
        return whole if not self.rear else int(excess > _WHOLE)

    def settings(self, step: float) -> tuple[float, ...]:
        """Those of a road, shares of both tracks, and of the sample before."""
        _, excess = self._delay(step)
        before = 1.0 - excess if self.rear and excess > _WHOLE else 0.0
        return (*self.road.settings(step), *self.shares, before)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Height of this wheel's track."""
        own, other, before = settings[5:]
        now = own * state[1] + other * state[3]
        return now + before * (state[4] - now)

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every step, the same for all wheels."""
        return Feed(noise.GAUSSIAN, shared=STREAMS, ahead=self._ahead(step))

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Both tracks, one step on; height and rate as they were are kept."""
        left, other = state[0:2], state[2:4]
        own, share = settings[5], settings[6]
        height = own * left[1] + share * other[1]
        rate = own * Road.rate(settings, left) + share * Road.rate(settings, other)
        moved = [Road.advance(track, number, settings[:5]) for track, number in zip((left, other), unit, strict=True)]
        return (*moved[0], *moved[1], height, rate)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:
        """Return a draw from the stationary density, as of a wheel alone."""
        tracks = (*self.road.start(unit_gaussian[:2], None), *self.road.start(unit_gaussian[2:4], None))
        own, other = self.shares
        del unit_uniform
        return (*tracks, own * tracks[1] + other * tracks[3], 0.0 * tracks[0])

    def begin(self, name: str, seed: int, step: float) -> tuple[float, ...]:
        """Return the state in which this wheel begins on the road of a situation."""
        return _begun(self, name, seed, step)


@dataclass(frozen=True)
class WheelRoadRate(WheelRoad):
    """Rate [m/s] of the height of :class:`WheelRoad` with the same attributes."""

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Rate of this wheel's track."""
        own, other, before = settings[5:]
        now = own * Road.rate(settings, state[0:2]) + other * Road.rate(settings, state[2:4])
        return now + before * (state[5] - now)


@lru_cache(maxsize=4096)
def _begun(part: WheelRoad, name: str, seed: int, step: float) -> tuple[float, ...]:
    """A stationary draw for a rear wheel; those ahead of it have driven on over the first samples."""
    keys = [noise.stream_key(name, seed, stream) for stream in STREAMS]
    starts = [noise.samples(noise.GAUSSIAN, 2, noise.stream_key(name, seed, f"{stream}/start")) for stream in STREAMS]
    state = part.start(tuple(float(number) for pair in starts for number in pair), None)
    ahead, settings = part.feed(step).ahead, part.settings(step)
    units = [noise.samples(noise.GAUSSIAN, ahead, key).tolist() for key in keys]
    for unit in zip(*units, strict=True):
        state = part.advance(state, unit, settings)
    return tuple(float(number) for number in state)
