"""Everything one run report shows, as plain data that the design run fills in.

`ReportData` is the whole; its larger parts are in the other files of this folder. Warnings and where the run comes
from are here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from experiments.report.records.learning import FrontView, Knowledge, SearchHistory, TeachingView
from experiments.report.records.motion import NamedSignal, PictureView, SignalView
from experiments.report.records.results import (
    FROM_FILE,
    ChannelView,
    ControllerResult,
    Group,
    NotAvailable,
    OwnMeasure,
    Response,
    SituationInfo,
)
from experiments.report.records.robustness import MapView
from experiments.report.records.verdict import VerdictText
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flcs.export.proof import Proof


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
    ranges : str
        What the situations of the verdict were drawn over; empty: none were drawn.
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
    ranges: str = ""


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
    units : mapping of measure to str
        Of IAE, travel, entropy and the other built-in measures.
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
    units: Mapping[str, str] = field(default_factory=dict)
    about: PlantText | None = None
    evidence: Evidence | None = None
    robustness: MapView | None = None
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
        optional += [self.verdict.costliest.against] if self.verdict.costliest else []
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
