"""What commission writes for programs, and what its page is made from.

`commissioning.json` holds numbers and words only; nothing in it is ever executed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from controllers.forms import Gains
from experiments.runtime.tables import text_table
from plants.core.quantities import finite_number
from plants.core.reading.files import FileError
from plants.core.reading.formats import read_json
from sscq.identification.advice import some
from sscq.identification.loops import respond
from sscq.identification.promise import LEVEL, LoopScenario, loop_law

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from controllers import PID
    from experiments.log.schedule import ScheduleFinding
    from sscq.identification.advice import Advice
    from sscq.identification.assessing.assessment import LoopAssessment
    from sscq.identification.ensemble import Ensemble
    from sscq.identification.loop_knowledge import LoopKnowledge
    from sscq.identification.promise import Promise
    from sscq.identification.reading.log import Log

    Array = NDArray[np.float64]

SCHEMA = 1
_DRAWN = 60  # members whose signals are drawn
STEPS = (0.25, 0.5, 1.0)
"""Of authority, from the present gains to the proposed ones."""

_ABORT = 0.999
VARIABLES = {"measured": "measured", "absolute_error": "|error|", "error_rate": "|rate of the error|"}
"""Over which a schedule may lead, in words."""


@dataclass(frozen=True, eq=False)
class ProposedChange:
    """Gains that were found, beside the present ones, and what they were judged with.

    Attributes
    ----------
    ensemble : Ensemble
    scenario : LoopScenario
    law : PID
    present, proposed : Gains
        With the sign of the block.
    discrepancy : float
    """

    ensemble: Ensemble
    scenario: LoopScenario
    law: PID
    present: Gains
    proposed: Gains
    discrepancy: float

    @cached_property
    def waiting_time(self) -> float:
        """How long a step of authority needs to be seen [s]: five times the slow lag and dead time of most plants."""
        times = [np.stack(group.structure.times(group.parameters)) for group in self.ensemble.members]
        slow, late = np.concatenate(times, axis=1)
        longest = max(record.duration for record in self.ensemble.records)
        return float(np.quantile(5.0 * (np.minimum(slow, longest / 3.0) + late), 0.95))

    @cached_property
    def signals(self) -> dict[str, Array]:
        """Signals of the proposed gains on some members, in deviations: "time", "y", "u"."""
        given = self.scenario.signals(self.law.sample_time or 1.0)
        members = some(self.ensemble.spread(self.discrepancy), _DRAWN)
        found = respond(members, self.ensemble.sense, self.law, np.abs(self.proposed.vector), given)
        return {"time": np.asarray(given.step * np.arange(len(given)), float), "y": found.output, "u": found.command}

    @cached_property
    def abort(self) -> AbortRecord:
        """Error and move of the output beyond which the present gains are to come back; the step itself apart."""
        y, u = self.signals["y"], self.signals["u"]
        begun = y.shape[1] // 20
        error = np.abs(self.scenario.set_point - y)[:, begun:]
        return {"error": float(np.quantile(error, _ABORT)), "output": float(np.quantile(np.abs(u), _ABORT))}


@dataclass(frozen=True, eq=False)
class CommissioningCase:
    """All that a sheet is made from."""

    log: Log
    known: LoopKnowledge
    found: LoopAssessment
    scenario: LoopScenario | None
    advice: Advice
    schedule: ScheduleFinding | None = None

    @cached_property
    def change(self) -> ProposedChange | None:
        """What was found beside the present gains; None where nothing was searched."""
        found, gains = self.found, self.advice.gains
        if found.ensemble is None or found.present is None or self.scenario is None or gains is None:
            return None
        sample_time = self.known.sample_time or self.log.step
        law = loop_law(found.ensemble, self.known.output_limits, sample_time=sample_time)
        proposed = Gains(*(found.sense * value + 0.0 for value in gains))  # no -0 on a sheet
        return ProposedChange(found.ensemble, self.scenario, law, found.present, proposed, found.discrepancy)


def what_to_do(case: CommissioningCase) -> str:
    """Return what the terminal says: the advice, and what to type."""
    lines = [f"{case.advice.status}: {case.advice.reason}"]
    if case.change is not None:
        other = "proposed" if case.advice.to_be_typed else "turned down"
        rows = [_gain_row("present", case.change.present), _gain_row(other, case.change.proposed)]
        lines += ["", text_table(("gains", "kp", "ki [1/s]", "kd [s]", "K", "Ti [s]", "Td [s]"), rows)]
        if case.advice.to_be_typed:
            steps = ", ".join(f"{a:g}" for a in STEPS)
            lines.append(f"in steps of authority {steps}, {case.change.waiting_time:.0f} s each")
    if case.schedule is not None:
        lines += ["", f"schedule: {case.schedule.reason}", *_scheduled(case.schedule)]
    return "\n".join(lines)


def _scheduled(finding: ScheduleFinding) -> list[str]:
    if not finding.advised or finding.places is None or finding.gains is None:
        return []
    rows = [
        (f"{place:.4g}", *(f"{value:.4g}" for value in gains))
        for place, gains in zip(finding.places, finding.gains, strict=True)
    ]
    return [text_table((VARIABLES[finding.variable], "kp", "ki [1/s]", "kd [s]"), rows)]


def _gain_row(name: str, gains: Gains) -> tuple[str, ...]:
    try:
        standard = gains.to_standard()
        others = (f"{standard.gain:.4g}", f"{standard.integral_time:.4g}", f"{standard.derivative_time:.4g}")
    except ValueError:
        others = ("-", "-", "-")
    return (name, *(f"{value:.4g}" for value in gains.vector), *others)


# ---------------------------------------------------------------------------------------------------------------- JSON


class ParallelGains(TypedDict):
    """Gains of a PID in parallel form, with the sign of the block.

    Attributes
    ----------
    form : str
        "parallel".
    kp : float
    ki : float
        [1/s]
    kd : float
        [s]
    """

    form: str
    kp: float
    ki: float
    kd: float


class ScheduleRecord(TypedDict):
    """A gain schedule: between its break points gains are linear, beyond them constant.

    Attributes
    ----------
    variable : str
        "measured", "absolute_error" or "error_rate"; of the rate its magnitude.
    points : list of float
        Break points [y, or y/s], in the log's own unit.
    gains : list of list of float
        kp, ki, kd at each.
    """

    variable: str
    points: list[float]
    gains: list[list[float]]


class ProposedController(ParallelGains):
    """What is proposed, gains as in ParallelGains.

    Attributes
    ----------
    derivative_filter_time : float
        [s]
    set_point_weight : float
    schedule : ScheduleRecord or None
        In place of the gains, where one is advised.
    """

    derivative_filter_time: float
    set_point_weight: float
    schedule: ScheduleRecord | None


class ImprovementRecord(TypedDict):
    """By what share the integral of the error falls.

    Attributes
    ----------
    low, median, high : float
    level : float
        Probability that it lies between low and high.
    """

    low: float
    median: float
    high: float
    level: float


class AbortRecord(TypedDict):
    """What the present gains come back beyond.

    Attributes
    ----------
    error, output : float
        In the log's own units, beside a step itself.
    """

    error: float
    output: float


class FindingRecord(TypedDict):
    """What was noticed in the log.

    Attributes
    ----------
    severity, code : str
    text, advice : str
        A sentence each.
    """

    severity: str
    code: str
    text: str
    advice: str


class CommissioningRecord(TypedDict):
    """What `sscq commission` writes for programs.

    Attributes
    ----------
    schema : int
        Of this format.
    status, reason : str
        What is advised: a word, and a sentence.
    controller : ProposedController or None
        Null: nothing was found.
    improvement : ImprovementRecord or None
        Null where nothing is promised.
    present : ParallelGains or None
        Null: neither told nor found in the log.
    scenario : LoopScenario or None
        What present and proposed gains were compared in.
    discrepancy : float
        Relative error that all plants of the ensemble are taken to have beside their own spread.
    tests : mapping
        Numbers of the tests of the identified plants, by name; empty where none were identified.
    abort : AbortRecord or None
        Null where nothing is to be typed in.
    findings : list of FindingRecord
    """

    schema: int
    status: str
    reason: str
    controller: ProposedController | None
    improvement: ImprovementRecord | None
    present: ParallelGains | None
    scenario: LoopScenario | None
    discrepancy: float
    tests: dict[str, Any]
    abort: AbortRecord | None
    findings: list[FindingRecord]


def document(case: CommissioningCase) -> CommissioningRecord:
    """Return the content of `commissioning.json`."""
    advice, found, change = case.advice, case.found, case.change
    return {
        "schema": SCHEMA,
        "status": advice.status,
        "reason": advice.reason,
        "controller": None if change is None else _controller(change.proposed, case.schedule),
        "improvement": None if advice.promise is None else _improvement(advice.promise),
        "present": None if found.present is None else _parallel(found.present),
        "scenario": case.scenario,
        "discrepancy": found.discrepancy,
        "tests": tests_of(found),
        "abort": change.abort if change is not None and advice.to_be_typed else None,
        "findings": [
            {"severity": f.severity, "code": f.code, "text": f.text, "advice": f.advice} for f in found.findings
        ],
    }


def _parallel(gains: Gains) -> ParallelGains:
    return {"form": "parallel", "kp": gains.kp, "ki": gains.ki, "kd": gains.kd}


def _controller(gains: Gains, schedule: ScheduleFinding | None) -> ProposedController:
    return {**_parallel(gains), "derivative_filter_time": 0.0, "set_point_weight": 1.0, "schedule": _table(schedule)}


def _table(found: ScheduleFinding | None) -> ScheduleRecord | None:
    if found is None or not found.advised or found.places is None or found.gains is None:
        return None
    return {"variable": found.variable, "points": found.places.tolist(), "gains": found.gains.tolist()}


def _improvement(promised: Promise) -> ImprovementRecord:
    return {"low": promised.low, "median": promised.median, "high": promised.high, "level": LEVEL}


def tests_of(found: LoopAssessment) -> dict[str, Any]:
    """Return the numbers of all tests; empty where nothing was identified."""
    ensemble = found.ensemble
    if ensemble is None:
        return {}
    weights = zip(ensemble.fits, ensemble.weights.tolist(), strict=True)
    return {
        "input_evidence": ensemble.input_evidence,
        "ljung_box": ensemble.residuals.portmanteau,
        "beyond_four_deviations": ensemble.residuals.far,
        "deviation_of_log_gain": ensemble.knowledge,
        "structures": {fit.prior.structure.name: weight for fit, weight in weights},
        "r_hat": max(fit.sample.spread_ratio for fit in ensemble.fits),
        "valve_gain": None if found.valve is None else found.valve.gain,
    }


def gains_on(path: Path) -> tuple[float, float, float]:
    """Return kp, ki, kd of a commissioning.json, signed as the block's.

    Raises
    ------
    FileError
        If it is none, or holds no gains.
    """
    found = read_json(path, dict[str, Any])
    controller = found.get("controller")
    if found.get("schema") != SCHEMA or not isinstance(controller, dict):
        raise FileError(f"{path} holds no gains: it is a commissioning.json that advises some (schema {SCHEMA})")
    try:
        kp, ki, kd = (finite_number(name, controller[name]) for name in ("kp", "ki", "kd"))
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: controller has no number {error}") from None
    return kp, ki, kd
