"""One channel of a linear plant while the other channels are closed by their laws.

The others are closed in continuous time, without the hold of their samples: exact as their sample time goes to zero.
The channel itself keeps its exact sampled loop. This is for designs, in which the others stand still while one channel
is looked at; :mod:`sscq.coupled_margins` judges all of them exactly, for any gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sscq.linear_loop import LinearPlant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from plants.core.linearise import LinearModel
    from sscq.loop_spec import LoopSpec

    Array = NDArray[np.float64]

_NOTHING = 1e-12


def one_channel(spec: LoopSpec, model: LinearModel, channel: int, others: ArrayLike | None, name: str) -> LinearPlant:
    """Return what a channel's law sees of a plant.

    Parameters
    ----------
    spec : LoopSpec
        Plant and laws.
    model : LinearModel
        Of the plant with its commands as inputs, at an operating point.
    channel : int
        The one that stays open.
    others : array [n_channels, 3] or None
        kp, ki, kd of all channels (the open one's are not read); None: the other commands stand still.
    name : str
        Of the operating point.

    Raises
    ------
    ValueError
        Where another channel cannot be closed: its derivative term would need a command at once, or there is dead time.
    """
    rows = [_rows(spec, model, i) for i in range(len(spec.laws))]
    A, B = model.A, model.B
    if others is not None:
        for other, gains in enumerate(np.asarray(others, dtype=float)):
            if other != channel and gains.any():
                A, B = _closed(spec, A, B, rows[other], other, gains, model.delay)
    wide = [None if row is None else np.concatenate([row, np.zeros(len(A) - len(row))]) for row in rows[channel]]
    return LinearPlant(A, B[:, channel], wide[0], wide[1], model.delay, name)  # type: ignore[arg-type]


def _rows(spec: LoopSpec, model: LinearModel, i: int) -> tuple[Array, Array | None]:
    """Rows of a channel's output and, where its law reads one, of the measured rate."""
    channel = spec.plant.channels[i]
    rate = model.row(channel.rate) if channel.rate is not None and spec.measures_rate(i) else None
    return model.row(channel.output), rate


def _closed(
    spec: LoopSpec, A: Array, B: Array, rows: tuple[Array, Array | None], i: int, gains: Array, delay: float
) -> tuple[Array, Array]:
    """Close channel `i`: one state more for its integral, and one for the filter of its derivative term."""
    law = spec.laws[i]
    name = spec.plant.channels[i].output
    if delay > 0.0:
        raise ValueError(f"channel {name!r} cannot be closed in continuous time: the plant has dead time")
    n, tau = len(A), getattr(law, "derivative_filter_time", 0.0)
    sense = 1.0 if getattr(law, "action", "direct") == "direct" else -1.0
    c = np.concatenate([rows[0], np.zeros(n - len(rows[0]))])
    rate = c @ A if rows[1] is None else np.concatenate([rows[1], np.zeros(n - len(rows[1]))])
    if rows[1] is None and gains[2] and np.abs(c @ B).max() > _NOTHING * np.abs(c).max() * np.abs(B).max():
        raise ValueError(f"channel {name!r} cannot be closed: a command acts on the rate of its output at once")
    extra = 2 if tau else 1
    wide = np.zeros((n + extra, n + extra))
    wide[:n, :n] = A
    wide[n, :n] = -sense * gains[1] * c
    command = np.zeros(n + extra)
    command[:n] = -sense * gains[0] * c
    command[n] = 1.0
    if tau:
        wide[n + 1, :n], wide[n + 1, n + 1] = rate / tau, -1.0 / tau
        command[n + 1] = -sense * gains[2]
    else:
        command[:n] -= sense * gains[2] * rate
    inputs = np.vstack([B, np.zeros((extra, B.shape[1]))])
    return wide + np.outer(inputs[:, i], command), inputs
