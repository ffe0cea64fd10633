"""Noise of second order: forming filters with a spectral peak, Gaussian or uniform, and the published nonlinear filter.

Peak (Ito calculus): ``dx1 = x2 dt, dx2 = (-2 z w0 x2 - w0^2 x1) dt + D dW``. With ``D^2 = 4 z w0^3 variance`` the
density is Gaussian; the discretisation is exact. With

    ``D^2 = 4 z w0^3 (width^2 - x1^2 - (x2 / w0)^2)``

the joint density is proportional to ``(width^2 - x1^2 - (x2 / w0)^2)^(-1/2)`` within the ellipse where that is
real, as the Fokker-Planck-Kolmogorov equation shows (Cai and Lin, 1996), and that of x1 uniform, with the spectrum
of the Gaussian filter. Euler-Maruyama would be far off at the ellipse, where the density is singular. But
(x1, x2 / w0) is the shadow of a point on a sphere of radius `width` that turns steadily about one axis and at
random about another: so it is computed, by turns that keep the point on its sphere and its uniform law exactly.

Nonlinear: an oscillator with nonlinear inertia, driven by white noise,
``(c0 + c3 x^2) x'' + c1 x^2 x' + c2 x^3 + c3 x x'^2 + c4 x' + w^2 x = noise``. The mass matrix (here one number)
is solved for the acceleration: passing the acceleration round a loop would need c3 x^2 < c0, and with the
published coefficients that fails for |x| > 0.22. The noise acts on the velocity with a factor that depends on the
position alone, so both calculi give the same equation. Stochastic Heun with sub-steps of at most 0.05 of the
shortest time scale. The density has no closed form; two exact identities of the stationary state stand in its
place, from the generator applied to energy and to x times momentum:
``E[(c4 + c1 x^2) v^2] = intensity / 2 E[1 / m]`` and ``E[(m + c3 x^2) v^2] = E[w^2 x^2 + c2 x^4]`` with
``m = c0 + c3 x^2``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.elementary import cos, maximum, sin, sqrt
from plants.core.signals.signal import RandomPart, check_finite, check_positive
from plants.core.signals.stationary_law import StationaryLaw
from plants.excitation.laws import normal, uniform
from plants.excitation.stochastic import stochastic_heun

if TYPE_CHECKING:
    from collections.abc import Sequence


def _flow(angular: float, damping: float, time: float) -> Any:
    """Matrix [2, 2] that carries (x1, x2 / w0) over `time` [s]."""
    from scipy.linalg import expm

    return expm(angular * time * np.array([[0.0, 1.0], [-1.0, -2.0 * damping]]))


@lru_cache(maxsize=64)
def _exact(angular: float, damping: float, time: float) -> tuple[float, ...]:
    """Flow over `time` and the lower triangle of its noise, for a stationary covariance of 1."""
    flow = _flow(angular, damping, time)
    (a, b), (_, c) = np.eye(2) - flow @ flow.T
    first = math.sqrt(max(a, 0.0))
    second = b / first if first > 0.0 else 0.0
    return (*flow.ravel().tolist(), first, float(second), math.sqrt(max(c - second * second, 0.0)))


def _claim(law: Any, frequency: float, damping: float) -> StationaryLaw:
    angular = 2.0 * math.pi * frequency
    gap = angular * (damping - math.sqrt(max(damping * damping - 1.0, 0.0)))
    period = 1.0 / frequency
    return StationaryLaw(
        law, lambda lag: float(_flow(angular, damping, lag)[0, 0]), gap, 0.125 * period, (0.5 * period, period)
    )  # fmt: skip


@dataclass(frozen=True)
class PeakFilter(RandomPart):
    """Gaussian noise with a spectral peak, started stationary; exact discretisation.

    Attributes
    ----------
    variance : float
    frequency : float
        Of the peak, w0 / (2 pi) [Hz].
    damping : float
        Damping ratio z; the peak is about 2 z w0 wide.
    """

    variance: float
    frequency: float
    damping: float = 0.1
    n_settings: ClassVar[int] = 8
    n_states: ClassVar[int] = 2
    n_units: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_positive("PeakFilter", variance=self.variance, frequency=self.frequency, damping=self.damping)

    def settings(self, step: float) -> tuple[float, ...]:
        """Standard deviation; flow and noise of a step."""
        return (math.sqrt(self.variance), *_exact(2.0 * math.pi * self.frequency, self.damping, step))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """x1."""
        return settings[0] * state[0]

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Exact discretisation."""
        _, a, b, c, d, first, second, third = settings
        x, v = state
        return a * x + b * v + first * unit[0], c * x + d * v + second * unit[0] + third * unit[1]

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return unit_gaussian

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
        """Gaussian density, correlation of the damped oscillator."""
        return _claim(normal(self.variance), self.frequency, self.damping)


@dataclass(frozen=True)
class UniformPeakFilter(RandomPart):
    """Noise with a spectral peak and uniform density, started stationary.

    Attributes
    ----------
    width : float
        The values lie in [-width, width]; the variance is width^2 / 3.
    frequency : float
        Of the peak, w0 / (2 pi) [Hz].
    damping : float
        Damping ratio z.

    Notes
    -----
    The density has no error of discretisation. The poles of the correlation are those of the oscillator; its residues
    have an error of second order in the step, which is in the claim.
    """

    width: float
    frequency: float
    damping: float = 0.1
    n_settings: ClassVar[int] = 4
    n_states: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_positive("UniformPeakFilter", width=self.width, frequency=self.frequency, damping=self.damping)

    def settings(self, step: float) -> tuple[float, ...]:
        """Width; cosine and sine of half the step's turn; standard deviation [rad] of the random turn.

        The turn is a little less than w0 h, so that the mean motion of a step has the poles of the oscillator.
        """
        angular = 2.0 * math.pi * self.frequency
        kept = math.exp(-2.0 * self.damping * angular * step)
        cosine = float(np.trace(_flow(angular, self.damping, step))) / (1.0 + kept)
        turn = math.acos(min(1.0, max(-1.0, cosine)))
        return (self.width, math.cos(0.5 * turn), math.sin(0.5 * turn), math.sqrt(4.0 * self.damping * angular * step))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """x1."""
        return settings[0] * state[0]

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Half the turn, the random turn, half the turn."""
        _, c, s, size = settings
        x, y = c * state[0] + s * state[1], c * state[1] - s * state[0]
        co, si = cos(size * unit), sin(size * unit)
        y, z = co * y + si * state[2], co * state[2] - si * y
        return c * x + s * y, c * y - s * x, z

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a point that is uniform on the sphere: height and longitude."""
        x, turn = unit_uniform[0] / math.sqrt(3.0), math.pi * (1.0 + unit_uniform[1] / math.sqrt(3.0))
        r = sqrt(1.0 - x * x)
        return x, r * cos(turn), r * sin(turn)

    def claim(self, step: float) -> StationaryLaw:
        """Uniform density; correlation of the mean motion as it is discretised."""
        _, c, s, size = self.settings(step)
        half = np.array([[c, s], [-s, c]])
        flow = half @ np.diag([1.0, math.exp(-0.5 * size * size)]) @ half
        claim = _claim(uniform(self.width), self.frequency, self.damping)
        return replace(claim, correlation=lambda lag: float(np.linalg.matrix_power(flow, round(lag / step))[0, 0]))


LARGEST = 0.05  # of the shortest time scale: the longest sub-step
PUBLISHED = (0.01, 0.5, 0.0, 0.2, 0.2)


@dataclass(frozen=True)
class NonlinearFilter(RandomPart):
    """Non-Gaussian coloured noise; starts at rest.

    Attributes
    ----------
    intensity : float
        Of the white noise: its two-sided power spectral density.
    stiffness : float
        w^2.
    c0, c1, c2, c3, c4 : float
        The published values (0.01, 0.5, 0, 0.2, 0.2).
    """

    intensity: float = 0.3
    stiffness: float = 1.0
    c0: float = PUBLISHED[0]
    c1: float = PUBLISHED[1]
    c2: float = PUBLISHED[2]
    c3: float = PUBLISHED[3]
    c4: float = PUBLISHED[4]
    n_settings: ClassVar[int] = 8
    n_states: ClassVar[int] = 2

    def __post_init__(self) -> None:
        kind = "NonlinearFilter"
        check_positive(kind, intensity=self.intensity, stiffness=self.stiffness, c0=self.c0, c4=self.c4)
        check_finite(kind, c1=self.c1, c2=self.c2, c3=self.c3)
        if min(self.c1, self.c2, self.c3) < 0.0:
            raise ValueError(f"{kind}: c1, c2 and c3 must not be negative, got {self.c1}, {self.c2} and {self.c3}")

    def substeps(self, step: float) -> int:
        """Return how many filter steps fit one integration step."""
        fastest = max(self.c4 / self.c0, math.sqrt(self.stiffness / self.c0))
        return max(1, math.ceil(fastest * step / LARGEST - 1e-9))

    def settings(self, step: float) -> tuple[float, ...]:
        """Coefficients, stiffness, sub-step [s], standard deviation of the noise's integral over it."""
        small = step / self.substeps(step)
        coefficients = (self.c0, self.c1, self.c2, self.c3, self.c4)
        return (*coefficients, self.stiffness, small, math.sqrt(self.intensity * small))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The position."""
        return state[0]

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Stochastic Heun."""
        c0, c1, c2, c3, c4, stiffness, small, push = settings

        def drift(_: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            x, v = state
            force = -(c1 * x * x + c4) * v - (c2 * x * x + stiffness + c3 * v * v) * x
            return v, force / mass(x)

        def diffusion(_: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            return 0.0, 1.0 / mass(state[0])

        def mass(x: Any) -> Any:
            return maximum(c0 + c3 * x * x, 1e-300)  # a part that is not there stays at 0

        return stochastic_heun(drift, diffusion, 0.0, state, small, (0.0, push * unit))

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a state of rest."""
        return tuple(0.0 * u for u in unit_gaussian)

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
        """No law; symmetry, the balance of energy and the virial."""
        slowest = 0.5 * self.c4 / self.c0 if self.c3 == 0.0 else 0.5 * min(self.c4 / self.c0, self.c1 / self.c3)
        time = 1.0 / max(slowest, 0.1 * math.sqrt(self.stiffness))
        return StationaryLaw(None, None, 1.0 / time, 0.25 * time, (), start_up=5.0 * time, zero_means=_identities)


def _identities(state: Any, settings: Sequence[Any]) -> dict[str, Any]:
    c0, c1, c2, c3, c4, stiffness, small, push = settings
    x, v = state
    mass = c0 + c3 * x * x
    intensity = push * push / small
    return {
        "position": x,
        "position times velocity": x * v,
        "balance of energy": (c4 + c1 * x * x) * v * v - 0.5 * intensity / mass,
        "virial": (mass + c3 * x * x) * v * v - stiffness * x * x - c2 * x**4,
    }
