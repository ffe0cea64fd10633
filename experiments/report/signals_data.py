"""Signals that a plant names, of one controller in one situation: over time and over frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.report.situations import Array


@dataclass(frozen=True, eq=False)
class SignalView:
    """One curve.

    Attributes
    ----------
    situation, controller : str
        Name and key.
    what : {"history", "spectrum"}
    name, unit : str
        Of the signal; the unit is that of the values.
    x, y : array [n]
        Time [s] or frequency [Hz], and values; those of a spectrum are above 0.
    """

    situation: str
    controller: str
    what: str
    name: str
    unit: str
    x: Array
    y: Array
