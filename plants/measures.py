"""Quality measures to declare with a plant: root mean square, peak and share of time beyond a limit of any signal.

A signal is a block ``(t, x, u, w, p)`` that gives one number. Frequency-weighted measures are in :mod:`plants.ride`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.measures import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant

    Signal = Callable[..., Any]


def rate_of(plant: Plant, state: str) -> Signal:
    """Return the rate of a plant's state as a signal: of a velocity the acceleration.

    A measure of a plant that is made first: ``replace(plant, measures=(rms("a", "m/s^2", rate_of(plant, "speed")),))``.
    Several measures share what they compute. Unknown names raise with the near miss.
    """
    place = plant.index("states", state)
    return lambda t, x, u, w, p: plant.derivative(t, x, u, w, p)[place]  # type: ignore[misc]


def output_of(plant: Plant, measurement: str) -> Signal:
    """Return a plant's output as a signal; unknown names raise with the near miss."""
    place = plant.index("measurements", measurement)
    return lambda t, x, u, w, p: plant.outputs(t, x, u, w, p)[place]


def rms(name: str, unit: str, signal: Signal, *, text: str = "", scale: float = 1.0) -> Measure:
    """Return the root mean square of a signal over the time of the rollout.

    Parameters
    ----------
    name, unit, text, scale
        As for :class:`plants.Measure`; the unit is the signal's.
    signal : callable
        ``(t, x, u, w, p)`` to one number; where the variation is meant, less its mean, as a load less the static one.
    """

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        value = signal(t, x, u, w, p)
        return (m[0] + h * (value * value),)

    return Measure(name, unit, update, root_mean, text, ("sum of squares",), scale=scale)


def root_mean(m: Any, time: Any) -> Any:
    """Return the square root of the last state over the time: the value of a root mean square."""
    return np.sqrt(m[-1] / time)


def peak(name: str, unit: str, signal: Signal, *, text: str = "", scale: float = 1.0) -> Measure:
    """Return the largest magnitude of a signal at the beginnings of the steps; parameters as for :func:`rms`."""

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        return (maximum(m[0], magnitude(signal(t, x, u, w, p))),)

    return Measure(name, unit, update, lambda m, time: m[0], text, ("largest",), scale=scale)  # noqa: ARG005


def share_beyond(name: str, signal: Signal, limit: float, *, text: str = "", scale: float = 0.01) -> Measure:
    """Return the share of the time for which the magnitude of a signal is beyond a limit, 0 to 1.

    Parameters
    ----------
    name, signal, text, scale
        As for :func:`rms`; a hundredth of the time counts as large.
    limit : float
        In the unit of the signal, not negative.
    """
    if not 0.0 <= limit < math.inf:
        raise ValueError(f"measure {name!r}: the limit must be finite and not negative, got {limit}")

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        return (m[0] + where(magnitude(signal(t, x, u, w, p)) - limit, h, 0.0),)

    return Measure(name, "1", update, lambda m, time: m[0] / time, text, ("time beyond",), scale=scale)
