"""Coloured noise with a given density: stationary first-order forming filters driven by unit noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core import noise
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, sqrt, where
from plants.excitation.checks import check_positive
from plants.excitation.claims import Claim, chain_bias, low_pass
from plants.excitation.laws import normal, uniform
from plants.excitation.signals import Feed, Part

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

    def claim(self, step: float) -> Claim:  # noqa: ARG002
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

    def claim(self, step: float) -> Claim:
        """Uniform density, exponential correlation."""
        law = uniform(self.width)
        return low_pass(law, self.bandwidth, chain_bias(self, step, -self.width, self.width, law, self.bandwidth))
