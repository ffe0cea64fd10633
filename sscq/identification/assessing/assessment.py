"""What a log says of its loop: gains, oscillation, valve, margins, loads; and whether plants can be told from it.

found = assess(log, knowledge)
found.findings                  # severity, code, text, advice
found.refusal                   # "" or why no gains are advised from this log
found.ensemble, found.present   # for advice
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from controllers.forms import Gains
from sscq.identification.advice import JUDGED, some
from sscq.identification.assessing import signals
from sscq.identification.assessing.effective_gains import EffectiveGains, effective_gains
from sscq.identification.assessing.valve import ValveFinding, valve_finding
from sscq.identification.ensemble import DISCREPANCY, OF_ONE_MOVE, Ensemble, identify
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.promise import LoopsAtRest, MemberMargins, loop_law
from sscq.identification.reading.signs import LogFinding, quantum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sscq.identification.reading.log import Log

    Array = NDArray[np.float64]

    Tell = Callable[[str, int, int], None]

MOST_ROWS = 6000
"""That are filtered at first; longer logs are averaged."""

_FINER_ROWS, _PER_TIME = (
    60_000,
    20.0,
)  # that are filtered where the first have fewer than these in the loop's fastest time

_FEWEST_ROWS, _FEWEST_OUTPUTS, _FEWEST_BY_HAND, _MOST_AT_LIMIT, _MOST_MISSING = 100, 3, 2, 0.5, 0.3
_DIFFERENT, _EXPLAINED = 0.05, 0.98  # of gains on the sheet; of the output's increments
_SURE = 4.0  # deviations of a gain that is found in a log
_NOTHING = 1e-6  # of kp: an integral gain times a row below it is rounding
_SHARP = 3.0  # Ms of the present loop
_COARSE_ROWS = 3.0  # rows in the loop's fastest time


@dataclass(frozen=True, eq=False)
class LoopAssessment:
    """What was found.

    Attributes
    ----------
    findings : tuple of LogFinding
        Worst first.
    effective : EffectiveGains or None
    present : Gains or None
        With which other gains are compared: the effective ones, where they explain the output, else the sheet's.
    sense : float
        Of the plant, 1 or -1.
    oscillation : LoopOscillation or None
    ensemble : Ensemble or None
        None where the log was refused before.
    valve : ValveFinding or None
    margins : MemberMargins or None
        Of the present gains.
    minimum_variance : float
        Harris' index; not a number where it cannot be told.
    discrepancy : float
        By which members are spread.
    refusal : str
        Why no gains are advised; empty: they may be.
    """

    findings: tuple[LogFinding, ...]
    effective: EffectiveGains | None
    present: Gains | None
    sense: float
    oscillation: signals.LoopOscillation | None
    ensemble: Ensemble | None = None
    valve: ValveFinding | None = None
    margins: MemberMargins | None = None
    minimum_variance: float = math.nan
    discrepancy: float = DISCREPANCY
    refusal: str = ""


def assess(
    log: Log,
    knowledge: LoopKnowledge | None = None,
    *,
    seed: int = 0,
    accept_valve: bool = False,
    threads: int | None = None,
    tell: Tell | None = None,
) -> LoopAssessment:
    """Return what a log says of its loop.

    Parameters
    ----------
    log : Log
    knowledge : LoopKnowledge, optional
    seed : int
    accept_valve : bool
        Whether gains may be advised though the valve sticks.
    threads : int, optional
    tell : function of (what, done, of how many), optional
    """
    known = knowledge or LoopKnowledge()
    findings = [*log.findings, *_limits(log, known)]
    effective = _effective(log, known)
    present, told = _present(known.gains(), effective, log.step)
    findings += told
    sense = sense_of(present)
    error = log.set_point - log.measured
    swing = signals.oscillation(error, log.output, log.step)
    found = LoopAssessment((), effective, present, sense or 1.0, swing)
    refusal = _unusable(log, known, findings)
    if not refusal:
        fewer = log.averaged(MOST_ROWS)
        sample_time = known.sample_time or log.step
        identified = partial(
            _identified,
            known=known,
            found=found,
            seed=seed,
            threads=threads,
            tell=tell,
            sample_time=sample_time,
            accept_valve=accept_valve,
        )
        found, refusal = identified(fewer)
        finer = log.averaged(_rows_wanted(log, fewer, found))
        if len(finer) > len(fewer):
            fewer = finer
            found, refusal = identified(fewer)
        findings += _of_plants(fewer, found)
        if fewer is not log:
            text = f"{len(log)} rows are averaged to {len(fewer)} of {fewer.step:g} s"
            findings.append(
                LogFinding("note", "averaged", text, "cut the log to the part with the moves to keep its rows")
            )
    if swing is not None:
        findings.append(_told_swing(swing, found))
    order = {"refusal": 0, "warning": 1, "note": 2}
    return replace(found, findings=tuple(sorted(findings, key=lambda one: order[one.severity])), refusal=refusal)


def present_gains(log: Log, known: LoopKnowledge) -> tuple[Gains | None, list[LogFinding]]:
    """Return the gains that a loop ran with, and what is to be said where they are not those that were given."""
    return _present(known.gains(), _effective(log, known), log.step)


def _effective(log: Log, known: LoopKnowledge) -> EffectiveGains | None:
    return effective_gains(log.set_point, log.measured, log.output, log.step, log.automatic, known.output_limits)


def sense_of(present: Gains | None) -> float | None:
    """Return the sense of a loop that did not run away: that of its integral gain, else of its proportional one.

    None where no gains are known: then the log has to tell.
    """
    if present is None:
        return None
    return -1.0 if (present.ki or present.kp) < 0.0 else 1.0


def _limits(log: Log, known: LoopKnowledge) -> list[LogFinding]:
    found = []
    for share, which, end in zip(
        signals.share_at_limits(log.output, known.output_limits), ("lower", "upper"), known.output_limits, strict=True
    ):
        if share > 0.02:
            text = f"the output is at its {which} limit ({end:g}) in {100.0 * share:.0f} % of the rows"
            found.append(LogFinding("warning", "limit", text, "no gains help there: is the actuator large enough?"))
    measured = log.measured[np.isfinite(log.measured)]
    grid = quantum(measured)
    noise = float(np.median(np.abs(np.diff(measured)))) if len(measured) > 1 else 0.0
    if grid > 0.0:
        severity = "warning" if grid > 2.0 * noise else "note"
        text = f"the measured value is rounded to {grid:.3g}"
        found.append(
            LogFinding(severity, "rounded", text, "a derivative would answer to the steps, not to the process")
        )
    return found


def _present(
    sheet: Gains | None, effective: EffectiveGains | None, step: float
) -> tuple[Gains | None, list[LogFinding]]:
    """The gains to compare with, and where the sheet and the log differ."""
    explains = effective is not None and effective.explained >= _EXPLAINED
    if effective is None or not explains:
        text = "the output is not that of a PID on this error"
        if effective is not None:
            text += f": the best gains explain {100.0 * effective.explained:.0f} % of its moves"
        advice = "a filter, a deadband, another form or a cascade stands between, or the loop was in manual"
        return sheet, [] if effective is None else [LogFinding("warning", "law", text, advice)]
    # As the law here, which sums behind its output, would have to have them; what is next to nothing is nothing.
    ki = effective.ki if abs(effective.ki * step) > _NOTHING * abs(effective.kp) else 0.0
    kp = effective.kp + ki * step
    own = Gains(kp, ki, effective.kd if effective.kd * kp > 0.0 else 0.0)
    if sheet is None:
        text = f"no gains were given; those of the log are kp {own.kp:.4g}, ki {own.ki:.4g}, kd {own.kd:.4g}"
        return own, [LogFinding("note", "gains", text)]
    # A block that sums before its output shows kp, one that sums behind it kp - ki times a row.
    other = []
    kp_sure, ki_sure = effective.deviations
    if _differ(sheet.kp, own.kp, kp_sure) and _differ(sheet.kp, effective.kp, kp_sure):
        other.append(f"kp {sheet.kp:.4g} on the sheet, {own.kp:.4g} in the log")
    if _differ(sheet.ki, own.ki, ki_sure):
        other.append(f"ki {sheet.ki:.4g} on the sheet, {own.ki:.4g} in the log")
    if not other:
        return sheet, []
    text = f"the loop did not run with the given gains: {', '.join(other)}"
    advice = "the log's gains count: check form, units and sense of the block"
    return own, [LogFinding("warning", "gains", text, advice)]


def _differ(given: float, found: float, deviation: float) -> bool:
    """Whether gains differ, by more than the log may have them wrong."""
    return abs(given - found) > max(_DIFFERENT * max(abs(given), abs(found)), _SURE * deviation)


def _unusable(log: Log, known: LoopKnowledge, findings: list[LogFinding]) -> str:
    """Why nothing can be identified from these rows; empty: something can."""
    for finding in findings:
        if finding.severity == "refusal":
            return f"{finding.text}; {finding.advice}"
    measured = np.isfinite(log.measured)
    if measured.sum() < _FEWEST_ROWS:
        return f"{int(measured.sum())} measured rows are too few (at least {_FEWEST_ROWS}): log longer, or more often"
    different = len(np.unique(log.output))
    by_hand = log.automatic is not None and not log.automatic.any()
    fewest = _FEWEST_BY_HAND if by_hand else _FEWEST_OUTPUTS  # a step by hand has two; in automatic two are a switch
    if different < fewest:
        why = (
            "it stands still"
            if different == 1
            else "it is switched, not controlled; a log in manual needs a column mode"
        )
        return f"the output has {different} different value{'s' * (different > 1)} (at least {fewest}): {why}"
    stuck = sum(signals.share_at_limits(log.output, known.output_limits))
    if stuck > _MOST_AT_LIMIT:
        return f"the output is at a limit in {100.0 * stuck:.0f} % of the rows (at most {100.0 * _MOST_AT_LIMIT:.0f} %)"
    # On a grid that is finer than the rows, the rows between are no missing ones.
    missing = 1.0 - float(measured.mean())
    if missing > _MOST_MISSING and len(log.stretches) == 1 and not _on_finer_grid(measured):
        return f"{100.0 * missing:.0f} % of the rows are missing (at most {100.0 * _MOST_MISSING:.0f} %)"
    if not np.ptp(log.measured[measured]) > 0.0:
        return "the measured value is frozen"
    return ""


def _on_finer_grid(measured: NDArray[np.bool_]) -> bool:
    apart = np.diff(np.flatnonzero(measured))
    return bool(np.median(apart) >= 2.0)


def _identified(
    log: Log,
    known: LoopKnowledge,
    found: LoopAssessment,
    seed: int,
    threads: int | None,
    tell: Tell | None,
    sample_time: float,
    *,
    accept_valve: bool,
) -> tuple[LoopAssessment, str]:
    low, high = known.output_limits
    span = high - low
    output_span = known.output_span(log)
    members_of = partial(
        identify,
        seed=seed,
        output_span=output_span,
        input_span=span,
        longest_dead_time=known.longest_dead_time,
        threads=threads,
        on_round=tell,
    )
    ensemble = members_of(log.records(), sense=sense_of(found.present))
    noise = float(np.median(np.concatenate([group.column("noise") for group in ensemble.members])))
    usual = float(np.median(np.abs(np.diff(log.output))))
    count = signals.moves(log.set_point, log.output, log.automatic, noise, usual)
    late = np.concatenate([group.column("dead_time") for group in ensemble.members])
    index = signals.minimum_variance_index(log.set_point - log.measured, math.ceil(float(np.median(late)) / log.step))
    found = replace(
        found,
        sense=ensemble.sense,
        ensemble=ensemble,
        discrepancy=OF_ONE_MOVE if count <= 1 else DISCREPANCY,
        margins=_margins(ensemble, found.present, known, sample_time),
        minimum_variance=index,
    )
    if ensemble.refusal:
        return found, ensemble.refusal
    on_trial = None if tell is None else lambda done, of: tell("valve", done, of)
    valve = valve_finding(ensemble, output_span, span, threads, on_trial)
    found = replace(found, valve=valve)
    if not valve.lags:
        return found, ""
    if not accept_valve:
        return found, f"{valve.text}: mend the valve first"
    moved = [replace(record, input=valve.positions(record.input, span)) for record in log.records()]
    ensemble = members_of(moved, sense=found.sense)
    return replace(
        found, ensemble=ensemble, margins=_margins(ensemble, found.present, known, sample_time)
    ), ensemble.refusal


def _margins(
    ensemble: Ensemble, present: Gains | None, known: LoopKnowledge, sample_time: float
) -> MemberMargins | None:
    if present is None:
        return None
    own = np.abs(np.array(present.vector))
    law = loop_law(ensemble, known.output_limits, sample_time=sample_time)
    return LoopsAtRest(
        some(ensemble.members, JUDGED), law, 0.0 * own, 2.0 * np.maximum(own, 1e-9), ensemble.reach
    ).margins(own)


def _of_plants(log: Log, found: LoopAssessment) -> list[LogFinding]:
    """What the plants say of the loop."""
    told = []
    if found.valve is not None and found.valve.lags:
        advice = "mend it first, or say --accept-valve to draw the plants with such a valve"
        told.append(LogFinding("warning", "valve", f"{found.valve.text} (gain {found.valve.gain:.0f})", advice))
    if found.margins is not None:
        middle = float(np.median(found.margins.sensitivity))
        if middle > _SHARP:
            told.append(
                LogFinding("warning", "sharp", f"the present loop is close to instability: Ms {middle:.1f}", "")
            )
    if found.ensemble is not None:
        fastest = _fastest(found.ensemble)
        if fastest < _COARSE_ROWS * log.step:
            text = f"rows are {log.step:g} s apart, the loop's fastest time is about {fastest:.2g} s"
            told.append(LogFinding("note", "coarse", text, "log faster if the loop shall be tuned tightly"))
    return told


def _fastest(ensemble: Ensemble) -> float:
    """What is as good as dead time in the middle plant [s]."""
    return float(np.median(np.concatenate([group.structure.times(group.parameters)[1] for group in ensemble.members])))


def _rows_wanted(log: Log, fewer: Log, found: LoopAssessment) -> int:
    """How many rows a log should be averaged to, so that enough are in the loop's fastest time."""
    if fewer is log or found.ensemble is None:
        return len(fewer)
    wanted = len(log) * log.step * _PER_TIME / max(_fastest(found.ensemble), log.step)
    return min(len(log), _FINER_ROWS, max(len(fewer), math.ceil(wanted)))


def _told_swing(swing: signals.LoopOscillation, found: LoopAssessment) -> LogFinding:
    text = f"the loop oscillates with a period of {swing.period:.3g} s, by {swing.of_measured:.3g}"
    if found.valve is not None and found.valve.lags:
        cause = f"the valve is the cause: {found.valve.text}"
    elif found.margins is not None and float(np.median(found.margins.sensitivity)) > _SHARP:
        cause = "the present gains are the cause: they are too sharp"
    else:
        cause = "as far as the log tells, it comes from outside: look for a disturbance with this period"
    return LogFinding("warning", "oscillation", text, cause)
