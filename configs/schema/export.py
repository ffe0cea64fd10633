"""Settings of the exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class GuardConfig:
    """What an installed controller does about signals that cannot be trusted."""

    ranges: dict[str, Any] = setting(dict, "where inputs are trusted, ends excluded: {angle: [-1, 1]}")
    patience: float = setting(0.1, "uninterrupted distrust after which it goes to the safe command", unit="s", low=0)
    recovery: float = setting(1.0, "uninterrupted trust after which it goes back to automatic", unit="s", low=0)
    frozen_after: float | None = setting(
        None, "a measurement that stands still for so long is not trusted; null: it may", unit="s", above=0
    )
    ramp: float | None = setting(
        None, "rate of commands in manual and to the safe one; null: at once; 0: they stay", unit="1/s", low=0
    )
    safe: list[float] | None = setting(None, "safe command of each channel; null: the last one stays")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with a range."""
        for name, ends in self.ranges.items():
            if not _is_range(ends):
                yield f"ranges.{name} must be [low, high] with low < high, got {ends}"


def _is_range(ends: object) -> bool:
    return isinstance(ends, list) and len(ends) == 2 and all(_number(e) for e in ends) and ends[0] < ends[1]


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass
class ExportSettings:
    """What is exported, and what it has to stand."""

    to: list[str] = setting(list, "targets, such as c, c_float; all: every one there is")
    guard: GuardConfig = setting(GuardConfig, "")
    hostile: int = setting(100_000, "random sequences of hostile inputs (NaN, jumps, frozen, modes) for the C", low=0)
