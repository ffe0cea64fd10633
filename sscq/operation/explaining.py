"""Whether an estimate explains the window that it was made after: what the loop did against what it would have done.

Every part of the window is predicted from where it began, with the plant of one of these histories: the change came
evenly, in a part, or at once at the beginning of one, but not within the last quarter, which nobody could tell from a
wrong estimate. Predictions differ among themselves by the noise, and by what the estimate leaves open; what was seen
must not differ much more from them. A wrong plant may swing, and its predictions differ by so much that they explain
anything: so they must not be much farther from what was seen than those of the plant as it was known, either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.loop.closed_loop import Snapshot
    from sscq.operation.estimate import PlantEstimate
    from sscq.operation.running import PartRecord, RunningLoop

    Array = NDArray[np.float64]

_PREDICTED = LANES // 4  # members of each history, with noise of their own
_FLOOR = 0.01  # of a channel's scale: of loops without noise nobody knows the plant better
_LAST = 0.75  # of the window: a later jump is not looked for


def misfit(
    loop: RunningLoop,
    window: int,
    begin: Snapshot,
    theta: Array,
    records: Sequence[PartRecord],
    known: Mapping[str, float],
    estimate: PlantEstimate,
    seed: int,
) -> float:
    """Return by what factor the outputs seen differ more from predictions than these among themselves.

    Or more than from those of an unchanged plant, where that is more. The least over the histories; about 1 where one
    is right.

    Parameters
    ----------
    begin : Snapshot
        Where the window began.
    records : sequence of PartRecord
        With their logs.
    known : mapping of parameter to value
        At the beginning; as uncertain as the estimate.
    estimate : PlantEstimate
        At the end.
    seed : int
        Of the predictions' noise.
    """
    n, members, middle = len(records), estimate.some(_PREDICTED), estimate.middle
    before = [{name: known[name] * one[name] / middle[name] for name in one} for one in members]
    starts = [begin, *(part.end for part in records[:-1])]
    away, spread = np.empty((n, 4)), np.empty((n, 4))
    for k, (start, part) in enumerate(zip(starts, records, strict=True)):
        ways = [
            [_between(*pair, share) for pair in zip(before, members, strict=True)] for share in ((k + 0.5) / n, 0.5)
        ]
        plants = [*before, *members, *ways[0], *ways[1]]
        away[k], spread[k] = _compared(loop, (window, k), start, theta, part, plants, seed)
    latest = int(_LAST * n)
    jumps = [[0] * first + [1] * (n - first) for first in range(latest + 1)]
    ramps = [[0] * first + [3] + [1] * (n - first - 1) for first in range(latest)]
    histories = [[2] * n, *jumps, *ramps]
    rows, unchanged = np.arange(n), float(away[:, 0].sum())

    def factor(one: list[int]) -> float:
        seen = float(away[rows, one].sum())
        return float(np.sqrt(seen / min(float(spread[rows, one].sum()), unchanged + n * _FLOOR**2)))

    return min(map(factor, histories))


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
    """Mean squares of a part for each history [n]: of what was seen from predictions, of these from one another."""
    scales = np.array([channel.scale for channel in loop.programme.plant.channels])
    several = len(plants) // _PREDICTED
    seeds = [seed + 1 + k for k in range(_PREDICTED)] * several
    found = loop.predicted(*place, start, theta, plants, seeds) / scales
    found = found.reshape(several, _PREDICTED, *found.shape[1:])
    away = ((found - part.log["y"] / scales) ** 2).mean(axis=(1, 2, 3))
    among = ((found - np.roll(found, 1, axis=1)) ** 2).mean(axis=(1, 2, 3))
    return away, among + _FLOOR**2
