"""Roads under the four wheels: signals of all eight disturbances, to be given as a situation's excitation.

Rear wheels meet what the front ones met a wheelbase before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.excitation import Bump, BumpRate, Sine, WheelRoad, WheelRoadRate, as_signal
from plants.suspension.parameters import LEFT, WHEELS

if TYPE_CHECKING:
    from collections.abc import Sequence

WHEELBASE = 2.70  # m, of the car as it is
SIDES = {"both": (True, False), "left": (True,), "right": (False,)}


def rough_road(
    road_class: str, speed: float, *, correlation: float = 0.5, wheelbase: float = WHEELBASE
) -> dict[str, Any]:
    """Return a road of ISO 8608, class "A" to "E", at a speed [m/s]; drawn anew with each seed."""
    signals: dict[str, Any] = {}
    for label, kind in (("R", WheelRoad), ("Rdot", WheelRoadRate)):
        for k, wheel in enumerate(WHEELS):
            signals[f"{label}_{wheel}"] = kind(road_class, speed, not LEFT[k], k > 1, correlation, wheelbase)
    return signals


def bump(
    height: float, length: float, speed: float, *, at: float = 5.0, side: str = "both", wheelbase: float = WHEELBASE
) -> dict[str, Any]:
    """Return a bump of given height and length [m] met at a speed [m/s], `at` [m] ahead of the front wheels.

    Raises
    ------
    ValueError
        For a side that is not "both", "left" or "right".
    """
    if side not in SIDES:
        raise ValueError(f"a bump lies under 'both', 'left' or 'right' wheels, got side {side!r}")
    signals: dict[str, Any] = {}
    for label, kind in (("R", Bump), ("Rdot", BumpRate)):
        for k, wheel in enumerate(WHEELS):
            if LEFT[k] in SIDES[side]:
                signals[f"{label}_{wheel}"] = kind(height, length, speed, at + (wheelbase if k > 1 else 0.0))
    return signals


def waves(amplitude: float, frequency: float, phases: Sequence[float] = (0.0,) * 4) -> dict[str, Any]:
    """Return sines of one amplitude [m] and frequency [Hz], with a phase [rad] for each wheel."""
    signals: dict[str, Any] = {}
    for wheel, phase in zip(WHEELS, phases, strict=True):
        signals[f"R_{wheel}"] = Sine(amplitude, frequency, phase)
        rate = 2.0 * math.pi * frequency * amplitude
        signals[f"Rdot_{wheel}"] = Sine(rate, frequency, phase + 0.5 * math.pi)
    return signals


def together(*roads: dict[str, Any]) -> dict[str, Any]:
    """Return the sum of several roads: a bump on a rough road."""
    names = {name for road in roads for name in road}
    return {
        name: sum((as_signal(road[name]) for road in roads if name in road), as_signal(None)) for name in sorted(names)
    }
