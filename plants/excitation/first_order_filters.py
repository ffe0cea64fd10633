"""Noise without memory, and coloured noise by stationary first-order filters of Gaussian, exponential, gamma density.

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

from plants.core.signals import noise
from plants.core.signals.signal import Feed, RandomPart, check_finite, check_positive
from plants.core.signals.stationary_law import StationaryLaw, low_pass
from plants.excitation.laws import gamma, normal, uniform

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class WhiteNoise(RandomPart):
    """Band-limited white noise: independent values of `variance`, each held for `hold` [s]; Gaussian or uniform."""

    variance: float
    hold: float = 0.1
    density: str = "gaussian"
    n_settings: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_finite("WhiteNoise", variance=self.variance)
        check_positive("WhiteNoise", hold=self.hold)
        if self.variance < 0.0:
            raise ValueError(f"WhiteNoise: variance must not be negative, got {self.variance}")
        if self.density not in {"gaussian", "uniform"}:
            raise ValueError(f"WhiteNoise: density is 'gaussian' or 'uniform', got {self.density!r}")

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Standard deviation."""
        return (math.sqrt(self.variance),)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The held sample, scaled."""
        return settings[0] * state

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """A new sample each hold time."""
        return Feed(noise.GAUSSIAN if self.density == "gaussian" else noise.UNIFORM, self.hold)

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
        """Gaussian or uniform density, no correlation between values."""
        law = normal(self.variance) if self.density == "gaussian" else uniform(math.sqrt(3.0 * self.variance))
        # The gap is as if correlation fell by e^5 from value to value: each value counts as a sample.
        return StationaryLaw(
            law, lambda lag: float(lag < 0.5 * self.hold), 5.0 / self.hold, self.hold, (self.hold,), length=32
        )


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
