"""Stability margins of many PID gain sets at many operating points, fast enough to be a constraint of a search.

    responses = loop_responses(plants, loop, low, high)         # once per search
    penalty(gains, responses, MarginLimits(1.8, 0.05))          # gains [..., 3] -> [...], 0 where all limits are kept
    loop_margins(gains, responses).worst()                      # what a report prints

Margins belong to gains that stand still: they say nothing about how fast a schedule may move them. The set of
stabilising gains is not convex, so of a schedule many gains between its rules are asked, not the rules alone
(:mod:`sscq.margins.scheduled_gains`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.settings import check, setting
from plants.core.kernel.run import call_in_chunks, thread_count
from sscq.margins import kernel, screen
from sscq.margins.sampled_loop import spectral_radius

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.margins.frequency_response import LoopResponse

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Worst:
    """One margin's worst value and where it is."""

    value: float
    operating_point: str
    gain_set: int


@dataclass(frozen=True)
class Margins:
    """Worst margins over gain sets and operating points; attributes as in LoopMargins."""

    stable: bool
    growth: Worst
    sensitivity: Worst
    complementary: Worst
    gain_margin: Worst
    gain_reduction: Worst
    phase_margin: Worst
    delay_margin: Worst

    def __str__(self) -> str:
        """Print a line for each margin."""
        lines = ["stable at every operating point" if self.stable else "UNSTABLE"]
        for key in [f.name for f in fields(self)][1:]:
            worst: Worst = getattr(self, key)
            lines.append(f"{key:<16}{worst.value:>12.4g} {_UNITS.get(key, ''):<4} at {worst.operating_point}")
        return "\n".join(lines)


_UNITS = {"growth": "1/s", "phase_margin": "rad", "delay_margin": "s"}


@dataclass(frozen=True)
class LoopMargins:
    """Margins of each gain set at each operating point: arrays [gain_set, operating_point].

    Attributes
    ----------
    names : tuple of str
        Operating points.
    stable : array of bool
        All eigenvalues of the closed loop are inside the unit circle.
    growth : array
        How fast an unstable loop grows [1/s], most often to 20 %, surely to the spacing of the prepared circles (a
        factor of about two; below the slowest of them: half its rate); 0 for a stable one, infinite for gains that
        are not finite. :func:`sscq.margins.sampled_loop.spectral_radius` gives e^(growth h) exactly.
    sensitivity, complementary : array
        Maxima over frequency of |1 / (1 + L)| and |L / (1 + L)|; infinite if unstable.
    gain_margin, gain_reduction : array
        Factor above 1 by which all three gains may be multiplied, or divided, before the loop becomes unstable;
        infinite where it may be any, 0 if unstable. An open-loop unstable plant has a finite reduction.
    phase_margin : array
        Least angle between L and -1 on the unit circle, to either side [rad]; infinite without a crossover, 0 if
        unstable.
    delay_margin : array
        Least lag T of e^(-j w T) that makes the loop unstable, over all crossovers [s]; infinite without a crossover.
        Exact where it is a whole number of samples; in between, samples see a little more or less than the pure lag.
    """

    names: tuple[str, ...]
    stable: NDArray[np.bool_]
    growth: Array
    sensitivity: Array
    complementary: Array
    gain_margin: Array
    gain_reduction: Array
    phase_margin: Array
    delay_margin: Array

    def worst(self) -> Margins:
        """Return the worst of each margin, with its operating point and gain set."""
        found = {}
        for key in [f.name for f in fields(self)][2:]:
            values = getattr(self, key)
            bad = values.argmax() if key in {"growth", "sensitivity", "complementary"} else values.argmin()
            row, column = np.unravel_index(bad, values.shape)
            found[key] = Worst(float(values[row, column]), self.names[column], int(row))
        return Margins(stable=bool(self.stable.all()), **found)


_HUGE = 1e100  # gains beyond are no numbers: their squares would overflow
_ROUNDING = 1e-12  # of an eigenvalue: a mode at rest is not stable
_BLOCK, _BLOCKS = 128, 8  # gain sets that are looked at together, and such blocks in one call of a thread


@dataclass(frozen=True)
class MarginLimits:
    """What the frozen loops of a controller must keep about the points of rest.

    No limit on the gain margin is needed: a maximum sensitivity Ms bounds it by Ms / (Ms - 1), and the phase margin by
    2 asin(1 / (2 Ms)) (Astrom and Hagglund, Advanced PID Control, sec. 4.6).

    Raises
    ------
    ValueError
        For a limit outside its range.
    """

    sensitivity: float = setting(2.0, "largest maximum sensitivity Ms", above=1)
    delay_margin: float = setting(0.0, "smallest delay margin at the operating points", unit="s", low=0)
    transient: float = setting(
        2.6, "largest Ms of gains that a schedule only passes through; counts where it is above that at rest", above=1
    )

    def __post_init__(self) -> None:
        """Check."""
        check(self, "margins")

    @cached_property
    def in_passing(self) -> MarginLimits:
        """The limits of gains that do not stand: a wider one on Ms, none on the delay margin."""
        return MarginLimits(max(self.sensitivity, self.transient))

    def tightened(self, share: float) -> MarginLimits:
        """Return limits that are tighter by a share of them (looser where it is negative)."""
        at_rest, passing = (1.0 + (ms - 1.0) * (1.0 - share) for ms in (self.sensitivity, self.transient))
        return MarginLimits(at_rest, self.delay_margin * (1.0 + share), passing)


def loop_margins(gains: ArrayLike, responses: Sequence[LoopResponse]) -> LoopMargins:
    """Compute all margins of gain sets.

    Parameters
    ----------
    gains : array [gain_set, 3] or [3]
        kp, ki, kd.
    responses : sequence of LoopResponse
        From :func:`loop_responses`.
    """
    table = _table(np.atleast_2d(check_gains(gains, 3)), responses)
    values = {key: np.ascontiguousarray(table[:, :, i].T) for i, key in enumerate(kernel.COLUMNS)}
    verdict = values.pop("verdict")
    return LoopMargins(tuple(r.name for r in responses), verdict == kernel.STABLE, **values)


def limited_margins(gains: ArrayLike, responses: Sequence[LoopResponse], *, delays: bool = True) -> Array:
    """Return what limits are put on, of gain sets [operating_point, gain_set, 3], each point's own.

    Parameters
    ----------
    gains, responses
    delays : bool
        False: delay margins, which are limited at rest alone, are not computed, and 0.

    Returns
    -------
    array [3, operating_point, gain_set]
        1 where the loop is stable, else 0; maximum sensitivity, delay margin [s].
    """
    pairs, level = zip(check_gains(gains, 3), responses, strict=True), kernel.DELAY if delays else kernel.SENSITIVITY
    table = np.concatenate([_table(rows, [response], level) for rows, response in pairs])
    return np.stack([table[..., 0] == kernel.STABLE, table[..., 2], table[..., 7]])


def penalty(gains: ArrayLike, responses: Sequence[LoopResponse], limits: MarginLimits, threads: int | None = 1) -> Any:
    """Return by how much gain sets violate the limits, summed over operating points: finite and graded everywhere.

    A stable loop pays max(0, 1 - limit / Ms) + max(0, 1 - delay margin / limit): the relative violation to first order,
    and 2 at the boundary of stability. An unstable one pays 2 + g / (g + w), with its growth rate g and the loop's own
    rate w: less than 3.

    Parameters
    ----------
    gains : array [..., 3]
        kp, ki, kd; sets that are not finite pay 3 at each point.
    responses : sequence of LoopResponse
    limits : MarginLimits
    threads : int, optional
        None: all processors. The result does not depend on it.

    Returns
    -------
    array [...]
        Between 0 and 3 times the number of operating points.
    """
    gains = check_gains(gains, 3)
    rows = np.require(gains.reshape(-1, 3), requirements=["C", "W"])  # one compilation for all
    paid = np.zeros(len(rows))
    quick = bool(responses) and limits.delay_margin <= 0.0  # a quick look tells no delay margin
    table = _screened(responses) if quick else None

    def pay(first: int, last: int) -> None:
        part = slice(first * _BLOCK, last * _BLOCK)
        sure = _surely_kept(rows[part], table, limits)
        # In their order: sums of the same numbers in the same order.
        for number in range(len(responses)) if sure is None else np.flatnonzero(~sure.all(axis=1)).tolist():
            unsure = slice(None) if sure is None else np.flatnonzero(~sure[number])
            paid[part][unsure] += _paid(rows[part][unsure], responses[number], limits)

    call_in_chunks(pay, -(-len(rows) // _BLOCK), _BLOCKS, thread_count(threads))
    return paid.reshape(gains.shape[:-1])


def penalty_of_each(
    gains: ArrayLike, responses: Sequence[LoopResponse], limits: MarginLimits, threads: int | None = 1
) -> Array:
    """Return what gain sets pay where each operating point has its own.

    Parameters
    ----------
    gains : array [n_responses, n, 3]
        kp, ki, kd of each point; sets that are not finite pay 3.
    responses, limits, threads
        As for :func:`penalty`.

    Returns
    -------
    array [n_responses, n]
        Between 0 and 3, the same to the bit as `penalty` of each point alone.
    """
    rows = np.require(check_gains(gains, 3), requirements=["C", "W"])
    paid = np.zeros(rows.shape[:2])
    sure = _surely_kept(rows, _screened(responses) if limits.delay_margin <= 0.0 else None, limits)
    unsure = np.ones(paid.shape, bool) if sure is None else ~sure

    def pay(first: int, last: int) -> None:
        for number in range(first, last):
            if unsure[number].any():
                paid[number][unsure[number]] = _paid(rows[number][unsure[number]], responses[number], limits)

    call_in_chunks(pay, len(responses), 1, thread_count(threads))
    return paid


def _surely_kept(rows: Array, table: screen.Screened | None, limits: MarginLimits) -> NDArray[np.bool_] | None:
    """Gain sets [response, gain_set] that pay nothing there, as far as a quick look tells; None: it tells nothing."""
    if table is None:
        return None
    return table.kept(rows, asked_of_kernel(limits)[1]) & (np.abs(rows) < _HUGE).all(axis=-1)


_TABLES: dict[tuple[int, ...], tuple[Sequence[LoopResponse], screen.Screened]] = {}
_KEPT_TABLES = 64  # a design asks the same few selections of responses again and again


def _screened(responses: Sequence[LoopResponse]) -> screen.Screened:
    """The table of these responses, made once; the responses are kept with it, so that no other has their names."""
    name = tuple(map(id, responses))
    found = _TABLES.pop(name, None) or (tuple(responses), screen.Screened.of(responses))
    _TABLES[name] = found  # last: used last
    while len(_TABLES) > _KEPT_TABLES:
        _TABLES.pop(next(iter(_TABLES)), None)
    return found[1]


def _paid(rows: Array, response: LoopResponse, limits: MarginLimits) -> Array:
    """What gain sets pay at one operating point."""
    return charge(_table(rows, [response], *asked_of_kernel(limits))[0], response.rate, limits)


def asked_of_kernel(limits: MarginLimits) -> tuple[int, float]:
    """Return how much of its results a kernel must compute for a penalty, and the distance beyond which it need not."""
    level = kernel.DELAY if limits.delay_margin > 0.0 else kernel.SENSITIVITY
    return level, (1.0 + _ROUNDING) / limits.sensitivity


def charge(table: Array, rate: float, limits: MarginLimits) -> Array:
    """Return what a kernel's results [..., column] are to pay, for loops whose own rate is `rate` [rad/s]."""
    violation = np.maximum(0.0, 1.0 - limits.sensitivity / table[..., 2])
    if limits.delay_margin > 0.0:
        violation += np.maximum(0.0, 1.0 - table[..., 7] / limits.delay_margin)
    stable = table[..., 0] == kernel.STABLE
    if stable.all():
        return violation
    unstable = 3.0 - rate / (table[..., 1] + rate)
    return np.where(stable, violation, unstable)


def check_gains(gains: ArrayLike, size: int, meaning: str = "kp, ki, kd") -> Array:
    """Return gains [..., size] as an array, or raise with what they mean."""
    gains = np.asarray(gains, dtype=float)
    if gains.shape[-1:] != (size,):
        raise ValueError(f"gains must have shape [..., {size}] ({meaning}), got {gains.shape}")
    return gains


def tame(gains: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return gain sets [n, size] with zeros for those that hold no numbers, and which of them these are [n]."""
    if gains.size and np.abs(gains).max() < _HUGE:  # most often; asked of few sets at a time
        return np.ascontiguousarray(gains), np.zeros(len(gains), bool)
    wild = np.asarray(~(np.abs(gains) < _HUGE).all(axis=1))
    return np.where(wild[:, None], 0.0, gains), wild


def _table(gains: Array, responses: Sequence[LoopResponse], level: int = kernel.FULL, enough: float = np.inf) -> Array:
    """Kernel results [operating_point, gain_set, column], with doubtful verdicts settled by eigenvalues."""
    gains, wild = tame(gains)
    table = np.zeros((len(responses), len(gains), len(kernel.COLUMNS)))
    for response, out in zip(responses, table, strict=True):
        response.evaluation(gains, level, enough, out)
        _settle(gains, wild, response, out)
    return table


def _settle(gains: Array, wild: NDArray[np.bool_], response: LoopResponse, out: Array) -> None:
    """Decide what the grid was too coarse for, loops with a hidden mode that grows, and gains that are no numbers."""
    hidden = response.sampled.hidden_growth
    if hidden <= 0.0 and (out[:, 0] == kernel.STABLE).all() and not wild.any():
        return
    asked = out[:, 0] == kernel.DOUBTFUL
    if asked.any():
        radius = np.asarray(spectral_radius(response.sampled, gains[asked]))
        rate = np.log(np.maximum(radius, 1e-300)) / response.sampled.loop.sample_time
        out[asked, 0] = np.where(radius < 1.0 - _ROUNDING, kernel.STABLE, kernel.UNSTABLE)
        out[asked, 1] = np.maximum(rate, 0.0)
    out[wild, 0], out[wild, 1] = kernel.UNSTABLE, np.inf
    lost = (out[:, 0] != kernel.STABLE) | (hidden > 0.0)
    out[lost, 0], out[lost, 1] = kernel.UNSTABLE, np.maximum(out[lost, 1], hidden)
    out[lost, 2:4], out[lost, 4:] = np.inf, 0.0
