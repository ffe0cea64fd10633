"""Settings of the PID of every channel, and of the one that a knowledge base is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import interval_complaints, setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class ControllerConfig:
    """The PID of every channel and the box in which its gains are searched."""

    low: list[float] | None = setting(None, "smallest kp, ki, kd; null: the plant's")
    high: list[float] | None = setting(None, "largest kp, ki, kd; null: the plant's")
    own_gains: list[float] | None = setting(None, "your present kp, ki, kd, to be compared with")
    limits: list[float] | None = setting(None, "command limits [low, high]; null: the plant's")
    rate_limit: float | None = setting(None, "largest rate of the command", unit="1/s", above=0)
    derivative_filter_time: float = setting(0.0, "time constant of the derivative's filter", unit="s", low=0)
    derivative_on: str = setting("error", "what the derivative acts on", choices=("error", "measurement"))
    anti_windup: str = setting(
        "conditional", "how the integral is kept from winding up", choices=("conditional", "back_calculation", "none")
    )
    tracking_time: float | None = setting(None, "time constant of back calculation", unit="s", above=0)
    rate_source: str = setting(
        "output", "error rate from the plant's rate output or by differencing", choices=("output", "difference")
    )
    action: str = setting("direct", "direct: more command raises the output", choices=("direct", "reverse"))
    sample_time: float | None = setting(None, "sample time; null: the integration step", unit="s", above=0)
    schedule_time: float | None = setting(
        None, "time between updates of scheduled gains; null: four samples", unit="s", above=0
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        lows, highs = self.low or [], self.high or []
        if lows and highs and len(lows) != len(highs):
            yield f"low and high must have one entry a gain each, got {len(lows)} and {len(highs)}"
        for number, (low, high) in enumerate(zip(lows, highs, strict=False)):
            if not low <= high:
                yield f"low[{number}] must not exceed high[{number}], got {low} and {high}; swap them"
        yield from interval_complaints("limits", self.limits)


@dataclass
class PresentConfig:
    """What a knowledge base is compared with beside its reference gains; its law is that of the knowledge base."""

    own_gains: list[float] | None = setting(None, "your present kp, ki, kd")
