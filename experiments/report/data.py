"""Everything one run report shows, as plain data that the design run fills in.

`ReportData` is the whole; its parts for controllers and situations are in `results.py`, for rules in `rule_base.py`.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from experiments.report.results import GROUPS, NAN, ChannelView, ControllerResult, Estimate, NotAvailable, SituationInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from experiments.report.results import Array, Group
    from experiments.report.rule_base import RuleBaseView


@dataclass(frozen=True)
class Comparison:
    """Change of the cost J of one controller against another: J / J_against - 1, negative is better.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    change : Estimate
        Relative change with its interval.
    equal_travel : bool
        Whether both were held to the same total variation of u.
    group : {"taught", "validation", "unforeseen"}
        Over which situations.
    travel_ratio : float
        Total variation of `controller` over that of `against`, in this comparison.
    """

    controller: str
    against: str
    change: Estimate
    equal_travel: bool
    group: Group = "unforeseen"
    travel_ratio: float = NAN


@dataclass(frozen=True)
class Criterion:
    """One condition of the verdict: what was asked, whether it held (None: could not be judged), and the numbers."""

    text: str
    passed: bool | None
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the reader should do.

    Attributes
    ----------
    recommended, compared_with : str
        Keys of controllers; equal where the fixed gains win.
    judged : str
        Key of the most ambitious controller that was judged; its change is shown where it is not recommended.
    present : str
        Key of the user's own present tuning; empty: none was given.
    reason : str
        One or two sentences.
    headline : str
        Empty: "Recommend: " and the label of the recommended controller.
    comparisons : tuple of Comparison
        Of the recommended (or judged) controller against every other; the page picks what it needs.
    criteria : tuple of Criterion
        The conditions of the verdict.
    sensitivity_peak_limit, delay_margin_needed : float
        The constraints in force; NaN: none.
    """

    recommended: str
    compared_with: str
    judged: str = ""
    present: str = ""
    reason: str = ""
    headline: str = ""
    comparisons: tuple[Comparison, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    sensitivity_peak_limit: float = NAN
    delay_margin_needed: float = NAN


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
    median : array [n] or None
        Median cost of the generation.
    text : str
        Settings and why it stopped.
    """

    name: str
    controller: str
    evaluations: Array
    best: Array
    median: Array | None = None
    text: str = ""

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("best", "median"):
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
    command : str
        The command line.
    seed : str
        The seed or seeds of the design.
    config : str
        The resolved configuration as text.
    versions : tuple of (name, version)
        Of this project, Python and the packages that compute.
    files : tuple of (file, what it holds)
        Results beside the report.
    facts : tuple of (what, value)
        Anything else: integration step, integrator, date if wanted.
    """

    command: str = ""
    seed: str = ""
    config: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


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
    verdict : Verdict
        What to do.
    rule_bases : tuple of RuleBaseView, or NotAvailable
        One per channel.
    searches : tuple of SearchHistory
        All searches of the run.
    warnings : tuple of ReportWarning
        Gravest first.
    provenance : Provenance
        How to repeat the run.
    """

    title: str
    plant: str
    cost: str
    channels: tuple[ChannelView, ...]
    situations: tuple[SituationInfo, ...]
    controllers: tuple[ControllerResult, ...]
    verdict: Verdict
    rule_bases: tuple[RuleBaseView, ...] | NotAvailable = NotAvailable("the run built no knowledge base")
    searches: tuple[SearchHistory, ...] = ()
    warnings: tuple[ReportWarning, ...] = ()
    provenance: Provenance = Provenance()

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
        compared = [key for c in self.verdict.comparisons for key in (c.controller, c.against)]
        for key in (*filter(None, optional), *compared):
            _known("controller", key, controllers)
        for controller in self.controllers:
            _unique(f"result of {controller.key!r}", [r.situation for r in controller.results])
            for result in controller.results:
                _known("situation", result.situation, situations)

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
