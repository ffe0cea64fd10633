"""What other gains would have asked of a loop that ran with its own: row by row from the output that was there.

    found = shadowed(log, (kp, ki, kd), limits=(0.0, 100.0))
    found.asked, found.travel, found.moved           # outputs it would have asked; sums of moves; share at a limit

The plant did not answer these moves, so that nothing follows for the error. What can be seen is how hard the new gains
would pull: every row they begin at the output that the loop had the row before, as a block in tracking does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sscq.identification.reading.log import Log

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shadow:
    """Moves that other gains would have made, beside those that were made, in rows where both are known.

    Attributes
    ----------
    rows : int
    asked : array [n]
        Output in its own unit; not a number in the first rows, in manual and where measured values are missing.
    travel, made : float
        Sums of the magnitudes of the moves [u].
    largest, largest_made : float
        Magnitude of the largest move [u].
    at_limit : float
        Share of the rows in which a limit would have stopped it.
    """

    rows: int
    asked: Array
    travel: float
    made: float
    largest: float
    largest_made: float
    at_limit: float


def shadowed(log: Log, gains: Sequence[float], limits: tuple[float, float] = (0.0, 100.0)) -> Shadow:
    """Return what gains (kp, ki, kd; parallel form, signed as the block's) would have asked along a log.

    Raises
    ------
    ValueError
        If no three measured rows in automatic follow one another.
    """
    kp, ki, kd = gains
    error, measured, u, h = log.set_point - log.measured, log.measured, log.output, log.step
    bend = measured[2:] - 2.0 * measured[1:-1] + measured[:-2]
    move = kp * (error[2:] - error[1:-1]) + ki * h * error[2:] - kd / h * bend
    automatic = np.ones(len(u), bool) if log.automatic is None else np.asarray(log.automatic, bool)
    known = np.isfinite(move) & automatic[2:] & automatic[1:-1] & automatic[:-2]
    if not known.any():
        raise ValueError("no three measured rows in automatic follow one another: there is nothing to shadow")
    asked = np.full(len(u), np.nan)
    asked[2:][known] = np.clip(u[1:-1] + move, *limits)[known]
    moves, made = np.abs(asked[2:] - u[1:-1])[known], np.abs(np.diff(u)[1:])[known]
    wanted = (u[1:-1] + move)[known]
    beyond = (wanted < limits[0]) | (wanted > limits[1])
    return Shadow(
        int(known.sum()),
        asked,
        float(moves.sum()),
        float(made.sum()),
        float(moves.max()),
        float(made.max()),
        float(beyond.mean()),
    )
