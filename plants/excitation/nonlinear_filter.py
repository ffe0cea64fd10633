"""The published nonlinear filter: an oscillator with nonlinear inertia, driven by white noise.

``(c0 + c3 x^2) x'' + c1 x^2 x' + c2 x^3 + c3 x x'^2 + c4 x' + w^2 x = noise``. The mass matrix (here one number) is
solved for the acceleration: passing the acceleration round a loop would need c3 x^2 < c0, and with the published
coefficients that fails for |x| > 0.22.

The noise acts on the velocity with a factor that depends on the position alone, so both calculi give the same
equation. Stochastic Heun with sub-steps of at most 0.05 of the shortest time scale. The density has no closed form; two
exact identities of the stationary state stand in its place, from the generator applied to energy and to x times
momentum: ``E[(c4 + c1 x^2) v^2] = intensity / 2 E[1 / m]`` and ``E[(m + c3 x^2) v^2] = E[w^2 x^2 + c2 x^4]`` with
``m = c0 + c3 x^2``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core import noise
from plants.core.elementary import maximum
from plants.core.stochastic import stochastic_heun
from plants.excitation.checks import check_finite, check_positive
from plants.excitation.claims import Claim
from plants.excitation.signals import Feed, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 0.05  # of the shortest time scale: the longest sub-step
PUBLISHED = (0.01, 0.5, 0.0, 0.2, 0.2)


@dataclass(frozen=True)
class NonlinearFilter(Part):
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
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        kind = "NonlinearFilter"
        check_positive(kind, intensity=self.intensity, stiffness=self.stiffness, c0=self.c0, c4=self.c4)
        check_finite(kind, c1=self.c1, c2=self.c2, c3=self.c3)
        if min(self.c1, self.c2, self.c3) < 0.0:
            message = f"{kind}: c1, c2 and c3 must not be negative, got {self.c1}, {self.c2} and {self.c3}"
            raise ValueError(message)

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

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=self.substeps(step))

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

    def claim(self, step: float) -> Claim:  # noqa: ARG002
        """No law; symmetry, the balance of energy and the virial."""
        slowest = 0.5 * self.c4 / self.c0 if self.c3 == 0.0 else 0.5 * min(self.c4 / self.c0, self.c1 / self.c3)
        time = 1.0 / max(slowest, 0.1 * math.sqrt(self.stiffness))
        return Claim(None, None, 1.0 / time, 0.25 * time, (), start_up=5.0 * time, zero_means=_identities)


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
