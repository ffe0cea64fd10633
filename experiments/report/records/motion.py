"""What the page needs of a plant's motion: its moving picture, and the signals that the plant names.

Views with their bodies and recorded drives are whole numbers; signals of one controller in one situation are over time
and over frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from experiments.report.records.results import FROM_FILE, Array


@dataclass(frozen=True)
class BodyView:
    """One body: `kind` and `tint` as of `plants.Body`, and the scale of the numbers that colour it, if any."""

    kind: str
    tint: str
    name: str = ""
    levels: tuple[float, float] | None = None
    level_text: str = ""


@dataclass(frozen=True)
class SceneView:
    """What is seen from one side; all as of `plants.View`."""

    name: str
    across: str
    up: str
    unit: str
    window: tuple[float, float, float, float]
    grain: float
    note: str
    bodies: tuple[BodyView, ...]


@dataclass(frozen=True, eq=False)
class Drive:
    """One controller in one situation.

    Attributes
    ----------
    step : float
        Time between frames [s].
    parts : mapping of str to int array
        As `experiments.report.builders.motion.sampled` gives them.
    """

    situation: str
    controller: str
    step: float
    parts: Mapping[str, Array]

    @property
    def frames(self) -> int:
        """Number of frames: that of whatever moves."""
        moving = [len(v) for k, v in self.parts.items() if k.rsplit(".", 1)[-1] in {"follow", "motion", "free"}]
        return max(moving, default=1)

    def points(self, view: int, body: int, frame: int) -> Array:
        """Return the points [k, 2] of a body in one frame, in grains."""
        head = f"{view}.{body}."
        for what in ("still", "free"):
            if head + what in self.parts:
                values = self.parts[head + what]
                return np.asarray(values[min(frame, len(values) - 1)], dtype=float)
        if head + "path" in self.parts:
            return np.asarray(self.parts[head + "path"], dtype=float)
        shape = np.asarray(self.parts[head + "shape"], dtype=float)
        across, up, turned = self.parts[head + "motion"][frame]
        angle = turned / np.hypot(*shape.T).max()
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        return np.asarray(shape @ turn + (across, up))

    def follow(self, view: int, frame: int) -> Array:
        """Return what a view follows in one frame [2], in grains."""
        values = self.parts.get(f"{view}.follow")
        return np.zeros(2) if values is None else np.asarray(values[frame], dtype=float)


@dataclass(frozen=True, eq=False)
class PictureView:
    """The whole picture."""

    text: str
    pace: float
    views: tuple[SceneView, ...]
    drives: tuple[Drive, ...] = field(default=(), metadata=FROM_FILE)

    @property
    def situations(self) -> tuple[str, ...]:
        """Names of the situations, in order."""
        return tuple(dict.fromkeys(drive.situation for drive in self.drives))


@dataclass(frozen=True, eq=False)
class NamedSignal:
    """A signal that the plant names.

    Attributes
    ----------
    span : float
        Length of the piece that is shown over time [s].
    weighting_name : str
        Of the frequency weighting; empty: none.
    weights : mapping of situation to array [n]
        The weighting's squared magnitude at the frequencies of the spectra.
    """

    name: str
    unit: str
    span: float = 0.0
    weighting_name: str = ""
    weights: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SignalView:
    """One curve.

    Attributes
    ----------
    what : {"history", "spectrum"}
    x, y : array [n]
        Time [s] or frequency [Hz], and values in the `unit`; those of a spectrum are above 0.
    """

    situation: str
    controller: str
    what: str
    name: str
    unit: str
    x: Array
    y: Array
