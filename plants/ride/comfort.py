"""Measures of ride comfort: frequency-weighted accelerations of ISO 2631-1.

Source: ISO 2631-1:1997, 6.1 (weighted root mean square), 6.3.2 (fourth power vibration dose), 6.5 (total value).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.measures import Measure
from plants.core.names import unknown
from plants.measures import root_mean
from plants.ride.weightings import WEIGHTINGS, Weighting, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.ride.weightings import Sampled

    Signal = Callable[..., Any]

A_LITTLE = 0.315  # m/s^2: from here on the standard calls it a little uncomfortable (annex C.2.3)


def weighted_rms(
    name: str,
    signal: Signal,
    weighting: Weighting | str = "Wk",
    *,
    unit: str = "m/s^2",
    text: str = "",
    scale: float = A_LITTLE,
) -> Measure:
    """Return the frequency-weighted root mean square of an acceleration.

    Up to 0.315 m/s^2 is not uncomfortable, 0.5 to 1 fairly and beyond 2 extremely so (annex C.2.3).

    Parameters
    ----------
    name, unit, text, scale
        As for :class:`plants.Measure`.
    signal : callable
        ``(t, x, u, w, p)`` to an acceleration [m/s^2, or rad/s^2 for rotations].
    weighting : Weighting or str
        "Wk": vertical, "Wd": horizontal, "We": rotational.

    Raises
    ------
    ValueError
        For an unknown weighting; when compiled, for integration steps above 50 ms (better 2 ms or less).
    """
    return vibration_total(name, ((signal, weighting, 1.0),), unit=unit, text=text, scale=scale)


def vibration_total(
    name: str,
    parts: Sequence[tuple[Signal, Weighting | str, float]],
    *,
    unit: str = "m/s^2",
    text: str = "",
    scale: float = A_LITTLE,
) -> Measure:
    """Return the vibration total value: root of the sum of squares of weighted accelerations times their factors.

    Parameters
    ----------
    parts : sequence of (signal, weighting, factor)
        On the seat of a sitting person the factor is 1 for accelerations along the axes, and for rotational ones 0.63 m
        (roll), 0.4 m (pitch) and 0.2 m (yaw) (8.2.2.1).
    name, unit, text, scale
        As for :func:`weighted_rms`.
    """
    return _weighted(name, unit, parts, (_square, root_mean), text, scale)


def vibration_dose(
    name: str,
    signal: Signal,
    weighting: Weighting | str = "Wk",
    *,
    unit: str = "m/s^1.75",
    text: str = "",
    scale: float = 1.0,
) -> Measure:
    """Return the fourth power vibration dose, which weighs shocks more; parameters as for :func:`weighted_rms`."""
    return _weighted(name, unit, ((signal, weighting, 1.0),), (_fourth_power, _fourth_root), text, scale)


def _square(value: Any) -> Any:
    return value * value


def _fourth_power(value: Any) -> Any:
    return _square(_square(value))


def _fourth_root(m: Any, time: Any) -> Any:
    """A dose grows with the time: no mean."""
    return np.sqrt(np.sqrt(m[-1]))


def _weighted(
    name: str,
    unit: str,
    parts: Sequence[tuple[Signal, Weighting | str, float]],
    norm: tuple[Callable[[Any], Any], Callable[[Any, Any], Any]],
    text: str,
    scale: float,
) -> Measure:
    """Filter each part, then sum a power of what comes out: two states of each section, and the sum."""
    chosen = [(signal, _known(weighting), factor) for signal, weighting, factor in parts]
    power, value = norm
    memory = tuple(
        f"part {i} section {k} {place}"
        for i, (_, weighting, _) in enumerate(chosen)
        for k in range(len(weighting.sections))
        for place in ("near", "far")
    )

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        states: list[Any] = []
        total = m[-1]
        for signal, weighting, factor in chosen:
            old = m[len(states) : len(states) + 2 * len(weighting.sections)]
            felt, new = _filtered(signal(t, x, u, w, p), old, sampled(weighting, h))
            states += new
            total = total + (h * factor * factor) * power(felt)
        return (*states, total)

    return Measure(name, unit, update, value, text, (*memory, "sum"), memory=memory, scale=scale)


def _filtered(value: Any, states: Sequence[Any], sections: Sequence[Sampled]) -> tuple[Any, list[Any]]:
    """Return what comes out of the sections now, and their new states: direct form II, transposed."""
    new: list[Any] = []
    for k, (b0, b1, b2, a1, a2) in enumerate(sections):
        out = b0 * value + states[2 * k]
        new += [b1 * value - a1 * out + states[2 * k + 1], b2 * value - a2 * out]
        value = out
    return value, new


def _known(weighting: Weighting | str) -> Weighting:
    if isinstance(weighting, Weighting):
        return weighting
    if weighting not in WEIGHTINGS:
        raise ValueError(unknown("weighting", weighting, tuple(WEIGHTINGS)))
    return WEIGHTINGS[weighting]
