"""What other gains would do for a loop: its improvement over the present ones on every member of an ensemble.

    scenario = default_scenario(ensemble, log)
    promised = promise(ensemble, present, proposed, scenario)
    promised.low, promised.median, promised.high          # 90 % of the members lie between

The interval covers what the log leaves open about the plant, and by the discrepancy that no plant is in the model
class. It is not that of the sensor noise, which is what is known best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers import PID
from sscq.identification.ensemble import DISCREPANCY, PlantMembers, interval_of
from sscq.identification.loops import ScenarioSignals, run_loops
from sscq.margins.frequency_response import similar_responses
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.margins import loop_margins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sscq.identification.ensemble import Ensemble
    from sscq.identification.loops import LoopQualities
    from sscq.identification.reading.log import Log

    Array = NDArray[np.float64]

LEVEL = 0.9
WIDENED = 0.01
"""By which the ends of an interval are moved out, in quadrature: part of the calibration, as is the discrepancy."""

_SHORTEST = 120.0  # horizon [s]
_LOAD_DEVIATIONS, _LEAST_LOAD = 3.0, 2.0  # of the estimated load; in hundredths of the input's span
_USUAL_STEP = 5.0  # of the set point where the log has none, in hundredths of the output's span


@dataclass(frozen=True)
class LoopScenario:
    """From rest: a set-point step at once, and a load step at the plant's input half way.

    Attributes
    ----------
    horizon : float
        [s]
    set_point : float
        Height of the step [y].
    load : float
        Height of the load [u].
    """

    horizon: float
    set_point: float
    load: float

    def signals(self, step: float, seed: int | None = 0) -> ScenarioSignals:
        """Return it row by row."""
        n = max(2, round(self.horizon / step))
        later = np.arange(n) >= n // 2
        return ScenarioSignals(step, np.full(n, self.set_point), np.where(later, self.load, 0.0), seed)


@dataclass(frozen=True, eq=False)
class Promise:
    """Improvement 1 - IAE(proposed) / IAE(present) of the members.

    Attributes
    ----------
    low, median, high : float
        5, 50 and 95 per cent of the members, the ends moved out.
    per_member : array [n]
    lost : int
        Members whose loop runs away with the proposed gains.
    lost_before : int
        Members that are left out, whose loop runs away with the present ones.
    travel : float
        Median of the travel over that of the present gains.
    """

    low: float
    median: float
    high: float
    per_member: Array
    lost: int
    lost_before: int
    travel: float


def default_scenario(
    ensemble: Ensemble, log: Log | None = None, output_span: float = 100.0, input_span: float = 100.0
) -> LoopScenario:
    """Return a scenario like what the log saw: its usual set-point step, and a load like those that it had."""
    length = max(record.duration for record in ensemble.records)
    times = [np.stack(group.structure.times(group.parameters)) for group in ensemble.members]
    slow, late = np.median(np.concatenate(times, axis=1), axis=1)
    reach = 12.0 * (min(slow, length / 3.0) + 2.0 * late)
    moves = np.array([]) if log is None else set_point_moves(log, 1e-3 * output_span)
    height = float(np.median(moves)) if len(moves) else _USUAL_STEP * output_span / 100.0
    walk, load = (np.median(np.concatenate([g.column(name) for g in ensemble.members])) for name in ("walk", "load"))
    deviation = float(np.hypot(walk * np.sqrt(min(reach, length)), load))
    least = _LEAST_LOAD * input_span / 100.0
    size = float(np.clip(_LOAD_DEVIATIONS * deviation, least, 10.0 * least))
    return LoopScenario(float(np.clip(reach, _SHORTEST, max(_SHORTEST, length))), height, size)


def set_point_moves(log: Log, least: float) -> Array:
    """Return the sizes of the set point's moves in automatic; steps that follow within five rows are one."""
    steps = np.diff(log.set_point)
    if log.automatic is not None:
        steps = np.where(log.automatic[1:] & log.automatic[:-1], steps, 0.0)
    places = np.flatnonzero(steps)
    if not len(places):
        return np.array([])
    groups = np.split(places, np.flatnonzero(np.diff(places) > _ONE_MOVE) + 1)
    sizes = np.abs(np.array([steps[group].sum() for group in groups]))
    return np.asarray(sizes[sizes > least])


_ONE_MOVE = 5  # rows


def loop_law(
    ensemble: Ensemble,
    limits: tuple[float, float] = (0.0, 100.0),
    sample_time: float | None = None,
) -> PID:
    """Return the law of the loop in deviations from where it rests: the derivative, if any, on the measurement."""
    record = ensemble.records[0]
    middle = record.origin[1]
    return PID(
        limits=(limits[0] - middle, limits[1] - middle),
        sample_time=sample_time or record.step,
        rate_source="difference",
        derivative_on="measurement",
        action="direct" if ensemble.sense > 0.0 else "reverse",
    )


def promise(
    ensemble: Ensemble,
    present: Sequence[float],
    proposed: Sequence[float],
    scenario: LoopScenario,
    law: PID | None = None,
    discrepancy: float = DISCREPANCY,
) -> Promise:
    """Return what the proposed gains (kp, ki, kd) would do, against the present ones, in the scenario."""
    law = law or loop_law(ensemble)
    signals = scenario.signals(law.sample_time or ensemble.records[0].step)
    found = run_loops(ensemble.spread(discrepancy), ensemble.sense, law, np.array([present, proposed], float), signals)
    return promised_of(found)


def promised_of(found: LoopQualities) -> Promise:
    """Return the promise of qualities [2, n_members], of the present gains and of others."""
    kept = np.isfinite(found.error[0])
    before, after = found.error[:, kept]
    improvement = np.where(np.isfinite(after), 1.0 - after / before, -np.inf)
    finite = np.where(np.isfinite(improvement), improvement, -_RAN_AWAY)
    low, median, high = interval_of(finite, LEVEL)
    with np.errstate(invalid="ignore"):
        travel = found.travel[1, kept] / found.travel[0, kept]
    return Promise(
        median - float(np.hypot(median - low, WIDENED)),
        median,
        median + float(np.hypot(high - median, WIDENED)),
        improvement,
        int((~np.isfinite(after)).sum()),
        int((~kept).sum()),
        float(np.median(travel[np.isfinite(travel)])) if np.isfinite(travel).any() else float("inf"),
    )


_RAN_AWAY = 9.0  # a lost loop counts as ten times the present error in an interval's ends


@dataclass(frozen=True, eq=False)
class MemberMargins:
    """Margins of a sampled loop about rest, of gains and members.

    Attributes
    ----------
    sensitivity : array [n_gains, n_members]
        Ms; infinite where the loop is unstable.
    delay_margin : array [n_gains, n_members]
        [s]
    """

    sensitivity: Array
    delay_margin: Array


class LoopsAtRest:
    """Linear loops of some members, prepared once for any gains.

    Each is linearised where its gain is largest of all places that the logs visited: the curve makes the plant steeper
    at one end.

    Parameters
    ----------
    members : sequence of PlantMembers
    law : PID
        Its sample time, filter and action are those of the loop.
    low, high : array [3]
        Gains that will be asked for.
    reach : (low, high)
        Deviations of the plant's input, see :attr:`sscq.identification.ensemble.Ensemble.reach`.
    """

    def __init__(
        self,
        members: Sequence[PlantMembers],
        law: PID,
        low: Array,
        high: Array,
        reach: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        settings = LoopSettings(
            sample_time=law.sample_time or 1.0,
            derivative_filter_time=law.derivative_filter_time,
            action="direct",  # equations of members have no sense
        )
        found = [_linear(group, k, reach) for group in members for k in range(len(group))]
        self.responses = similar_responses(found, [settings] * len(found), low, high)

    def margins(self, gains: Array) -> MemberMargins:
        """Return the margins of gains [n_gains, 3]."""
        found = loop_margins(np.atleast_2d(np.asarray(gains, float)), self.responses)
        stable = np.asarray(found.stable, bool)
        return MemberMargins(np.where(stable, found.sensitivity, np.inf), np.where(stable, found.delay_margin, 0.0))


def _linear(group: PlantMembers, k: int, reach: tuple[float, float]) -> LinearPlant:
    A, b = group.structure.equations(group.parameters[k])
    b = b * np.exp(max(float(group.column("curve")[k]) * end for end in reach))
    late = float(group.structure.dead_time(group.parameters[k : k + 1])[0])
    return LinearPlant(A, b, np.array([0.0, 1.0]), None, late, f"member {k}")
