"""What the report knows about learning: the teaching signal, and how the structure of the knowledge base was found.

The teaching signal is the best gains over time that a search found, window after window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.report.records.situations import NAN, Array


@dataclass(frozen=True, eq=False)
class TaughtTrack:
    """One taught situation.

    Attributes
    ----------
    situation : str
        Its name.
    time : array [n]
        Begin of each window [s].
    gains : array [n, n_gains]
        Held through the window.
    weight : array [n]
        How much the window knows about its gains, 0..1.
    learned : array [n, n_gains] or None
        What the knowledge base that learned it gives for the same inputs.
    """

    situation: str
    time: Array
    gains: Array
    weight: Array
    learned: Array | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        n = len(self.time)
        expected = {"weight": (n,), "gains": (n, *np.shape(self.gains)[1:])}
        if self.learned is not None:
            expected["learned"] = np.shape(self.gains)
        for name, shape in expected.items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(
                    f"{name} of the teaching signal of {self.situation!r} must have shape {shape}, "
                    f"got {np.shape(getattr(self, name))}"
                )


@dataclass(frozen=True, eq=False)
class TeachingView:
    """The teaching signal.

    Attributes
    ----------
    tracks : tuple of TaughtTrack
    gain_names : tuple of str
        Columns of the gains.
    window : float
        Length of a window [s].
    start_gains : array [n_gains]
        What the search began with.
    learner, start : str
        Keys of the controllers that learned it and that it began with; empty: none.
    text : str
        How it was made.
    """

    tracks: tuple[TaughtTrack, ...]
    gain_names: tuple[str, ...]
    window: float
    start_gains: Array
    learner: str = ""
    start: str = ""
    text: str = ""


@dataclass(frozen=True, eq=False)
class TradeOffView:
    """Number of rules against cost, from all rules down to one.

    Attributes
    ----------
    rules : array [n]
        Rules that are left, decreasing.
    taught : array [n]
        Cost J in the taught situations.
    chosen : int
        Place of the base that is kept.
    loss : float
        Relative loss that was allowed.
    text : str
        The choice in words.
    validation : array [n] or None
        Cost J in the validation situations.
    """

    rules: Array
    taught: Array
    chosen: int
    loss: float
    text: str
    validation: Array | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("taught", "validation"):
            value = getattr(self, name)
            if value is not None and np.shape(value) != np.shape(self.rules):
                raise ValueError(
                    f"{name} of a trade-off must have shape {np.shape(self.rules)} as its numbers of rules, "
                    f"got {np.shape(value)}"
                )
        if not 0 <= self.chosen < len(self.rules):
            raise ValueError(f"chosen of a trade-off must be 0 .. {len(self.rules) - 1}, got {self.chosen}")


@dataclass(frozen=True)
class InputRow:
    """What one input is worth.

    Attributes
    ----------
    name : str
        With the channel, where there are several.
    kept : bool
    information, threshold : float
        Mutual information with the gains and what shifted copies reach by chance [nat].
    taught, validation : float
        Relative change of the cost without it; NaN: not tried.
    text : str
        Why it stays or went.
    """

    name: str
    kept: bool
    information: float = NAN
    threshold: float = NAN
    taught: float = NAN
    validation: float = NAN
    text: str = ""


@dataclass(frozen=True, eq=False)
class StructureView:
    """How terms, inputs and rules were chosen; what was not searched is empty.

    Attributes
    ----------
    trade_off : TradeOffView or None
    inputs : tuple of InputRow
    terms : str
        How number and shape of the terms were chosen.
    """

    trade_off: TradeOffView | None = None
    inputs: tuple[InputRow, ...] = ()
    terms: str = ""
