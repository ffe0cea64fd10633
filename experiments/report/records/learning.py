"""What the report knows about how controllers were found: searches, trade-off fronts, teaching signal, knowledge base.

The teaching signal is the best gains over time that a search found, window after window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.records.results import FROM_FILE, Array

if TYPE_CHECKING:
    from flcs import KnowledgeBase
    from flcs.refinement.rule_count import TradeOff
    from sscq.teaching.teaching_signal import TeachingSignal


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """Convergence of one search.

    Attributes
    ----------
    controller : str
        Key of the controller it served (gives the colour); empty: none.
    evaluations, best : array [n]
        Closed-loop evaluations and best cost so far.
    mean : array [n] or None
        Mean cost of each generation.
    text : str
        Settings and why it stopped.
    spent : tuple of (str, float)
        Methods in words, and the evaluations of each.
    """

    name: str
    controller: str
    evaluations: Array
    best: Array
    mean: Array | None = None
    text: str = ""
    spent: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("best", "mean"):
            value = getattr(self, name)
            if value is not None and np.shape(value) != np.shape(self.evaluations):
                raise ValueError(
                    f"{name} of search {self.name!r} must have shape {np.shape(self.evaluations)} as its evaluations, "
                    f"got {np.shape(value)}"
                )


@dataclass(frozen=True, eq=False)
class FrontSeries:
    """The front of one kind of controller.

    Attributes
    ----------
    controller : str
        Key of the controller whose colour it has; empty: none.
    values, gains : array [n, n_objectives], array [n, n_gains]
        Of its points; those in `points` are named.
    gain_names : tuple of str
        Empty where the parameters are too many to be shown.
    text : str
        Evaluations, and by how much each objective can fall within the error budget.
    own_points : bool
        Its table shows its own points alone, without the ladder's controllers.
    """

    name: str
    controller: str
    values: Array
    points: tuple[tuple[str, int], ...]
    gain_names: tuple[str, ...]
    gains: Array
    text: str
    own_points: bool = False


@dataclass(frozen=True, eq=False)
class FrontView:
    """What the section shows.

    Attributes
    ----------
    labels, units : tuple of str
        Of the objectives; unit "": none.
    marks : tuple of (controller key, array [n_objectives])
        Where the ladder's controllers lie.
    text : str
        What was searched, how far and how the point was chosen.
    whole : bool
        The drawing holds all controllers; left out, not those far from the fronts, which would press these into a
        corner.
    """

    labels: tuple[str, ...]
    series: tuple[FrontSeries, ...]
    marks: tuple[tuple[str, Array], ...]
    text: str
    units: tuple[str, ...]
    whole: bool = False

    def head(self, k: int) -> str:
        """Return name and unit of an objective."""
        return f"{self.labels[k]} [{self.units[k]}]" if self.units[k] else self.labels[k]


def by_place(series: FrontSeries) -> dict[int, list[str]]:
    """Names of each named point, in order of the first objective."""
    found: dict[int, list[str]] = {}
    for name, i in series.points:
        found.setdefault(i, []).append(name)
    return dict(sorted(found.items()))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A knowledge base (rule-based gain schedule) with what the run says about it.

    Attributes
    ----------
    curve : TradeOff or None
        Number of its rules against cost, and what each rule is worth.
    shares : array [n_rules of all channels] or None
        Mean share of every rule in the gains over the taught situations, 0..1; NaN: not known.
    moment : array [1 + n_inputs] or None
        Time [s] and inputs of a moment, in the situation `place`, at which the rules are shown at work.
    controller : str
        Key of the controller that uses it.
    by_two : array [n_channels] or None
        Part of what the rules say in the taught situations that the two strongest of each moment say, 0..1.
    """

    kb: KnowledgeBase
    curve: TradeOff | None = None
    shares: Array | None = None
    moment: Array | None = None
    place: str = ""
    controller: str = "knowledge_base"
    by_two: Array | None = None

    def shares_of(self, channel: int) -> Array:
        """Shares of the rules of one channel."""
        sizes = [len(base.rules) for base in self.kb.channels]
        first = sum(sizes[:channel])
        every = np.full(sum(sizes), np.nan) if self.shares is None else self.shares
        return every[first : first + sizes[channel]]


@dataclass(frozen=True, eq=False)
class TeachingView:
    """The teaching signal: its windows, how it was made.

    Attributes
    ----------
    labels : tuple of str
        What its situations are called.
    window : float
        Length of a window [s].
    start_gains : array [n_gains]
        What the search began with, those of the controller `start`.
    learner : str
        Key of the controller that learned it in this `round` of teaching; empty, and round 0: none.
    learned : array [n, n_gains] or None
        What the knowledge base that learned it gives for the same inputs.
    """

    labels: tuple[str, ...]
    window: float
    start_gains: Array
    learner: str = ""
    start: str = ""
    text: str = ""
    round: int = 0
    signal: TeachingSignal | None = field(default=None, metadata=FROM_FILE)
    learned: Array | None = field(default=None, metadata=FROM_FILE)
