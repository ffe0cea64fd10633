"""Coloured noise by stationary first-order forming filters: Gaussian, uniform, exponential and gamma density.

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

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, sqrt, where
from plants.core.signals import noise
from plants.core.signals.signal import Feed, Part, check_positive
from plants.core.signals.stationary_law import StationaryLaw, low_pass
from plants.excitation.laws import chain_bias, gamma, normal, uniform

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class GaussianFilter(Part):
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
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

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

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Gaussian samples in every step."""
        return Feed(noise.GAUSSIAN)

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
class UniformFilter(Part):
    """First-order forming filter with uniform density on [-width, width], started stationary (Ito calculus).

    dx = -a x dt + sqrt(a (width^2 - x^2)) dW: the Fokker-Planck-Kolmogorov equation gives the uniform density and the
    correlation exp(-a |tau|) (Cai and Lin, 1996).

    Notes
    -----
    Euler-Maruyama with sub-steps of at most 0.02 / a, reflected at the edges.
    """

    width: float
    bandwidth: float
    n_settings: ClassVar[int] = 3
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("UniformFilter", width=self.width, bandwidth=self.bandwidth)

    def substeps(self, step: float) -> int:
        """Return how many filter steps fit one integration step."""
        return max(1, math.ceil(self.bandwidth * step / 0.02 - 1e-9))

    def settings(self, step: float) -> tuple[float, ...]:
        """Width, drift and diffusion of a sub-step."""
        small = step / self.substeps(step)
        return (self.width, self.bandwidth * small, math.sqrt(self.bandwidth * small))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The filter's state."""
        return state

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=self.substeps(step))

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, folded back at the edges."""
        width, drift, diffusion = settings
        spread = sqrt(maximum(width * width - state * state, 0.0))
        moved = state - drift * state + diffusion * spread * unit
        folded = where(magnitude(moved) - width, 2.0 * where(moved, width, -width) - moved, moved)
        return clip(folded, -width, width)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return self.width * unit_uniform / math.sqrt(3.0)

    def claim(self, step: float) -> StationaryLaw:
        """Uniform density, exponential correlation."""
        law = uniform(self.width)
        return low_pass(law, self.bandwidth, chain_bias(self, step, -self.width, self.width, law, self.bandwidth))


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
