"""Roads under wheels at constant speed: single bumps, profiles of ISO 8608, and the four wheels of a car on one road.

One-sided displacement spectrum ``G(n) = G0 (n / n0)^-2`` with ``n0 = 0.1 1/m``. Forming filter at speed v:
``x' = -2 pi nc v x + 2 pi n0 sqrt(G0 v / 2) w``, ``R' = (v / L) (x - R)`` with white noise w of intensity 1, the
cut-off ``nc = 0.01 1/m`` and the envelope of the tyre ``L = 0.10 m``. The factor 1/2 belongs to the one-sided
spectrum. The first stage is discretised exactly and held over the step of the second.

Of a car with four wheels each height and each rate is a signal of its own, but all are made of the same two
tracks: parts of one situation share the numbers of the streams "road left" and "road other". A rear wheel meets
the same numbers later. So the road is drawn anew with every seed, and no series is stored. The law of a wheel's
road is that of `Road`; it is not claimed, since streams of one situation are one road and not independent samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.elementary import clip, cos, sin
from plants.core.signals import noise
from plants.core.signals.signal import Feed, Part, RandomPart, check_finite, check_positive
from plants.core.signals.stationary_law import StationaryLaw
from plants.excitation.laws import normal

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Bump(Part):
    """Height [m] of a haversine: ``height / 2 (1 - cos(2 pi x / length))`` for x = speed t - place in [0, length].

    Attributes
    ----------
    height, length : float
        [m]; a hole has a negative height.
    speed : float
        Of travel [m/s].
    place : float
        Where it begins ahead of the wheel at time 0 [m]. For a rear wheel add the wheelbase.
    """

    height: float
    length: float
    speed: float
    place: float = 0.0
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_finite(type(self).__name__, height=self.height, place=self.place)
        check_positive(type(self).__name__, length=self.length, speed=self.speed)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Half the height [m], angular frequency [rad/s], time of arrival [s]."""
        return (0.5 * self.height, 2.0 * math.pi * self.speed / self.length, self.place / self.speed)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The height."""
        half, omega, arrival = settings
        return half * (1.0 - cos(clip(omega * (t - arrival), 0.0, 2.0 * math.pi)))


@dataclass(frozen=True)
class BumpRate(Bump):
    """Rate [m/s] of the height of :class:`Bump` with the same attributes."""

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The rate."""
        half, omega, arrival = settings
        return half * omega * sin(clip(omega * (t - arrival), 0.0, 2.0 * math.pi))


CLASSES = {"A": 16e-6, "B": 64e-6, "C": 256e-6, "D": 1024e-6, "E": 4096e-6}
"""Class centres of G0 [m^3]."""
REFERENCE, CUT_OFF, ENVELOPE = 0.1, 0.01, 0.10  # n0 [1/m], nc [1/m], L [m]


@dataclass(frozen=True)
class Road(RandomPart):
    """Height [m] of a road under one wheel, started stationary.

    Attributes
    ----------
    road_class : {"A", "B", "C", "D", "E"}
    speed : float
        v [m/s].

    Notes
    -----
    Several wheels of one car: :class:`WheelRoad`.
    """

    road_class: str
    speed: float
    n_settings: ClassVar[int] = 5
    n_states: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_positive("Road", speed=self.speed)
        if self.road_class not in CLASSES:
            raise ValueError(f"Road: road_class is one of {', '.join(CLASSES)}, got {self.road_class!r}")

    @property
    def deviation(self) -> float:
        """Standard deviation [m] of the first stage."""
        return math.sqrt(math.pi * REFERENCE**2 * CLASSES[self.road_class] / (2.0 * CUT_OFF))

    def settings(self, step: float) -> tuple[float, ...]:
        """1 (present), decay of both stages over a step, share of noise [m], v / L [1/s]."""
        decay = 2.0 * math.pi * CUT_OFF * self.speed * step
        push = self.deviation * math.sqrt(-math.expm1(-2.0 * decay))
        rate = self.speed / ENVELOPE
        return (1.0, math.exp(-rate * step), math.exp(-decay), push, rate)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Height of the second stage."""
        return state[1]

    @staticmethod
    def rate(settings: Sequence[Any], state: Any) -> Any:
        """Return the rate [m/s] of the height."""
        return settings[4] * (state[0] - state[1])

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """The second stage with the first one held, then the first."""
        (x, height), (present, envelope, decay, push, _) = state, settings
        return decay * x + push * unit, present * x + envelope * (height - x)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        x, other = (self.deviation * u for u in unit_gaussian)
        share = 1.0 / (1.0 + 2.0 * math.pi * CUT_OFF * ENVELOPE)  # of both variances, and their covariance
        return x, share * x + math.sqrt(share - share * share) * other

    def spectrum(self, wave_number: Any) -> Any:
        """Return the one-sided spectral density [m^3] of the height at `wave_number` [1/m]."""
        n = wave_number
        level = CLASSES[self.road_class] * REFERENCE**2
        return level / ((n**2 + CUT_OFF**2) * (1.0 + (2.0 * math.pi * n * ENVELOPE) ** 2))

    def claim(self, step: float) -> StationaryLaw:
        """Gaussian density and correlation of the two stages as they are discretised."""
        _, envelope, decay, push, _ = self.settings(step)
        flow = np.array([[decay, 0.0], [1.0 - envelope, envelope]])
        drive = np.array([[push * push, 0.0], [0.0, 0.0]])
        covariance = np.linalg.solve(np.eye(4) - np.kron(flow, flow), drive.ravel()).reshape(2, 2)

        def correlation(lag: float) -> float:
            later = np.linalg.matrix_power(flow, round(lag / step)) @ covariance
            return float(later[1, 1] / covariance[1, 1])

        gap = 2.0 * math.pi * CUT_OFF * self.speed
        return StationaryLaw(normal(float(covariance[1, 1])), correlation, gap, 0.25 / gap, (1.0 / gap, 2.0 / gap))


STREAMS = ("road left", "road other")
"""Two independent tracks: the left one, and what the right one is mixed with."""
_WHOLE = 1e-9  # of a step: a delay that is a whole number of steps but for rounding


@dataclass(frozen=True)
class WheelRoad(RandomPart):
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

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, speed=self.speed, wheelbase=self.wheelbase)
        if not -1.0 <= self.correlation <= 1.0:
            raise ValueError(f"{type(self).__name__}: correlation must lie in [-1, 1], got {self.correlation}")
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


@dataclass(frozen=True)
class WheelRoadRate(WheelRoad):
    """Rate [m/s] of the height of :class:`WheelRoad` with the same attributes."""

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Rate of this wheel's track."""
        own, other, before = settings[5:]
        now = own * Road.rate(settings, state[0:2]) + other * Road.rate(settings, state[2:4])
        return now + before * (state[5] - now)
