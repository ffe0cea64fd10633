"""Settings of the PID law in parallel form, checked where they are given, and the states that follow from them."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from controllers import settings


@dataclass(frozen=True)
class LawSettings(ABC):  # noqa: B024  (abstract by its only subclass, which adds the law)
    """Settings of one channel's law; :class:`controllers.PID` documents them."""

    limits: tuple[float, float] | None = None
    rate_limit: float | None = None
    derivative_filter_time: float = 0.0
    sample_time: float | None = None
    action: str = "direct"
    derivative_on: str = "error"
    anti_windup: str = "conditional"
    tracking_time: float | None = None
    external_reset: bool = False
    rate_source: str = "output"
    initial_command: float = 0.0
    hold_invalid: bool = False
    frozen_after: float | None = None

    _own_gains: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd")

    def __post_init__(self) -> None:
        """Check and coerce the settings."""
        settings.one_of("action", self.action, ("direct", "reverse"))
        settings.one_of("derivative_on", self.derivative_on, ("error", "measurement"))
        settings.one_of("anti_windup", self.anti_windup, ("conditional", "back_calculation", "none"))
        settings.one_of("rate_source", self.rate_source, ("output", "difference"))
        for name in ("rate_limit", "sample_time", "tracking_time", "frozen_after"):
            object.__setattr__(self, name, settings.optional_positive(name, getattr(self, name)))
        for name in ("derivative_filter_time", "initial_command"):
            object.__setattr__(self, name, settings.finite(name, getattr(self, name)))
        if self.limits is not None:
            object.__setattr__(self, "limits", settings.interval("limits", self.limits))
        self._check_initial_command()
        self._check_anti_windup()
        self._check_time_constants()

    def _check_initial_command(self) -> None:
        if self.initial_command != 0.0 and self.initial_command != self.at_rest():
            message = f"initial_command {self.initial_command} must lie inside the limits {self.limits}; set it there"
            raise ValueError(message)

    def at_rest(self) -> float:
        """Last command before t = 0: inside the limits even where 0, "not known", is not."""
        low, high = (-math.inf, math.inf) if self.limits is None else self.limits
        return min(max(self.initial_command, low), high)

    def _check_anti_windup(self) -> None:
        if self.anti_windup == "back_calculation" and self.tracking_time is None:
            message = (
                "anti_windup 'back_calculation' needs tracking_time [s]: the time constant with which the integral is "
                "led back (usual: between kd / kp and kp / ki)"
            )
            raise ValueError(message)
        if self.external_reset and self.anti_windup != "back_calculation":
            message = f"external_reset needs anti_windup 'back_calculation', got {self.anti_windup!r}"
            raise ValueError(message)

    def _check_time_constants(self) -> None:
        if self.derivative_filter_time < 0.0:
            message = f"derivative_filter_time must be 0 (no filter) or positive, got {self.derivative_filter_time}"
            raise ValueError(message)
        for name in ("derivative_filter_time", "tracking_time"):
            value = getattr(self, name)
            if self.sample_time is not None and value and value < self.sample_time:
                message = (
                    f"{name} {value} s is shorter than the sample time {self.sample_time} s: its discrete form would "
                    f"overshoot in every sample (and be unstable below half of it); use {name} >= {self.sample_time}"
                    + (" or 0 for no filter" if name == "derivative_filter_time" else "")
                )
                raise ValueError(message)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains `g`; the last one is "applied" with ``external_reset``."""
        return self._own_gains + (("applied",) if self.external_reset else ())

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the controller states `c`: only those that the settings need."""
        names = ["integral"]
        if self.derivative_filter_time > 0.0:
            names += ["reference_rate", "output_rate"]
        if self.rate_limit is not None or self.hold_invalid or self.frozen_after is not None:
            names.append("command")
        if self.frozen_after is not None:
            names += ["measurement", "unchanged"]
        return tuple(names)

    @property
    def n_states(self) -> int:
        """Number of controller states."""
        return len(self.state_names)

    def initial(self) -> tuple[float, ...]:
        """Return the state at rest: no rates, integral and last command at ``initial_command``."""
        rest = {"integral": self.initial_command, "command": self.at_rest(), "unchanged": -1.0}
        return tuple(rest.get(name, 0.0) for name in self.state_names)
