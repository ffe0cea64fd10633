"""Signs that a log is not what it seems: compressed by a historian, columns in each other's place, too coarse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

COMPRESSED, REFUSED = 0.5, 0.7
"""Shares of the rows that a historian has made up: above the one it is said, above the other nothing is identified."""

_HELD, _NOISY = 0.3, 0.05  # shares of repeated rows of what holds, and of what moves by noise
_COARSE = 3.0  # quanta of a usual jump: a sensor that only rounds moves by one or two
_ROUNDING = 1e-6  # of the range
_OFF_GRID = 0.05  # of a quantum
_FEWEST = 20


@dataclass(frozen=True)
class LogFinding:
    """What an engineer should know of a log.

    Attributes
    ----------
    severity : {"note", "warning", "refusal"}
    code : str
        A word that stays, for programs.
    text, advice : str
        A sentence each; the advice may be empty.
    """

    severity: str
    code: str
    text: str
    advice: str = ""


def findings(measured: Array, output: Array, limits: tuple[float, float]) -> Iterator[LogFinding]:
    """Yield what the columns of a log [n] show by themselves."""
    y, u = measured[np.isfinite(measured)], output[np.isfinite(measured)]
    if len(y) < _FEWEST or not np.ptp(y) > 0.0:
        return
    share = compressed_share(y)
    if share > COMPRESSED:
        severity = "refusal" if share > REFUSED else "warning"
        text = (
            f"{100.0 * share:.0f} % of the measured rows are made up by a historian's compression (repeated values and "
            "then jumps, or straight lines between points): identification would measure the compression"
        )
        yield LogFinding(severity, "compressed", text, "export raw values, or switch compression off for this tag")
        return  # what else such columns show is the historian's
    within = limits[0] <= y.min() and y.max() <= limits[1] and quantum(y) == 0.0
    if within and np.ptp(u) > 0.0 and _repeated(y) > _HELD and _repeated(u) < _NOISY:
        text = (
            "the measured value holds exactly and stays within the output's limits, while the output is noisy: are the "
            "two columns in each other's place?"
        )
        yield LogFinding("warning", "swapped", text, "check the columns' names")


def quantum(values: Array) -> float:
    """Return the distance of the grid that values [n] lie on, 0 where they lie on none.

    Values may have been rounded once more when they were printed: 0.3223 is now 0.32 and now 0.33.
    """
    levels = np.unique(values)
    room = _ROUNDING * float(np.ptp(values))
    apart = np.diff(levels)
    if not (apart > room).any() or len(levels) >= 0.5 * len(values):
        return 0.0
    places = np.append(0.0, np.cumsum(np.round(apart / float(apart[apart > room].min()))))  # from level to level
    grid = float(places @ (levels - levels[0]) / (places @ places))
    return grid if np.abs((levels - levels[0]) / grid - places).max() < _OFF_GRID else 0.0


def compressed_share(y: Array) -> float:
    """Return the share of rows that repeat the one before, or lie on a line through their neighbours.

    Repeated rows of a sensor that rounds are its own, unless what follows them jumps by more than it rounds.
    """
    room = _ROUNDING * float(np.ptp(y))
    moves = np.diff(y)
    jumps = np.abs(moves[np.abs(moves) > room])
    grid = quantum(y)
    rounded = grid > 0.0 and bool(len(jumps)) and float(np.median(jumps)) < _COARSE * grid
    repeated = 0.0 if rounded else _repeated(y)
    straight = (np.abs(np.diff(moves)) <= room) & (np.abs(moves[1:]) > room)
    return max(repeated, 0.0 if rounded else float(straight.mean()))


def _repeated(values: Array) -> float:
    return float((np.diff(values) == 0.0).mean())
