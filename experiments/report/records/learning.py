"""What the report knows about learning: the refined knowledge base, and the teaching signal that it learned from.

The teaching signal is the best gains over time that a search found, window after window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.records.situations import FROM_FILE, Array

if TYPE_CHECKING:
    from flcs import KnowledgeBase
    from flcs.refinement.rule_count import TradeOff
    from sscq.teaching.teaching_signal import TeachingSignal


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A knowledge base (rule-based gain schedule) with what the run says about it.

    Attributes
    ----------
    kb : KnowledgeBase
    curve : TradeOff or None
        Number of its rules against cost, and what each rule is worth.
    shares : array [n_rules of all channels] or None
        Mean share of every rule in the gains over the taught situations, 0..1; NaN: not known.
    moment : array [1 + n_inputs] or None
        Time [s] and inputs of a moment at which the rules are shown at work.
    place : str
        The situation of that moment.
    controller : str
        Key of the controller that uses it.
    """

    kb: KnowledgeBase
    curve: TradeOff | None = None
    shares: Array | None = None
    moment: Array | None = None
    place: str = ""
    controller: str = "knowledge_base"

    def shares_of(self, channel: int) -> Array:
        """Shares of the rules of one channel."""
        sizes = [len(base.rules) for base in self.kb.channels]
        first = sum(sizes[:channel])
        every = np.full(sum(sizes), np.nan) if self.shares is None else self.shares
        return every[first : first + sizes[channel]]


@dataclass(frozen=True, eq=False)
class TeachingView:
    """The teaching signal.

    Attributes
    ----------
    labels : tuple of str
        What its situations are called.
    window : float
        Length of a window [s].
    start_gains : array [n_gains]
        What the search began with.
    learner, start : str
        Keys of the controllers that learned it and that it began with; empty: none.
    text : str
        How it was made.
    round : int
        Of teaching, whose knowledge base is the learner; 0: none.
    signal : TeachingSignal or None
        The windows.
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
