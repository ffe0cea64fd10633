"""Everything one run report shows, as plain data that the design run fills in.

`ReportData` is the whole; its larger parts are in the other files of this folder. Searches, warnings and where the run
comes from are here.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from experiments.report.records.front import FrontView
from experiments.report.records.learning import TeachingView
from experiments.report.records.motion import NamedSignal, PictureView
from experiments.report.records.results import ControllerResult
from experiments.report.records.situations import (
    FROM_FILE,
    GROUPS,
    Array,
    ChannelView,
    Group,
    NotAvailable,
    OwnMeasure,
    Response,
    SituationInfo,
)
from experiments.report.records.verdict import VerdictText

if TYPE_CHECKING:
    from collections.abc import Iterable

    from experiments.report.records.learning import Knowledge
    from experiments.report.records.motion import SignalView
    from flcs.export.proof import Proof


NO_TEACHING = NotAvailable("the run made no teaching signal")


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """Convergence of one search.

    Attributes
    ----------
    name : str
        For example "best fixed gains, genetic search, seed 0".
    controller : str
        Key of the controller it served (gives the colour); empty: none.
    evaluations : array [n]
        Closed-loop evaluations so far, increasing.
    best : array [n]
        Best cost so far.
    mean : array [n] or None
        Mean cost of each generation.
    text : str
        Settings and why it stopped.
    """

    name: str
    controller: str
    evaluations: Array
    best: Array
    mean: Array | None = None
    text: str = ""

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("best", "mean"):
            value = getattr(self, name)
            if value is not None and np.shape(value) != np.shape(self.evaluations):
                raise ValueError(
                    f"{name} of search {self.name!r} must have shape {np.shape(self.evaluations)} as its evaluations, "
                    f"got {np.shape(value)}"
                )


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
    command, seed : str
        The command line; the seed or seeds of the design.
    config : str
        The resolved configuration as text.
    versions : tuple of (name, version)
        Of this project, Python and the packages that compute.
    files : tuple of (file, what it holds)
        Results beside the report.
    """

    command: str = ""
    seed: str = ""
    config: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class ReportData:
    """The whole report.

    Attributes
    ----------
    title, plant : str
        Heading; one line on the plant.
    cost : str
        Definition of the cost J in words or as a formula.
    channels : tuple of ChannelView
        The control loops, in the order of the columns of every response.
    situations : tuple of SituationInfo
        In the order in which they are shown.
    controllers : tuple of ControllerResult
        The ladder, simplest first.
    verdict : VerdictText
        What to do.
    teaching : TeachingView or NotAvailable
        Best gains over time that the knowledge base learned from.
    warnings : tuple of ReportWarning
        Gravest first.
    facts : tuple of (what, value)
        How it was computed: integration step, integrator, evaluations.
    front : FrontView or None
        Trade-off fronts, where any were searched.
    own_measures : tuple of OwnMeasure
        Quality measures of the plant's own.
    picture : PictureView or None
        The plant in motion, where it has a scene.
    plotted : tuple of NamedSignal
        Signals that the plant names.
    signals : tuple of SignalView
        Their curves over time and over frequency.
    knowledge : Knowledge or None
        The refined knowledge base; how its inputs, terms and the number of its rules were found.
    searches : tuple of SearchHistory
        All searches of the run.
    provenance : Provenance
        How to repeat the run.
    exports : tuple of Proof
        What was exported.
    """

    title: str
    plant: str
    cost: str
    channels: tuple[ChannelView, ...]
    situations: tuple[SituationInfo, ...]
    controllers: tuple[ControllerResult, ...]
    verdict: VerdictText
    teaching: TeachingView | NotAvailable = NO_TEACHING
    warnings: tuple[ReportWarning, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    front: FrontView | None = None
    own_measures: tuple[OwnMeasure, ...] = ()
    picture: PictureView | None = None
    plotted: tuple[NamedSignal, ...] = ()
    signals: tuple[SignalView, ...] = field(default=(), metadata=FROM_FILE)
    knowledge: Knowledge | None = field(default=None, metadata=FROM_FILE)
    searches: tuple[SearchHistory, ...] = field(default=(), metadata=FROM_FILE)
    provenance: Provenance = field(default=Provenance(), metadata=FROM_FILE)
    exports: tuple[Proof, ...] = field(default=(), metadata=FROM_FILE)

    def __post_init__(self) -> None:
        """Check that every name that is used is one that is known."""
        situations, controllers = [s.name for s in self.situations], [c.key for c in self.controllers]
        _unique("situation", situations)
        _unique("controller key", controllers)
        for situation in self.situations:
            _known("group", situation.group, GROUPS)
        _known("recommended controller", self.verdict.recommended, controllers)
        _known("controller to compare with", self.verdict.compared_with, controllers)
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
        compared = [key for c in self.verdict.comparisons for key in (c.controller, c.against)]
        for key in (*filter(None, optional), *compared):
            _known("controller", key, controllers)
        if self.knowledge is not None and len(self.knowledge.kb.channels) != len(self.channels):
            came = len(self.knowledge.kb.channels)
            raise ValueError(f"the knowledge base must have {len(self.channels)} channels, got {came}")
        for controller in self.controllers:
            self._check_channels(controller)
            _unique(f"result of {controller.key!r}", [r.situation for r in controller.results])
            for result in controller.results:
                _known("situation", result.situation, situations)

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


def _known(what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
    raise ValueError(f"no {what} {name!r}: {hint}")
