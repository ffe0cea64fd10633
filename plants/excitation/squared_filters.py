"""Forming filters with exponential and gamma density, without any error of discretisation.

Half the sum of n squared Gaussian filters of bandwidth a / 2 solves the filter's Ito equation
``dx = -a (x - m) dt + sqrt(2 a x / g) dW`` with ``m = n / (2 g)`` (Cox, Ingersoll and Ross, Econometrica 53, 1985):
n = 2 gives the exponential density ``g exp(-g x)``, n = 4 the gamma density ``g^2 x exp(-g x)``. Gaussian filters are
discretised exactly, so these are; they need no sub-steps and no reflection at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core import noise
from plants.excitation.checks import check_positive
from plants.excitation.claims import Claim, low_pass
from plants.excitation.laws import gamma
from plants.excitation.signals import Feed, Part

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class _SquaredFilter(Part):
    """Half the sum of squares of Gaussian filters, over `rate`."""

    rate: float
    bandwidth: float
    n_settings: ClassVar[int] = 3
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, rate=self.rate, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Gain, decay over a step, the noise's share."""
        decay = math.exp(-0.5 * self.bandwidth * step)
        return (0.5 / self.rate, decay, math.sqrt(-math.expm1(-self.bandwidth * step)))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The scaled sum of squares."""
        return settings[0] * sum((y * y for y in state[1:]), state[0] * state[0])

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Gaussian samples in every step."""
        return Feed(noise.GAUSSIAN)

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Exact discretisation of each Gaussian filter."""
        return tuple(settings[1] * y + settings[2] * u for y, u in zip(state, unit, strict=True))

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return unit_gaussian

    @property
    def law(self) -> Any:
        """The density as a distribution: gamma of shape n / 2."""
        return gamma(0.5 * self.n_states, self.rate)

    def claim(self, step: float) -> Claim:  # noqa: ARG002
        """The density, exponential correlation."""
        return low_pass(self.law, self.bandwidth)


@dataclass(frozen=True)
class ExponentialFilter(_SquaredFilter):
    """Forming filter with exponential density ``g exp(-g x)``, started stationary; exact (Ito).

    Attributes
    ----------
    rate : float
        g; the mean is 1 / g, the variance 1 / g^2.
    bandwidth : float
        a [rad/s]; the correlation is exp(-a |tau|).
    """

    n_states: ClassVar[int] = 2
    n_units: ClassVar[int] = 2


@dataclass(frozen=True)
class GammaFilter(_SquaredFilter):
    """Forming filter with gamma density ``g^2 x exp(-g x)`` (called Rayleigh in part of the literature); exact (Ito).

    Attributes
    ----------
    rate : float
        g; the mean is 2 / g, the variance 2 / g^2.
    bandwidth : float
        a [rad/s]; the correlation is exp(-a |tau|).
    """

    n_states: ClassVar[int] = 4
    n_units: ClassVar[int] = 4
