"""Everything one run report shows, as plain data that the design run fills in.

`ReportData` is the whole; its larger parts are in the other files of this folder. The verdict, warnings and where the
run comes from are here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from experiments.report.records.learning import FrontView, Knowledge, SearchHistory, TeachingView
from experiments.report.records.motion import NamedSignal, PictureView, SignalView
from experiments.report.records.results import (
    FROM_FILE,
    NAN,
    ChannelView,
    ControllerResult,
    Estimate,
    Group,
    NotAvailable,
    OwnMeasure,
    Response,
    SituationInfo,
)
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flcs.export.proof import Proof


@dataclass(frozen=True)
class VerdictComparison:
    """Change of the cost J of one controller against another: J / J_against - 1, negative is better.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    equal_travel : bool
        Whether both were held to the same total variation of u.
    travel_ratio : float
        Total variation of `controller` over that of `against`, in this comparison.
    """

    controller: str
    against: str
    change: Estimate
    equal_travel: bool
    group: Group = "unforeseen"
    travel_ratio: float = NAN

    def turned(self) -> VerdictComparison:
        """The same comparison seen from the other controller."""
        ratio = 1.0 / self.travel_ratio if self.travel_ratio else NAN
        return VerdictComparison(
            self.against, self.controller, self.change.turned(), self.equal_travel, self.group, ratio
        )


@dataclass(frozen=True)
class MeasureChange:
    """Change of one measure's mean against another controller, over the runs of the verdict that both survive.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    measure : str
        Name as in the results of situations, or "cost".
    change : Estimate
        Relative, with its 95 % interval from the same draws as the verdict's.
    """

    controller: str
    against: str
    measure: str
    change: Estimate


@dataclass(frozen=True)
class PlantText:
    """The plant in words: what is controlled, within which ranges, how often.

    Attributes
    ----------
    facts : tuple of (what, value)
        States with their ranges, parameters, commands, sample time.
    equations : str
        Text of the functions that hold them; empty where they cannot be read.
    """

    facts: tuple[tuple[str, str], ...]
    equations: str = ""


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on, and what nobody looked at.

    Attributes
    ----------
    covers : str
        What was drawn for the intervals, and what they therefore say nothing of.
    untested : tuple of str
        What no judged situation had, and which proofs were not asked for.
    worst_case, range_margins : str
        Worst found in the declared ranges; margins over them; empty: not computed.
    unfinished : str
        Searches that still improved when their budget ended; empty: none.
    stability : str
        About the operating points, while gains move where they do; empty: not asked for.
    details : tuple of (what, text)
        The worst cases as situations, the certificates in full.
    """

    covers: str
    untested: tuple[str, ...] = ()
    worst_case: str = ""
    range_margins: str = ""
    unfinished: str = ""
    stability: str = ""
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Criterion:
    """One condition of the verdict: what was asked, whether it held (None: could not be judged), and the numbers."""

    text: str
    passed: bool | None
    detail: str = ""


@dataclass(frozen=True)
class JudgedText:
    """How one controller fared against the one that all are compared with, by the same conditions for all.

    Attributes
    ----------
    wins : float
        Share of the runs in which its cost is lower.
    p_value : float
        Of a rank test on the runs; for information.
    outcome : str
        What became of it, in words.
    """

    controller: str
    criteria: tuple[Criterion, ...]
    wins: float = NAN
    p_value: float = NAN
    outcome: str = ""


@dataclass(frozen=True)
class VerdictText:
    """What the reader should do.

    Attributes
    ----------
    recommended, compared_with : str
        Keys of controllers; equal where the fixed gains win.
    judged : str
        Key of the most ambitious controller that was judged; its change is shown where it is not recommended.
    present : str
        Key of the user's own present tuning; empty: none was given.
    comparisons : tuple of VerdictComparison
        Of the recommended (or judged) controller against every other; the page picks what it needs.
    criteria, judgements : tuple of Criterion, tuple of JudgedText
        The conditions of the verdict for the recommended (or judged) controller, and for every one.
    sensitivity_peak_limit, delay_margin_needed : float
        The constraints in force; NaN: none.
    margin_slack : float
        Relative miss of the constraints (of Ms - 1, of the delay margin) that still counts as held.
    measures : tuple of MeasureChange
        Of the recommended (or judged) controller against the compared and the present one.
    group : str
        Situations on which the verdict rests.
    """

    recommended: str
    compared_with: str
    judged: str = ""
    present: str = ""
    reason: str = ""
    comparisons: tuple[VerdictComparison, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    judgements: tuple[JudgedText, ...] = ()
    sensitivity_peak_limit: float = NAN
    delay_margin_needed: float = NAN
    margin_slack: float = 0.0
    measures: tuple[MeasureChange, ...] = ()
    group: Group = "unforeseen"

    def peak_held(self, sensitivity_peak: float) -> bool:
        """Whether a sensitivity peak keeps its limit, or there is none."""
        bound = 1.0 + (self.sensitivity_peak_limit - 1.0) * (1.0 + self.margin_slack)
        return not sensitivity_peak > bound

    def delay_held(self, delay_margin: float) -> bool:
        """Whether a delay margin is as long as needed, or none is needed."""
        return not delay_margin < self.delay_margin_needed * (1.0 - self.margin_slack)


@dataclass(frozen=True)
class ReportWarning:
    """Something the reader must know: what, how grave, and what to do about it."""

    text: str
    severity: Literal["warning", "note"] = "warning"
    remedy: str = ""


@dataclass(frozen=True)
class Provenance:
    """How the run can be repeated.

    Attributes
    ----------
    config : str
        The resolved configuration as text.
    versions, files : tuple of pairs
        Of this project, Python and the packages that compute; results beside the report and what they hold.
    """

    command: str
    seed: str
    config: str
    versions: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class ReportData:
    """The whole report.

    Attributes
    ----------
    title, plant : str
        Heading; one line on the plant.
    cost : str
        Definition of the cost J in words or as a formula.
    channels, situations, controllers : tuple of ChannelView, tuple of SituationInfo, tuple of ControllerResult
        In the order in which they are shown: channels as the columns of every response, controllers simplest first.
    warnings : tuple of ReportWarning
        Gravest first.
    facts : tuple of (what, value)
        How it was computed: integration step, integrator, evaluations.
    front, picture : FrontView or None, PictureView or None
        Where any front was searched; where the plant has a scene.
    plotted, signals : tuple of NamedSignal, tuple of SignalView
        Signals that the plant names; their curves over time and over frequency.
    about, evidence : PlantText or None, Evidence or None
        The plant in words; what the verdict rests on. None: the run is of an earlier release.
    knowledge : Knowledge or None
        The refined knowledge base; how its inputs, terms and the number of its rules were found.
    """

    title: str
    plant: str
    cost: str
    channels: tuple[ChannelView, ...]
    situations: tuple[SituationInfo, ...]
    controllers: tuple[ControllerResult, ...]
    verdict: VerdictText
    teaching: TeachingView | NotAvailable
    warnings: tuple[ReportWarning, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    front: FrontView | None = None
    own_measures: tuple[OwnMeasure, ...] = ()
    picture: PictureView | None = None
    plotted: tuple[NamedSignal, ...] = ()
    about: PlantText | None = None
    evidence: Evidence | None = None
    signals: tuple[SignalView, ...] = field(default=(), metadata=FROM_FILE)
    knowledge: Knowledge | None = field(default=None, metadata=FROM_FILE)
    searches: tuple[SearchHistory, ...] = field(default=(), metadata=FROM_FILE)
    provenance: Provenance = field(default=Provenance("", "", "", (), ()), metadata=FROM_FILE)
    exports: tuple[Proof, ...] = field(default=(), metadata=FROM_FILE)

    def __post_init__(self) -> None:
        """Check that every name that is used is one that is known."""
        situations, controllers = [s.name for s in self.situations], [c.key for c in self.controllers]
        _unique("situation", situations)
        _unique("controller key", controllers)
        optional = [self.verdict.judged, self.verdict.present, *(s.controller for s in self.searches)]
        optional += [judged.controller for judged in self.verdict.judgements]
        if not isinstance(self.teaching, NotAvailable):
            optional += [self.teaching.learner, self.teaching.start]
        if self.front is not None:
            optional += [s.controller for s in self.front.series] + [key for key, _ in self.front.marks]
        if self.picture is not None:
            optional += [drive.controller for drive in self.picture.drives]
        optional += [one.controller for one in self.signals]
        optional += [] if self.knowledge is None else [self.knowledge.controller]
        optional += [key for c in self.verdict.measures for key in (c.controller, c.against)]
        compared = [key for c in self.verdict.comparisons for key in (c.controller, c.against)]
        named = [("recommended controller", self.verdict.recommended)]
        named += [("controller to compare with", self.verdict.compared_with)]
        named += [("controller", key) for key in (*filter(None, optional), *compared)]
        for what, key in named:
            if key not in controllers:
                raise ValueError(unknown(what, key, controllers))
        if self.knowledge is not None and len(self.knowledge.kb.channels) != len(self.channels):
            came = len(self.knowledge.kb.channels)
            raise ValueError(f"the knowledge base must have {len(self.channels)} channels, got {came}")
        for controller in self.controllers:
            self._check_channels(controller)
            given = [r.situation for r in controller.results]
            if sorted(given) != sorted(situations):
                raise ValueError(
                    f"controller {controller.key!r} must have one result for each situation ({', '.join(situations)}), "
                    f"got {', '.join(given)}"
                )

    def _check_channels(self, controller: ControllerResult) -> None:
        """Check that gains and responses have one entry or column per channel."""
        n_c = len(self.channels)
        if not isinstance(controller.gains, NotAvailable) and len(controller.gains) != n_c:
            raise ValueError(
                f"controller {controller.key!r} must have gains for {n_c} channels, got {len(controller.gains)}"
            )
        for result in controller.results:
            response = result.response
            if isinstance(response, Response) and response.output.shape[1] != n_c:
                raise ValueError(
                    f"the response of {controller.key!r} in {result.situation!r} must have one column for each of the "
                    f"{n_c} channels, got {response.output.shape[1]}"
                )
            if isinstance(response, Response) and response.gains.shape[1:] != (len(controller.gain_names),):
                raise ValueError(
                    f"the response of {controller.key!r} in {result.situation!r} must have the gains "
                    f"{', '.join(controller.gain_names)}, got an array {response.gains.shape}"
                )

    def controller(self, key: str) -> ControllerResult:
        """The controller with this key."""
        return next(c for c in self.controllers if c.key == key)

    def group(self, name: Group) -> tuple[SituationInfo, ...]:
        """The situations of one group."""
        return tuple(s for s in self.situations if s.group == name)


def _unique(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"every {what} must be given once, got more than one of {', '.join(map(repr, twice))}")
