"""What the report knows about the teaching signal: best gains over time that a search found, window after window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.report.situations import Array


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
