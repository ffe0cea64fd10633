"""Coloured noise by stationary first-order forming filters: Gaussian, exponential and gamma density.

Exponential and gamma density come without any error of discretisation: half the sum of n squared Gaussian filters
of bandwidth a / 2 solves the filter's Ito equation ``dx = -a (x - m) dt + sqrt(2 a x / g) dW`` with
``m = n / (2 g)`` (Cox, Ingersoll and Ross, Econometrica 53, 1985): n = 2 gives the exponential density
``g exp(-g x)``, n = 4 the gamma density ``g^2 x exp(-g x)``. Gaussian filters are discretised exactly, so these
are; they need no sub-steps and no reflection at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.signals.signal import RandomPart, check_positive
from plants.core.signals.stationary_law import StationaryLaw, low_pass
from plants.excitation.laws import gamma, normal

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class GaussianFilter(RandomPart):
    """First-order forming filter with Gaussian density: dx = -a x dt + sigma sqrt(2 a) dW, started stationary.

    Attributes
    ----------
    variance : float
        Stationary variance sigma^2.
    bandwidth : float
        a [rad/s]; the correlation is exp(-a |tau|).

    Notes
    -----
    Discretised exactly (no step-size error in mean, variance and correlation at the steps).
    """

    variance: float
    bandwidth: float
    n_settings: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_positive("GaussianFilter", variance=self.variance, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Decay over a step and the noise's share."""
        decay = math.exp(-self.bandwidth * step)
        return (decay, math.sqrt(self.variance * -math.expm1(-2.0 * self.bandwidth * step)))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The filter's state."""
        return state

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Exact discretisation of the filter."""
        return settings[0] * state + settings[1] * unit

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return math.sqrt(self.variance) * unit_gaussian

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
        """Gaussian density, exponential correlation."""
        return low_pass(normal(self.variance), self.bandwidth)


@dataclass(frozen=True)
class _SquaredFilter(RandomPart):
    """Half the sum of squares of Gaussian filters, over `rate`."""

    rate: float
    bandwidth: float
    n_settings: ClassVar[int] = 3

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

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
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
