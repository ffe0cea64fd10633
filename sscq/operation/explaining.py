"""Whether an estimate explains the window that it was made after: what the loop did against what it would have done.

Every part of the window is predicted from where it began, with the plant of one of these histories: the change came
evenly, or at once at the beginning of a part, but not within the last quarter, which nobody could tell from a wrong
estimate. Predictions differ among themselves by the noise alone; what was seen must not differ much more from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.loop.closed_loop import Snapshot
    from sscq.operation.running import PartRecord, RunningLoop

    Array = NDArray[np.float64]

_REPEATED = LANES // 3  # predictions of each plant, with noise of their own
_FLOOR = 0.01  # of a channel's scale: of loops without noise nobody knows the plant better
_LAST = 0.75  # of the window: a later jump is not looked for


def misfit(
    loop: RunningLoop,
    window: int,
    begin: Snapshot,
    theta: Array,
    records: Sequence[PartRecord],
    known: Mapping[str, float],
    estimate: Mapping[str, float],
    seed: int,
) -> float:
    """Return by what factor the outputs seen differ more from predictions than these among themselves.

    The least over the histories; about 1 where one is right.

    Parameters
    ----------
    begin : Snapshot
        Where the window began.
    records : sequence of PartRecord
        With their logs.
    known, estimate : mapping of parameter to value
        Of the same parameters: at the beginning, and at the end of the window.
    seed : int
        Of the predictions' noise.
    """
    n = len(records)
    starts = [begin, *(part.end for part in records[:-1])]
    away, spread = np.empty((n, 3)), np.empty((n, 3))
    for k, (start, part) in enumerate(zip(starts, records, strict=True)):
        plants = [known, estimate, _between(known, estimate, (k + 0.5) / n)]
        away[k], spread[k] = _compared(loop, (window, k), start, theta, part, plants, seed)
    jumps = [[0] * first + [1] * (n - first) for first in range(int(_LAST * n) + 1)]
    histories = [[2] * n, *jumps]
    rows = np.arange(n)
    return min(float(np.sqrt(away[rows, one].sum() / spread[rows, one].sum())) for one in histories)


def _between(known: Mapping[str, float], estimate: Mapping[str, float], share: float) -> dict[str, float]:
    return {name: known[name] + share * (value - known[name]) for name, value in estimate.items()}


def _compared(
    loop: RunningLoop,
    place: tuple[int, int],
    start: Snapshot,
    theta: Array,
    part: PartRecord,
    plants: Sequence[Mapping[str, float]],
    seed: int,
) -> tuple[Array, Array]:
    """Mean squares of a part on each plant [n]: of what was seen from predictions, of predictions from one another."""
    scales = np.array([channel.scale for channel in loop.programme.plant.channels])
    many = [plant for plant in plants for _ in range(_REPEATED)]
    seeds = [seed + 1 + k for k in range(_REPEATED)] * len(plants)
    found = loop.predicted(*place, start, theta, many, seeds) / scales
    found = found.reshape(len(plants), _REPEATED, *found.shape[1:])
    away = ((found - part.log["y"] / scales) ** 2).mean(axis=(1, 2, 3))
    among = ((found - np.roll(found, 1, axis=1)) ** 2).mean(axis=(1, 2, 3))
    return away, among + _FLOOR**2
