"""A bump in the road, and what a wheel's height and its rate are on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.elementary import clip, cos, sin
from plants.excitation.checks import check_finite, check_positive
from plants.excitation.signals import Part

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
