"""From a configuration to the PID and the box of its gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controllers import PID
from experiments.errors import UserError

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from plants import Plant


def law_of(config: DesignConfig) -> PID:
    """The law of every channel."""
    given = config.controller
    return PID(
        limits=None if given.limits is None else (given.limits[0], given.limits[1]),
        rate_limit=given.rate_limit,
        derivative_filter_time=given.derivative_filter_time,
        derivative_on=given.derivative_on,
        anti_windup=given.anti_windup,
        tracking_time=given.tracking_time,
        sample_time=given.sample_time
        or config.integration_step,  # a knowledge base carries it to where the step is another
        rate_source=given.rate_source,
        action=given.action,
    )


def box_of(config: DesignConfig, plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    """The box [low, high] in which gains are searched, each [n_gains]."""
    low = config.controller.low
    high = config.controller.high
    lows = [g for c in plant.channels for g in c.gains_low] if low is None else _gains("low", low, plant)
    highs = [g for c in plant.channels for g in c.gains_high] if high is None else _gains("high", high, plant)
    lows, highs = np.array(lows, float), np.array(highs, float)
    if not (lows <= highs).all() or not (lows < highs).any():
        given = f"low = {lows.tolist()}, high = {highs.tolist()}"
        raise UserError(
            f"gain bounds must satisfy low <= high, and low < high for one gain at least, got {given}; mend "
            "controller.low or controller.high (what is not given is the plant's)"
        )
    return lows, highs


def own_gains_of(config: DesignConfig, plant: Plant) -> np.ndarray | None:
    """The user's present gains [n_gains], where they are given."""
    given = config.controller.own_gains
    return None if given is None else _gains("own_gains", given, plant)


def _gains(name: str, values: list[float], plant: Plant) -> np.ndarray:
    n = 3 * len(plant.channels)
    array = np.array(values if len(values) == n else list(values) * len(plant.channels), float)
    if len(values) not in {3, n} or not np.isfinite(array).all():
        raise UserError(
            f"controller.{name} must be kp, ki, kd for each of the {len(plant.channels)} channels of {plant.name!r} "
            f"({n} finite numbers, or 3 for all), got {values}"
        )
    return array
