"""First-order forming filters whose diffusion gives them a density (Ito calculus; Cai and Lin, 1996).

``dx = -a (x - m) dt + D(x) dW`` with ``D^2(x) = -(2 a / p(x)) * integral of (s - m) p(s) from the left end to x``: by
the Fokker-Planck-Kolmogorov equation the density is p and the correlation exp(-a |tau|).

Sub-steps of at most 0.02 / a by Euler-Maruyama, with coefficients that make mean, variance and correlation of a
sub-step exact: drift ``(1 - exp(-a h)) (m - x)``, variance ``D^2 (1 - exp(-2 a h)) / (2 a)``. D^2 is clipped at 0, the
state reflected at the edges; what bias that leaves is in the part's claim.

Here: what such filters share, and the Rayleigh density. Any other: :mod:`plants.excitation.tabulated_filter`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core import noise
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, sqrt, table1d
from plants.core.stochastic import euler_maruyama
from plants.excitation.checks import check_positive
from plants.excitation.claims import Claim, chain_bias, low_pass
from plants.excitation.laws import rayleigh
from plants.excitation.signals import Feed, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LARGEST = 0.02  # of 1 / a: the longest sub-step
RAYLEIGH_MEAN = math.sqrt(0.5 * math.pi)


def substeps(bandwidth: float, step: float) -> int:
    """Return how many filter steps fit one integration step."""
    return max(1, math.ceil(bandwidth * step / LARGEST - 1e-9))


def shares(bandwidth: float, small: float) -> tuple[float, float]:
    """Return how much of the distance to the mean a sub-step of `small` [s] goes, and the share of noise in it."""
    return -math.expm1(-bandwidth * small), math.sqrt(-math.expm1(-2.0 * bandwidth * small))


def moved(x: Any, mean: float, spread: Callable[[Any], Any], pull: Any, share: Any, unit: Any) -> Any:
    """Return the state after a sub-step; `spread` is D^2 / (2 a)."""

    def drift(_: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
        return (pull * (mean - x[0]),)

    def diffusion(_: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
        return (sqrt(maximum(spread(x[0]), 0.0)),)

    return euler_maruyama(drift, diffusion, 0.0, (x,), 1.0, (share * unit,))[0]


@dataclass(frozen=True)
class RayleighFilter(Part):
    """Forming filter with Rayleigh density ``p = x / s^2 exp(-x^2 / (2 s^2))``, started stationary.

    Attributes
    ----------
    scale : float
        s; the mean is 1.2533 s, the variance 0.4292 s^2.
    bandwidth : float
        a [rad/s].
    """

    scale: float
    bandwidth: float
    n_settings: ClassVar[int] = 3
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("RayleighFilter", scale=self.scale, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Scale, pull and share of noise of a sub-step."""
        return (self.scale, *shares(self.bandwidth, step / substeps(self.bandwidth, step)))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The state, which is in scales."""
        return settings[0] * state

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=substeps(self.bandwidth, step))

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, reflected at 0."""
        return magnitude(moved(state, RAYLEIGH_MEAN, rayleigh_spread, settings[1], settings[2], unit))

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return np.sqrt(-2.0 * np.log(0.5 - unit_uniform / math.sqrt(12.0)))

    @property
    def law(self) -> Any:
        """The density as a distribution."""
        return rayleigh(self.scale)

    def claim(self, step: float) -> Claim:
        """Rayleigh density, exponential correlation."""
        law = self.law
        return low_pass(law, self.bandwidth, chain_bias(self, step, 0.0, 6.0, law, self.bandwidth))


@cache
def _rayleigh_table() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """D^2 / (2 a s^2) over x / s, closer where it bends."""
    from scipy import special

    x = 6.0 * np.linspace(0.0, 1.0, 41)[1:] ** 1.5
    spread = 1.0 + RAYLEIGH_MEAN * (special.erfcx(x / math.sqrt(2.0)) - 1.0) / x
    return (0.0, *x.tolist()), (0.0, *spread.tolist())


def rayleigh_spread(x: Any) -> Any:
    """D^2 / (2 a s^2) of the Rayleigh density at x / s; rises by x / 1.596 from 0 and tends to 1."""
    return table1d(x, *_rayleigh_table())
