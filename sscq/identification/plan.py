"""The move to make where a log cannot tell: how large, how long, how far it may lead, and what it will tell.

    moves = planned(ensemble, (kp, ki, kd), law)
    moves.height, moves.hold                        # of the set point: up, and down again, each held so long
    moves.deviations, moves.after                   # of the gain's logarithm, now and when that is logged

What it will tell is tried: some members are run with the move, their loads and noise drawn, and identified again from
the log at hand together with the new one. Members whose loop does not follow the set point within the time that it is
held are left out: a loop that works does. Where too few of the others can then be told, the move is made larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.record import LoopRecord
from sscq.identification.advice import JUDGED, some
from sscq.identification.ensemble import PlantMembers, identify
from sscq.identification.loops import ScenarioSignals, respond

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from controllers import PID
    from sscq.identification.ensemble import Ensemble

    Array = NDArray[np.float64]

TRIED = 10
"""Members that are run with the move and identified again."""

_HOLDS = 3.0  # times lag and dead time of the slow ones among the members
_SLOW = 0.95  # of the members
_REACH = 0.99  # of the members' ranges
_REST = 0.25  # of a hold, before the first step
_LONGEST = 1.0 / 3.0  # of the log: lags beyond are not told
_FOLLOWS = 0.5  # of the step at the end of its hold
_ENOUGH, _LARGER, _SIZES = 0.8, 2.0, 3  # of the tries that are told; times as large, so many sizes in all


@dataclass(frozen=True, eq=False)
class PlannedMoves:
    """A step of the set point up and another one down again, in automatic with the present gains.

    Attributes
    ----------
    height : float
        Of each step [y].
    hold : float
        Time that each is held [s].
    measured, output : (low, high)
        Deviations from rest that 99 % of the members stay within.
    before : float
        Standard deviation of the logarithm of the plant's gain, from the log at hand.
    after : array [n]
        The same with the move, of members that were tried.
    told : int
        Of these, how many are then not refused; trying ends where too many are.
    """

    height: float
    hold: float
    measured: tuple[float, float]
    output: tuple[float, float]
    before: float
    after: Array
    told: int


def planned(
    ensemble: Ensemble,
    present: Sequence[float],
    law: PID,
    *,
    spans: tuple[float, float] = (100.0, 100.0),
    tried: int = TRIED,
    threads: int | None = None,
    tell: Callable[[str, int, int], None] | None = None,
) -> PlannedMoves:
    """Return the move for an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
    present : (kp, ki, kd)
        Magnitudes of the gains that the loop runs with.
    law : PID
        Of the loop, see :func:`sscq.identification.promise.loop_law`.
    spans : (of the output, of the input)
        Of the signals.
    tried : int
    threads : int, optional
    tell : function of (what, done, of how many), optional
    """
    step, gains = law.sample_time or ensemble.records[0].step, np.abs(np.asarray(present, float))
    hold, members = _hold(ensemble), _each(some(ensemble.members, JUDGED))
    found = None
    for number in range(_SIZES):
        height = two_digits(ensemble.telling_step * _LARGER**number)
        set_point = _set_point(height, hold, step)
        far = _following(ensemble, members, law, gains, set_point)
        chosen = [far[k] for k in np.linspace(0, len(far) - 1, tried).astype(int)]
        after: list[float] = []
        told = 0
        for done, (one, _) in enumerate(chosen, 1):
            record = _tried(ensemble, one, law, gains, set_point, done)
            again = identify(
                [*ensemble.records, record],
                sense=ensemble.sense,
                seed=done,
                output_span=spans[0],
                input_span=spans[1],
                threads=threads,
            )
            after.append(again.knowledge)
            told += not again.refusal
            if tell is not None:
                tell(f"a move of {height:g}", done, tried)
            if done - told > (1.0 - _ENOUGH) * tried:
                break  # too many cannot be told
        measured, output = (_within([signals[k] for _, signals in far]) for k in (0, 1))
        found = PlannedMoves(height, hold, measured, output, ensemble.knowledge, np.array(after), told)
        if told >= _ENOUGH * tried:
            break
    assert found is not None  # noqa: S101  (there are sizes)
    return found


def _following(
    ensemble: Ensemble, members: Sequence[PlantMembers], law: PID, gains: Array, set_point: Array
) -> list[tuple[PlantMembers, tuple[Array, Array]]]:
    """Members whose loop follows the set point while it is held, each with output and command of its quiet loop."""
    step = law.sample_time or ensemble.records[0].step
    still = ScenarioSignals(step, set_point, np.zeros(len(set_point)), None)
    last, least = int(np.flatnonzero(set_point)[-1]), _FOLLOWS * float(set_point.max())
    found = []
    for one in members:
        signals = respond([one], ensemble.sense, law, gains, still)
        if signals.output[0, last] > least:
            found.append((one, (signals.output[0], signals.command[0])))
    if not found:
        raise ValueError("with the present gains none of the plants that explain the log follows a set point")
    return found


def two_digits(value: float) -> float:
    """Round up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.3g}")


def _hold(ensemble: Ensemble) -> float:
    slow, late = np.concatenate([np.stack(g.structure.times(g.parameters)) for g in ensemble.members], axis=1)
    longest = max(record.duration for record in ensemble.records)
    return two_digits(_HOLDS * float(np.quantile(np.minimum(slow, _LONGEST * longest) + late, _SLOW)))


def _set_point(height: float, hold: float, step: float) -> Array:
    rest, held = (max(1, round(time / step)) for time in (_REST * hold, hold))
    return np.concatenate([np.zeros(rest), np.full(held, height), np.zeros(held)])


def _each(members: Sequence[PlantMembers]) -> list[PlantMembers]:
    return [PlantMembers(group.structure, row[None]) for group in members for row in group.parameters]


def _tried(ensemble: Ensemble, one: PlantMembers, law: PID, gains: Array, set_point: Array, seed: int) -> LoopRecord:
    """The record of a member with the move, as its loop would log it."""
    step = law.sample_time or ensemble.records[0].step
    rng = np.random.default_rng([ensemble.seed, seed, len(set_point)])
    signals = ScenarioSignals(step, set_point, _load(one, len(set_point), step, rng), seed)
    found = respond([one], ensemble.sense, law, gains, signals)
    rest_y, rest_u = ensemble.records[0].origin
    measured = found.output[0] + one.column("noise")[0] * signals.noise
    return LoopRecord(rest_y + measured, rest_u + found.command[0], step)


def _load(one: PlantMembers, n: int, step: float, rng: np.random.Generator) -> Array:
    """A draw of a member's load: its walk and its coloured part."""
    walk, size, time = (float(one.column(name)[0]) for name in ("walk", "load", "load_time"))
    drift = walk * math.sqrt(step) * np.cumsum(rng.standard_normal(n))
    fading, coloured = math.exp(-step / time), np.empty(n)
    value = size * rng.standard_normal()
    for k, unit in enumerate(rng.standard_normal(n)):
        coloured[k] = value
        value = fading * value + size * math.sqrt(1.0 - fading**2) * unit
    return np.asarray(drift + coloured)


def _within(values: Sequence[Array]) -> tuple[float, float]:
    """Range that most members stay in, the largest excursions of each."""
    low = np.quantile([one.min() for one in values], 1.0 - _REACH)
    high = np.quantile([one.max() for one in values], _REACH)
    return float(low), float(high)
