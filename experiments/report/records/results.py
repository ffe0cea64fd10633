"""What the report knows about controllers: gains, margins, cost, and their results in the situations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from experiments.report.records.situations import INF, NAN, Estimate, NotAvailable, SituationResult

NO_GAINS = NotAvailable("no PID gains")
NO_MARGINS = NotAvailable("margins were not computed")


@dataclass(frozen=True)
class ChannelGains:
    """Gains of one channel in parallel form, u = kp e + ki int(e) + kd e'; the page derives K, Ti, Td, N.

    Attributes
    ----------
    kp, ki, kd : float
        Fixed gains, or the reference gains of a schedule.
    filter_time : float
        Derivative filter time [s]; 0: none; NaN: unknown.
    set_point_weight : float
        Weight b of the reference in the proportional part.
    low, high : tuple of 3 floats, or None
        Range of (kp, ki, kd) that a schedule can give; None: the gains are fixed.
    at : str
        Where a schedule gives them, for example "|e| = 0 m".
    nodes : tuple of ChannelGains
        The further nodes of a gain table, each with its `at`: with them the table can be typed in.
    """

    kp: float
    ki: float
    kd: float
    filter_time: float = NAN
    set_point_weight: float = 1.0
    low: tuple[float, float, float] | None = None
    high: tuple[float, float, float] | None = None
    at: str = ""
    nodes: tuple[ChannelGains, ...] = ()

    @property
    def standard(self) -> tuple[float, float, float, float]:
        """K, Ti [s], Td [s] and N of K (e + 1/Ti int(e) + Td e' filtered with Td/N); NaN where kp = 0 leaves none."""
        if not self.kp:
            return 0.0, NAN, NAN, NAN
        ti, td = self.kp / self.ki if self.ki else INF, self.kd / self.kp
        n = NAN if not td else td / self.filter_time if self.filter_time else INF
        return self.kp, ti, td, n


@dataclass(frozen=True)
class MarginPoint:
    """Margins of the linearised loop at one operating point, the worst over what `PointMargins.text` says.

    Attributes
    ----------
    operating_point : str
        Its name.
    sensitivity_peak : float
        Ms, largest magnitude of the sensitivity function; infinite: unstable.
    delay_margin : float
        Seconds of extra delay until instability; infinite: never.
    phase_margin, gain_margin : float
        Degrees; factor.
    """

    operating_point: str
    sensitivity_peak: float
    delay_margin: float
    phase_margin: float = NAN
    gain_margin: float = NAN


@dataclass(frozen=True)
class PointMargins:
    """Robustness of one controller; `text` says over what it was taken (rules, plants, samples)."""

    points: tuple[MarginPoint, ...]
    text: str = ""

    @property
    def sensitivity_peak(self) -> float:
        """Largest Ms of all points; NaN without any."""
        return max((p.sensitivity_peak for p in self.points), default=NAN)

    @property
    def delay_margin(self) -> float:
        """Smallest delay margin [s] of all points; NaN without any."""
        return min((p.delay_margin for p in self.points), default=NAN)


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
    margins : Margins or NotAvailable
        Ms and delay margin.
    results : tuple of SituationResult
        At most one per situation.
    evaluations : int or None
        Closed-loop evaluations that its search used.
    parameters : int or None
        Number of tuned numbers.
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

    @property
    def name(self) -> str:
        """The short label."""
        return self.short or self.label

    def result(self, situation: str) -> SituationResult | None:
        """The result in the named situation, None where it was not run."""
        return next((r for r in self.results if r.situation == situation), None)
