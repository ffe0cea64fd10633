"""The same loops as maps from sample to sample: delay, hold, filter and differences as they are simulated, exactly.

Source: K. J. Astrom and B. Wittenmark, Computer-Controlled Systems, 3rd ed. (Prentice Hall, 1997), sec. 2.3 (delay).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from sscq.affine_loop import AffineLoop, Assembly, Path, Point, integral
from sscq.held_input import integral_of_exponential

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROUNDING = 1e-9


def slots(delay: float, sample_time: float) -> int:
    """Return how many past commands a delay needs."""
    whole, late = _split(delay, sample_time)
    return whole + (late > 0.0)


def from_sample_to_sample(point: Point, n_gains: int, sample_time: float, past: int) -> AffineLoop:
    """Close all loops of a point with laws that act every `sample_time` [s].

    Parameters
    ----------
    point : Point
    n_gains : int
    sample_time : float
        h [s].
    past : int
        Past commands to keep for each channel: :func:`slots` of the longest delay in the family, so that all its
        members have the same states.
    """
    commands = [_command(p, k) for p in point.paths for k in range(1, past + 1)]
    memories = [name for p in point.paths for name in _memories(p)]
    sums = [integral(p) for p in point.paths if "ki" in p.gains]
    build = Assembly([*point.states, *commands, *memories, *sums], n_gains)
    n = len(point.states)
    whole, late = _split(point.delay, sample_time)
    build.constant[:n, :n] = expm(point.A * sample_time)
    rest = integral_of_exponential(point.A, sample_time - late)
    now = rest @ point.B
    before = (np.eye(n) + point.A @ rest) @ (integral_of_exponential(point.A, late) @ point.B)
    for k, path in enumerate(point.paths):
        y = build.wide(path.c)
        into = np.zeros(len(build.states))
        for ago, column in ((whole, now[:, k]), (whole + 1, before[:, k])):
            if ago == 0:
                into = into + build.wide(column)
            elif column.any():
                build.feed(build.wide(column), build.unit(_command(path, ago)))
        for ago in range(2, past + 1):
            build.feed(build.unit(_command(path, ago)), build.unit(_command(path, ago - 1)))
        if past:
            into = into + build.unit(_command(path, 1))
        build.command(into, path, y, _rate(build, path, y, sample_time))
        if "ki" in path.gains:
            state = build.unit(integral(path))
            build.feed(state, state)
            build.feed(state, y, path.gains["ki"], -path.sense * sample_time)
    return build.done(point.name)


def _command(path: Path, ago: int) -> str:
    return f"command {path.output} {ago} ago"


def _memories(path: Path) -> list[str]:
    """States of the derivative term: the output before where it is differenced, the filtered rate with a filter."""
    if "kd" not in path.gains:
        return []
    names = [f"last {path.output}"] if path.c_rate is None else []
    return names + ([f"filter {path.output}"] if path.filter_time > 0.0 else [])


def _rate(build: Assembly, path: Path, y: Array, sample_time: float) -> Array | None:
    """Row of the rate that the derivative term sees; the equations of its memories are added."""
    if "kd" not in path.gains:
        return None
    if path.c_rate is None:
        last = build.unit(f"last {path.output}")
        build.feed(last, y)
        raw = (y - last) / sample_time
    else:
        raw = build.wide(path.c_rate)
    if path.filter_time == 0.0:
        return raw
    share = sample_time / path.filter_time
    state = build.unit(f"filter {path.output}")
    row = (1.0 - share) * state + share * raw
    build.feed(state, row)
    return row


def _split(delay: float, sample_time: float) -> tuple[int, float]:
    """Whole samples of a delay, and the rest [s]."""
    whole = math.floor(delay / sample_time + _ROUNDING)
    late = delay - whole * sample_time
    return whole, late if late > _ROUNDING * sample_time else 0.0
