"""Road profiles of ISO 8608 under wheels at constant speed.

One-sided displacement spectrum ``G(n) = G0 (n / n0)^-2`` with ``n0 = 0.1 1/m``. Forming filter at speed v:
``x' = -2 pi nc v x + 2 pi n0 sqrt(G0 v / 2) w``, ``R' = (v / L) (x - R)`` with white noise w of intensity 1, the
cut-off ``nc = 0.01 1/m`` and the envelope of the tyre ``L = 0.10 m``. The factor 1/2 belongs to the one-sided
spectrum. The first stage is discretised exactly and held over the step of the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core import noise
from plants.excitation.checks import check_positive
from plants.excitation.claims import Claim
from plants.excitation.generation import Streams
from plants.excitation.laws import normal
from plants.excitation.recorded import Recorded
from plants.excitation.signals import Feed, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES = {"A": 16e-6, "B": 64e-6, "C": 256e-6, "D": 1024e-6, "E": 4096e-6}
"""Class centres of G0 [m^3]."""
REFERENCE, CUT_OFF, ENVELOPE = 0.1, 0.01, 0.10  # n0 [1/m], nc [1/m], L [m]
WHEELS = ("left front", "right front", "left rear", "right rear")


@dataclass(frozen=True)
class Road(Part):
    """Height [m] of a road under one wheel, started stationary.

    Attributes
    ----------
    road_class : {"A", "B", "C", "D", "E"}
    speed : float
        v [m/s].

    Notes
    -----
    Several wheels of one car: `road_tracks`.
    """

    road_class: str
    speed: float
    n_settings: ClassVar[int] = 5
    n_states: ClassVar[int] = 2
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("Road", speed=self.speed)
        if self.road_class not in CLASSES:
            message = f"Road: road_class is one of {', '.join(CLASSES)}, got {self.road_class!r}"
            raise ValueError(message)

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

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Gaussian samples in every step."""
        return Feed(noise.GAUSSIAN)

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

    def claim(self, step: float) -> Claim:
        """Gaussian density and correlation of the two stages as they are discretised."""
        _, envelope, decay, push, _ = self.settings(step)
        flow = np.array([[decay, 0.0], [1.0 - envelope, envelope]])
        drive = np.array([[push * push, 0.0], [0.0, 0.0]])
        covariance = np.linalg.solve(np.eye(4) - np.kron(flow, flow), drive.ravel()).reshape(2, 2)

        def correlation(lag: float) -> float:
            later = np.linalg.matrix_power(flow, round(lag / step)) @ covariance
            return float(later[1, 1] / covariance[1, 1])

        gap = 2.0 * math.pi * CUT_OFF * self.speed
        return Claim(normal(float(covariance[1, 1])), correlation, gap, 0.25 / gap, (1.0 / gap, 2.0 / gap))


@dataclass(frozen=True)
class Tracks:
    """Height and its rate under four wheels.

    Attributes
    ----------
    time : ndarray [n], s
    heights, rates : ndarray [n, 4], m and m/s
        Wheels in the order left front, right front, left rear, right rear.
    """

    time: np.ndarray
    heights: np.ndarray
    rates: np.ndarray

    def signals(self, *, rates: bool = False) -> tuple[Recorded, ...]:
        """Return the four heights (or rates) as signals, held from sample to sample."""
        table = self.rates if rates else self.heights
        hold = float(self.time[1] - self.time[0])
        return tuple(Recorded.held(column.tolist(), hold) for column in table.T)


def road_tracks(
    road: Road, step: float, t_end: float, seed: int, wheelbase: float = 2.70, correlation: float = 0.5
) -> Tracks:
    """Return the road under four wheels: the rear ones repeat the front ones after wheelbase / speed.

    Parameters
    ----------
    road : Road
    step, t_end : float
        Integration step and horizon [s].
    seed : int
    wheelbase : float
        [m]; a delay between two steps mixes the neighbouring samples.
    correlation : float
        Of the left and the right track, the same at all wave numbers (a simplification): ``right = r left +
        sqrt(1 - r^2) other``.

    Raises
    ------
    ValueError
        For a correlation outside [-1, 1], or times that are not positive.
    """
    check_positive("road_tracks", step=step, t_end=t_end, wheelbase=wheelbase)
    if not -1.0 <= correlation <= 1.0:
        message = f"road_tracks: correlation must lie in [-1, 1], got {correlation}"
        raise ValueError(message)
    delay = wheelbase / road.speed / step
    whole = math.ceil(delay - 1e-9)
    count = round(t_end / step) + 1
    states = _two_tracks(road, step, whole + count, seed)
    heights, rates = states[:, 1].T, road.rate(road.settings(step), states.swapaxes(0, 1)).T
    mixed = [_mixed(track, correlation) for track in (heights, rates)]
    share = whole - delay
    heights, rates = (np.hstack([t[whole:], (1.0 - share) * t[:count] + share * t[1 : count + 1]]) for t in mixed)
    return Tracks(np.arange(count) * step, heights, rates)


def _two_tracks(road: Road, step: float, count: int, seed: int) -> np.ndarray:
    """States [count, stage, track] of two independent tracks."""
    return Streams(road, step, [("road", seed, "left"), ("road", seed, "other")]).states(count)


def _mixed(tracks: np.ndarray, correlation: float) -> np.ndarray:
    """Left and right track [n, 2] from two independent ones [2, n]."""
    left, other = tracks
    return np.stack([left, correlation * left + math.sqrt(1.0 - correlation**2) * other], axis=1)
