"""Noise without memory: independent samples, each held for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.signals import noise
from plants.core.signals.signal import Feed, RandomPart, check_finite, check_positive
from plants.core.signals.stationary_law import StationaryLaw
from plants.excitation.laws import normal, uniform

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
