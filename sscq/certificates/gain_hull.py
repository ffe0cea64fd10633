"""Gain sets whose hull holds everything that a schedule can give: the vertices that a certificate needs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

MOST_SETS = 600  # combinations of several channels' rules; beyond it their boxes stand for them


@dataclass(frozen=True, eq=False)
class GainHull:
    """Vertices of a hull of gain sets.

    Attributes
    ----------
    names : tuple of str [n_sets]
    gains : array [n_sets, n_gains]
    text : str
        What the vertices are.
    """

    names: tuple[str, ...]
    gains: Array
    text: str = "the gain sets"

    def __post_init__(self) -> None:
        """Check, and keep equal sets once, under their first name."""
        gains = np.atleast_2d(np.asarray(self.gains, float))
        if len(self.names) != len(gains) or not np.isfinite(gains).all():
            raise ValueError(f"a hull needs one name for each set of finite gains, got {len(self.names)}, {gains}")
        _, first = np.unique(gains, axis=0, return_index=True)
        kept = np.sort(first)
        object.__setattr__(self, "names", tuple(self.names[k] for k in kept))
        object.__setattr__(self, "gains", gains[kept])

    def corners(self, gain_names: Sequence[str]) -> GainHull:
        """Return the corners of the box around the sets: for gains that take ways of their own."""
        low, high = self.gains.min(axis=0), self.gains.max(axis=0)
        free = [(0, 1) if a < b else (0,) for a, b in zip(low, high, strict=True)]
        names, rows = [], []
        for ends in product(*free):
            words = (f"{'high' if end else 'low'} {g}" for g, end, some in zip(gain_names, ends, free, strict=True)
                     if len(some) > 1)  # fmt: skip
            names.append(f"corner with {', '.join(words)}")
            rows.append(np.where(ends, high, low))
        return GainHull(tuple(names), np.array(rows), self.text)


def combined(
    parts: Sequence[GainHull], references: Sequence[ArrayLike], corners: Sequence[GainHull], *, boxed: str = ""
) -> GainHull:
    """Return the hull of several channels together, each channel's sets with each of the others'.

    Each channel's sets beside the references of the others come first, so that a report names the rule of one channel
    where it can. Where the combinations are too many, or the gains may leave the hull of the sets (`boxed` says why),
    those of the boxes' corners stand for them.
    """
    if len(parts) == 1:
        if not boxed:
            return parts[0]
        (part,), (box,) = parts, corners
        text = f"{part.text} and the corners of the box around them ({boxed})"
        return GainHull((*part.names, *box.names), np.concatenate([part.gains, box.gains]), text)
    rows, names = [], []
    for k, part in enumerate(parts):
        for name, gains in zip(part.names, part.gains, strict=True):
            rows.append(np.concatenate([gains if i == k else np.asarray(r) for i, r in enumerate(references)]))
            names.append(name)
    many = bool(boxed) or int(np.prod([len(part.names) for part in parts])) > MOST_SETS
    for choice in product(*(zip(h.names, h.gains, strict=True) for h in (corners if many else parts))):
        rows.append(np.concatenate([gains for _, gains in choice]))
        names.append("; ".join(name for name, _ in choice))
    how = f"in boxes for each channel{f' ({boxed})' if boxed else ''}" if many else "each channel with each other"
    text = f"{parts[0].text}, {how}"
    return GainHull(tuple(names), np.array(rows), text)


def hull_of(controller: Any, gains: Any = None) -> GainHull:
    """Return the hull of a controller's gains.

    Parameters
    ----------
    controller : Controller, law, or FuzzyController
    gains : GainHull, array [n_sets, n_gains], or array [n_theta], optional
        Sets as they are; or the parameters of a table over one variable or time, whose rows are the vertices. Left
        out: what the controller says by itself (``gain_hull``).

    Raises
    ------
    ValueError
        If nothing says which gains are meant.
    """
    if isinstance(gains, GainHull):
        return gains
    if gains is None:
        if not hasattr(controller, "gain_hull"):
            raise ValueError(
                f"{type(controller).__name__} does not say which gains it gives; give gains [n_sets, n_gains]"
            )
        own: GainHull = controller.gain_hull
        return own
    rows = np.asarray(gains, float)
    schedule = getattr(controller, "schedule", None)
    nodes = getattr(schedule, "nodes", getattr(schedule, "times", None))
    if rows.ndim == 1 and schedule is not None and nodes is not None:
        n_gains = len(schedule.gain_names)
        rows = rows[: len(nodes) * n_gains].reshape(len(nodes), n_gains)
        return GainHull(tuple(f"gains at {node:g}" for node in nodes), rows, "the rows of the gain table")
    rows = np.atleast_2d(rows)
    return GainHull(tuple(f"gain set {k + 1}" for k in range(len(rows))), rows)
