"""Signals that are a formula of time: step, ramp, sine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.elementary import clip, sin, where
from plants.core.signals.signal import TIME_TOLERANCE, Part, check_finite, check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Step(Part):
    """A jump by `height` at time `at` [s]."""

    height: float
    at: float = 0.0
    n_settings: ClassVar[int] = 2
    jumps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_finite("Step", height=self.height, at=self.at)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Height and time [s]."""
        return (self.height, self.at - TIME_TOLERANCE)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """0 before, the height from then on."""
        return where(t - settings[1], settings[0], 0.0)

    def last_jump(self) -> float:
        """Return the time [s] of the jump."""
        return max(0.0, self.at)


@dataclass(frozen=True)
class Ramp(Part):
    """A slope [1/s] from `start` to `stop` [s], constant before and after."""

    slope: float
    start_time: float = 0.0
    stop_time: float = 1e9
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_finite("Ramp", slope=self.slope, start_time=self.start_time, stop_time=self.stop_time)
        if self.stop_time <= self.start_time:
            message = f"Ramp: stop_time must be after start_time, got {self.stop_time} s and {self.start_time} s"
            raise ValueError(message)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Slope and the two times [s]."""
        return (self.slope, self.start_time, self.stop_time)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Slope times the time spent on it."""
        return settings[0] * (clip(t, settings[1], settings[2]) - settings[1])


@dataclass(frozen=True)
class Sine(Part):
    """``amplitude * sin(2 pi frequency t + phase)``, frequency [Hz], phase [rad]."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_finite("Sine", amplitude=self.amplitude, phase=self.phase)
        check_positive("Sine", frequency=self.frequency)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Amplitude, angular frequency [rad/s], phase [rad]."""
        return (self.amplitude, 2.0 * math.pi * self.frequency, self.phase)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The sine."""
        return settings[0] * sin(settings[1] * t + settings[2])
