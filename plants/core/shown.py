"""Signals of a plant that are worth a chart over time, or over frequency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant, Quantity

_KINDS = ("measurements", "states", "inputs", "disturbances")


@dataclass(frozen=True)
class Shown:
    """One signal that reports draw beside outputs and commands.

    Attributes
    ----------
    signal : str
        Name of a measurement, state, input or disturbance.
    span : float
        Length of the piece that is drawn over time [s], where the first of the plant's signals varies most; infinite:
        all of the run; 0: no history.
    spectrum : float
        Highest frequency of its power spectral density [Hz]; 0: no spectrum.
    weighting : callable, optional
        ``frequency [n] -> complex [n]``: the spectrum is drawn as it is weighted, too, under `weighting_name`.
    weighting_name : str
        As "Wk of ISO 2631-1".
    """

    signal: str
    span: float = math.inf
    spectrum: float = 0.0
    weighting: Callable[[Any], Any] | None = None
    weighting_name: str = ""


def quantity(plant: Plant, name: str) -> tuple[str, Quantity]:
    """Return what a shown signal is called in a record, and its quantity."""
    from plants.core.naming import unknown

    for kind in _KINDS:
        for one in getattr(plant, kind):
            if one.name == name:
                return (f"output {name}" if kind == "measurements" else name), one
    names = [one.name for kind in _KINDS for one in getattr(plant, kind)]
    raise ValueError(unknown(f"signal of plant {plant.name!r} that could be shown:", name, names))


def check_shown(plant: Plant) -> None:
    """Raise where a plant names a signal that it has not, or ranges that cannot be drawn."""
    for one in plant.shown:
        quantity(plant, one.signal)
        what = f"plant {plant.name!r}: shown signal {one.signal!r}"
        if not one.span >= 0.0:
            raise ValueError(f"{what}: span must be 0 s or more, got {one.span}")
        if not 0.0 <= one.spectrum < math.inf:
            raise ValueError(f"{what}: spectrum must be a highest frequency in Hz, or 0 for none, got {one.spectrum}")
        if one.weighting is not None and not one.weighting_name:
            raise ValueError(f"{what}: say what its weighting is called, weighting_name='Wk of ISO 2631-1'")
