"""What the report knows about situations and controllers: what was run, what it scored, how it looked.

Every number may be NaN, and every part that is typed so may be `NotAvailable`: the page then says so, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from experiments.report.records.gains import INF, NAN, ChannelGains, PointMargins

Group = Literal["taught", "validation", "unforeseen", "drawn"]
GROUPS: tuple[Group, ...] = get_args(Group)[:3]  # those that are shown one by one

MEASURES = (
    "iae",
    "ise",
    "itae",
    "effort",
    "total_variation",
    "overshoot",
    "settling_time",
    "entropy_plant",
    "entropy_controller",
    "entropy_difference",
    "entropy_difference_abs",
)
"""What the table of all numbers shows of every plant."""

Array = np.ndarray
FROM_FILE: Any = {"file": True}
"""Of fields that are not in `report.json`: another file of the run holds them."""


@dataclass(frozen=True)
class NotAvailable:
    """A part that the run could not give, with the reason in one sentence."""

    reason: str


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; `low` and `high` NaN: no interval was computed.

    Attributes
    ----------
    value, low, high : float
        In the unit of what is estimated; changes are relative, -0.31 is "31 % less".
    """

    value: float
    low: float = NAN
    high: float = NAN

    @property
    def open(self) -> bool:
        """Whether the interval of a change holds 0: neither a gain nor a loss is proven."""
        return self.low <= 0.0 <= self.high

    def turned(self) -> Estimate:
        """A relative change seen from the other side: of B against A where this is of A against B."""
        value, low, high = (1.0 / (1.0 + c) - 1.0 if c > -1.0 else NAN for c in (self.value, self.high, self.low))
        return Estimate(value, low, high)


@dataclass(frozen=True)
class LawText:
    """The law into which gains are typed.

    Attributes
    ----------
    formula : str
        In standard and in parallel form, with set-point weight and filter.
    settings : str
        Derivative, anti-windup, sample time, limits, how often a schedule renews its gains.
    """

    formula: str
    settings: str = ""


@dataclass(frozen=True)
class ChannelView:
    """One control loop: which output follows a reference, by which input, within which limits.

    Attributes
    ----------
    low, high : float
        Limits of the command u, in its unit; infinite: none.
    gain_units : tuple of str
        Of kp, ki, kd; empty: not known.
    scale : float
        What errors are divided by in measures [unit of the output].
    law : LawText or None
        None: the run is of an earlier release.
    """

    output: str
    output_unit: str
    command: str = "u"
    command_unit: str = ""
    low: float = -INF
    high: float = INF
    gain_units: tuple[str, ...] = ()
    scale: float = 1.0
    law: LawText | None = None


@dataclass(frozen=True)
class SituationInfo:
    """One situation (scenario).

    Attributes
    ----------
    group : {"taught", "validation", "unforeseen"}
        What it was used for.
    text : str
        One line: reference, excitation, parameters, initial state, delay, noise.
    seeds : int
        Number of noise seeds that its numbers are means of.
    drawn : str
        Which of them the curves show, for example "seed 11".
    """

    name: str
    group: Group
    text: str = ""
    seeds: int = 1
    drawn: str = ""


@dataclass(frozen=True)
class OwnMeasure:
    """A quality measure of the plant's own.

    Attributes
    ----------
    unit : str
        "1" or empty: none.
    less_is_better : bool or None
        None: neither, no mark.
    """

    name: str
    title: str
    unit: str = ""
    text: str = ""
    less_is_better: bool | None = True

    @property
    def heading(self) -> str:
        """Title with its unit."""
        return f"{self.title} [{self.unit}]" if self.unit not in {"", "1"} else self.title


@dataclass(frozen=True)
class ActuatorUse:
    """How one channel's command used its limits in one situation.

    Attributes
    ----------
    lowest, highest : float
        Extremes of the command, in its unit.
    saturated : float
        Share of the time at a limit, in 0..1.
    peak : float
        Largest magnitude of the command over all seeds; NaN: not known.
    """

    lowest: float = NAN
    highest: float = NAN
    saturated: float = NAN
    peak: float = NAN


@dataclass(frozen=True, eq=False)
class Response:
    """The recorded closed loop of one controller in one situation, at n + 1 times, with n_c channels.

    Attributes
    ----------
    time : array [n + 1]
        Seconds, increasing.
    reference, output, command : array [n + 1, n_c]
        In the units of the channel. Non-finite samples (after a divergence) are left out of the charts.
    gains : array [n + 1, n_gains]
        In force, columns as the controller's `gain_names`.
    entropy_rates, entropies : array [n + 1, 2]
        Of plant and controller: T0 dS/dt in W, and the integrals from 0 in J.
    seen : array [n + 1, 2 n_c + n_outputs]
        Error and error rate of each channel, then the plant outputs that the schedule reads, all as it saw them: the
        visited part of its surfaces.
    """

    time: Array
    reference: Array
    output: Array
    command: Array
    gains: Array
    entropy_rates: Array
    entropies: Array
    seen: Array

    def __post_init__(self) -> None:
        """Check all lengths against the time axis."""
        n, n_c = len(self.time), self.output.shape[-1] if np.ndim(self.output) else 0
        columns = dict.fromkeys(("reference", "output", "command"), n_c)
        columns["seen"] = max(2 * n_c, np.shape(self.seen)[-1])
        expected = {name: (n, count) for name, count in columns.items()} | {"time": (n,)}
        expected |= dict.fromkeys(("entropy_rates", "entropies"), (n, 2)) | {"gains": (n, *np.shape(self.gains)[1:2])}
        for name, shape in expected.items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(f"Response.{name} must have shape {shape}, got {np.shape(getattr(self, name))}")


NO_RESPONSE = NotAvailable("no response was recorded")


@dataclass(frozen=True)
class SituationResult:
    """One controller in one situation.

    Attributes
    ----------
    cost : Estimate
        The cost J of this situation alone (mean over its seeds).
    measures : mapping of name to float
        Means over the seeds that survive, names and units as in `sscq.evaluate`: `MEASURES` and the plant's own.
    actuator : tuple of ActuatorUse
        One per channel; empty: not recorded.
    diverged_at : float
        Time [s] of the first divergence, NaN: none.
    failures : int
        Number of diverged seeds.
    change : Estimate or None
        Relative change of the cost against the controller that changes are counted against, with its interval from
        paired seeds; None: the page takes the plain ratio of the costs.
    changes : mapping of name to Estimate
        The same of measures; one that is not there: the page takes the plain ratio of the means.
    """

    situation: str
    cost: Estimate = Estimate(NAN)
    measures: Mapping[str, float] = field(default_factory=dict)
    actuator: tuple[ActuatorUse, ...] = ()
    response: Response | NotAvailable = field(default=NO_RESPONSE, metadata=FROM_FILE)
    diverged_at: float = NAN
    failures: int = 0
    change: Estimate | None = None
    changes: Mapping[str, Estimate] = field(default_factory=dict)

    def measure(self, name: str) -> float:
        """One of the measures, NaN where there is none."""
        return self.measures.get(name, NAN)

    @property
    def failed(self) -> bool:
        """Whether the loop diverged in any seed."""
        return self.failures > 0 or bool(np.isfinite(self.diverged_at))


NO_GAINS = NotAvailable("no PID gains")
NO_MARGINS = NotAvailable("margins were not computed")


@dataclass(frozen=True)
class JudgedRuns:
    """One controller over all runs on which the verdict rests.

    Attributes
    ----------
    runs, failures : int
        How many, and how many of them diverged.
    measures : mapping of name to float
        Means over the runs that survive; without any, empty.
    saturated, most_saturated : float
        Share of the time with a command at a limit, 0..1: mean over the runs that survive, and largest.
    ever_saturated : int
        In how many of them a command was at a limit at all.
    held_saturated : int
        In how many of them for more than nine tenths of the time.
    peak : float
        Largest |u|, of one channel; NaN: several.
    per_sample : float
        Travel of a sample of the controller, mean over the runs that survive.
    """

    runs: int
    failures: int
    measures: Mapping[str, float]
    saturated: float = NAN
    most_saturated: float = NAN
    ever_saturated: int = 0
    held_saturated: int = 0
    peak: float = NAN
    per_sample: float = NAN


@dataclass(frozen=True)
class ControllerResult:
    """One rung of the ladder of baselines.

    Attributes
    ----------
    key, label : str
        Unique short name; what the reader sees first, with the text-book word where ours differs.
    short : str
        What the reader sees afterwards, for example "knowledge base"; empty: the label.
    gain_names : tuple of str
        Columns of the gains in its responses: ("kp", "ki", "kd"), with several channels ("kp_1", ...).
    drawn : bool
        Whether its curves are visible before the reader switches them on; if not, they do not widen the charts either.
    text : str
        One line: how it was obtained.
    gains : tuple of ChannelGains, or NotAvailable
        One per channel.
    cost : mapping from group to Estimate
        Cost J over the situations of a group; a missing group is shown as not available.
    results : tuple of SituationResult
        One per situation.
    evaluations, parameters : int or None
        Closed-loop evaluations that its search used; number of tuned numbers.
    judged : JudgedRuns or None
        Over the runs of the verdict; None: it is judged in other situations (an oracle), or by an earlier release.
    """

    key: str
    label: str
    text: str = ""
    gains: tuple[ChannelGains, ...] | NotAvailable = NO_GAINS
    cost: Mapping[str, Estimate] = field(default_factory=dict)
    margins: PointMargins | NotAvailable = NO_MARGINS
    results: tuple[SituationResult, ...] = ()
    evaluations: int | None = None
    parameters: int | None = None
    short: str = ""
    gain_names: tuple[str, ...] = ()
    drawn: bool = True
    judged: JudgedRuns | None = None

    @property
    def name(self) -> str:
        """The short label."""
        return self.short or self.label

    @property
    def travel(self) -> float:
        """Mean total variation of the commands over the runs of the verdict; NaN: not known."""
        return NAN if self.judged is None else self.judged.measures.get("total_variation", NAN)

    def result(self, situation: str) -> SituationResult:
        """The result in the named situation."""
        return next(r for r in self.results if r.situation == situation)
