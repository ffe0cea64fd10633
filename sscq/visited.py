"""Where a closed loop has been: errors, their rates and integrals, and plant outputs, at the ticks of a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.evaluate import Recorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.situation import Situation

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Visited:
    """What was met; what follows a divergence is left out.

    Attributes
    ----------
    own : array [n, n_channels, 3]
        Error, error rate as the law filters it, and the integral of the error up to the tick.
    outputs : array [n, n_y]
        All outputs of the plant, without noise.
    situation : array [n]
        Number of the situation of each row.
    """

    own: Array
    outputs: Array
    situation: NDArray[np.int64]


def visited(
    plant: Plant,
    controller: Any,
    theta: Any,
    situations: Sequence[Situation],
    step: float,
    tick: float,
    *,
    count: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Visited:
    """Return where a controller takes the plant.

    Parameters
    ----------
    plant, controller, situations, step
        As for a closed loop.
    theta : array [n_theta]
    tick : float
        [s], a multiple of the step.
    count : int, optional
        Only so many situations are run, the first ones; the others say what is compiled in. Left out: all.
    options : mapping, optional
        Integrator and loop mode.
    """
    recorder = Recorder(plant, controller, situations, step, **dict(options or {}))
    every = max(1, round(tick / step))
    found = {}
    for number, run in recorder.several(theta, range(len(situations) if count is None else count)):
        seen = run.group("signals")[:-1:every, : 2 * len(plant.channels)]
        outputs = run.group("outputs")[:-1:every]
        good = np.isfinite(seen).all(axis=1) & np.isfinite(outputs).all(axis=1)
        own = seen[good].reshape(int(good.sum()), -1, 2)
        integral = tick * (np.cumsum(own[..., :1], axis=0) - own[..., :1])
        found[number] = np.concatenate([own, integral], axis=-1), outputs[good], np.full(len(own), number)
    parts = [np.concatenate(part) for part in zip(*(found[number] for number in sorted(found)), strict=True)]
    return Visited(*parts)
