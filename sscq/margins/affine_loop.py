"""All loops of a plant closed about an operating point: a matrix that is affine in the gains, A(K) = A0 + sum K_g A_g.

The state holds the integral action itself, w' = ki e, not the integral of e: so does the law, and only so is A(K(t))
the matrix of the loop while the gains move (with z' = e the law would be u = ki z, and a change of ki a jump of u).
No other state depends on a gain either: the derivative filter's is the filtered output or its rate.

A(K) is affine as long as no gain meets a gain: the measurements must not depend on the input at once, nor, where an
unfiltered derivative is differentiated in continuous time, may their rates. A loop that is not of this kind is
refused.

The same loops are given as maps from sample to sample: delay, hold, filter and differences as they are simulated,
exactly. Source: K. J. Astrom and B. Wittenmark, Computer-Controlled Systems, 3rd ed. (Prentice Hall, 1997), sec. 2.3
(delay).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from sscq.margins.hold import hold_late_inputs, split_delay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Path:
    """One channel of a plant as its law sees it.

    Attributes
    ----------
    output : str
    c : array [n_x]
    c_rate : array [n_x] or None
        None: the law differentiates the output itself.
    gains : mapping of "kp", "ki", "kd" to places among all gains
        Gains that are 0 in all gain sets are left out, with the states that they alone need.
    sense : float
        -1 for a law of reverse action.
    filter_time : float
        tau_f [s]; 0: none.
    """

    output: str
    c: Array
    c_rate: Array | None
    gains: dict[str, int]
    sense: float = 1.0
    filter_time: float = 0.0


@dataclass(frozen=True, eq=False)
class LinearPoint:
    """A plant, linear about an operating point: x' = A x + B u(t - delay), one column of B for each channel's command.

    Attributes
    ----------
    name : str
    A, B : arrays [n_x, n_x], [n_x, n_channels]
    paths : tuple of Path
    delay : float
        Of plant and loop together, the same for all channels [s].
    states : tuple of str
    """

    name: str
    A: Array
    B: Array
    paths: tuple[Path, ...]
    delay: float
    states: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AffineLoop:
    """Closed-loop matrices of one operating point.

    Attributes
    ----------
    name : str
    constant : array [n, n]
    slopes : array [n_gains, n, n]
    states : tuple of str [n]
    """

    name: str
    constant: Array
    slopes: Array
    states: tuple[str, ...]

    def at(self, gains: ArrayLike) -> Array:
        """Return the matrices [..., n, n] of gain sets [..., n_gains]."""
        return self.constant + np.tensordot(np.asarray(gains, float), self.slopes, axes=1)


class Assembly:
    """The matrix as it grows, equation by equation."""

    def __init__(self, states: Sequence[str], n_gains: int) -> None:
        self.states = tuple(states)
        self.constant = np.zeros((len(states), len(states)))
        self.slopes = np.zeros((n_gains, len(states), len(states)))

    def unit(self, state: str) -> Array:
        """Return the row of one state."""
        return np.eye(len(self.states))[self.states.index(state)]

    def wide(self, row: Array) -> Array:
        """Return a row of the plant's states, which come first, as one of all states."""
        return np.concatenate([row, np.zeros(len(self.states) - len(row))])

    def feed(self, column: Array, row: Array, gain: int | None = None, factor: float = 1.0) -> None:
        """Add `factor` times `row` of the states, times a gain where one is named, to the states in `column`."""
        target = self.constant if gain is None else self.slopes[gain]
        target += factor * np.outer(column, row)

    def command(self, column: Array, path: Path, y: Array, rate: Array | None) -> None:
        """Add a channel's command w - sense (kp y + kd rate) to the states in `column`."""
        if "ki" in path.gains:
            self.feed(column, self.unit(integral(path)))
        if "kp" in path.gains:
            self.feed(column, y, path.gains["kp"], -path.sense)
        if "kd" in path.gains and rate is not None:
            self.feed(column, rate, path.gains["kd"], -path.sense)

    def done(self, name: str) -> AffineLoop:
        """Return the matrix."""
        return AffineLoop(name, self.constant, self.slopes, self.states)


def integral(path: Path) -> str:
    """Return the name of a channel's integral action."""
    return f"integral action {path.output}"


def in_continuous_time(point: LinearPoint, n_gains: int) -> AffineLoop:
    """Close all loops of a point in continuous time; a delay is replaced by its Pade approximation of order 2.

    Raises
    ------
    ValueError
        Where an unfiltered derivative would depend on the command at once.
    """
    late = [f"delay {k} {p.output}" for p in point.paths for k in (1, 2)] if point.delay else []
    filters = [f"filter {p.output}" for p in point.paths if _filtered(p)]
    sums = [integral(p) for p in point.paths if "ki" in p.gains]
    build = Assembly([*point.states, *late, *filters, *sums], n_gains)
    n = len(point.states)
    build.constant[:n, :n] = point.A
    for k, path in enumerate(point.paths):
        y = build.wide(path.c)
        rate = _rate(build, point, path)
        into = build.wide(point.B[:, k])
        if point.delay:
            into = _pade(build, into, path, point.delay)
        build.command(into, path, y, rate)
        if "ki" in path.gains:
            build.feed(build.unit(integral(path)), y, path.gains["ki"], -path.sense)
    return build.done(point.name)


def _filtered(path: Path) -> bool:
    return path.filter_time > 0.0 and "kd" in path.gains


def _rate(build: Assembly, point: LinearPoint, path: Path) -> Array | None:
    """Row of the rate that the derivative term sees; its filter's equation is added."""
    if "kd" not in path.gains:
        return None
    measured = None if path.c_rate is None else build.wide(path.c_rate)
    if path.filter_time > 0.0:
        state = build.unit(f"filter {path.output}")
        source = build.wide(path.c) if measured is None else measured
        row = (source - state) / path.filter_time
        build.feed(state, row)
        return row if measured is None else state
    if measured is None and np.abs(path.c @ point.B).max() > 1e-12 * np.linalg.norm(path.c) * np.linalg.norm(point.B):
        raise ValueError(
            f"the unfiltered derivative of {path.output!r} depends on the command at once, so the closed loop is not "
            "affine in the gains; use a law with derivative_filter_time > 0, or certify the sampled loop (sampled=True)"
        )
    return build.wide(path.c @ point.A) if measured is None else measured


def _pade(build: Assembly, into: Array, path: Path, delay: float) -> Array:
    """Let the command act late: (s^2 - 6 s + 12) / (s^2 + 6 s + 12) in units of the delay. Return what it feeds."""
    first, second = (build.unit(f"delay {k} {path.output}") for k in (1, 2))
    build.feed(first, second, factor=1.0 / delay)
    build.feed(second, -12.0 * first - 6.0 * second, factor=1.0 / delay)
    build.feed(into, -12.0 * second)
    return into + second / delay


def slots(delay: float, sample_time: float) -> int:
    """Return how many past commands a delay needs."""
    whole, late = split_delay(delay, sample_time)
    return whole + (late > 0.0)


def from_sample_to_sample(point: LinearPoint, n_gains: int, sample_time: float, past: int) -> AffineLoop:
    """Close all loops of a point with laws that act every `sample_time` [s].

    Parameters
    ----------
    point : LinearPoint
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
    build.constant[:n, :n] = scipy.linalg.expm(point.A * sample_time)
    now, before, whole = hold_late_inputs(point.A, point.B, sample_time, point.delay)
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
        build.command(into, path, y, _rate_between_samples(build, path, y, sample_time))
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


def _rate_between_samples(build: Assembly, path: Path, y: Array, sample_time: float) -> Array | None:
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
