"""Measures of ride comfort: frequency-weighted accelerations of ISO 2631-1.

Source: ISO 2631-1:1997, 6.1 (weighted root mean square) and 6.3.2 (fourth power vibration dose).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.measures import Measure
from plants.core.naming import unknown
from plants.measures import root_mean
from plants.ride.sampled import sampled
from plants.ride.weightings import WEIGHTINGS, Weighting

if TYPE_CHECKING:
    from collections.abc import Callable

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
        For an unknown weighting; when compiled, for integration steps above 5 ms.
    """
    return _weighted(name, unit, signal, weighting, (lambda a: a * a, root_mean), text, scale)


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
    return _weighted(name, unit, signal, weighting, (_fourth_power, _fourth_root), text, scale)


def _fourth_power(value: Any) -> Any:
    square = value * value
    return square * square


def _fourth_root(m: Any, time: Any) -> Any:
    return np.sqrt(np.sqrt(m[-1]))


def _weighted(
    name: str,
    unit: str,
    signal: Signal,
    weighting: Weighting | str,
    norm: tuple[Callable[[Any], Any], Callable[[Any, Any], Any]],
    text: str,
    scale: float,
) -> Measure:
    """Filter, then sum a power of what comes out: two states of each section, and the sum."""
    chosen = _known(weighting)
    power, value = norm
    memory = tuple(f"section {k} {part}" for k in range(len(chosen.sections)) for part in ("near", "far"))

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        felt, states = signal(t, x, u, w, p), []
        for k, (b0, b1, b2, a1, a2) in enumerate(sampled(chosen, h)):
            out = b0 * felt + m[2 * k]  # direct form II, transposed
            states += [b1 * felt - a1 * out + m[2 * k + 1], b2 * felt - a2 * out]
            felt = out
        return (*states, m[-1] + h * power(felt))

    return Measure(name, unit, update, value, text, (*memory, "sum"), memory=memory, scale=scale)


def _known(weighting: Weighting | str) -> Weighting:
    if isinstance(weighting, Weighting):
        return weighting
    if weighting not in WEIGHTINGS:
        raise ValueError(unknown("weighting", weighting, tuple(WEIGHTINGS)))
    return WEIGHTINGS[weighting]
