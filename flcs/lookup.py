"""Look-up tables: the gains of a channel on a regular grid of its inputs, with linear interpolation between nodes.

Inside the taught ranges a table differs from the rules by at most the error it states (the largest found between the
nodes); outside, both fade to the reference gains in the same way, so the bound holds everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from flcs.membership import ramp
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from flcs.knowledge_base import KnowledgeBase
    from flcs.membership import Number, Numbers
    from flcs.rule_base import RuleBase

DEFAULT_POINTS = {1: 65, 2: 33, 3: 17}
MOST_NODES = 200_000  # a table of 3 gains in double precision is then 5 MB
MOST_UNROLLED = 1_200  # nodes that fit a compiled loop without branches
_BETWEEN = 4  # places per cell and axis at which the error is looked for


@dataclass(frozen=True)
class Axis:
    """One input of a table: `points` nodes evenly from `low` to `high`."""

    name: str
    unit: str
    low: float
    high: float
    points: int

    @property
    def nodes(self) -> NDArray[np.float64]:
        """Places of the nodes [points]."""
        return np.linspace(self.low, self.high, self.points)

    @property
    def spacing(self) -> float:
        """Distance of neighbouring nodes."""
        return (self.high - self.low) / (self.points - 1)


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Gains of one channel on a grid.

    Attributes
    ----------
    name : str
        The controlled output.
    axes : tuple of Axis
    gain_names : tuple of str
    values : array [points of each axis ..., n_gains]
        Before authority and fading.
    low, high, reference : tuple of float [n_gains]
        Box and reference gains.
    fade : float
        As of the knowledge base.
    error : float
        Largest difference to the rules that was found, as a share of the box.
    source : str
        Content hash of the knowledge base.
    """

    name: str
    axes: tuple[Axis, ...]
    gain_names: tuple[str, ...]
    values: NDArray[np.float64]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reference: tuple[float, ...]
    fade: float = 1.0
    error: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        """Check shapes and numbers."""
        values = np.ascontiguousarray(self.values, dtype=float)
        shape = (*(axis.points for axis in self.axes), len(self.gain_names))
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"a table needs finite values of shape {shape}, got shape {values.shape}")
        object.__setattr__(self, "values", values)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod([axis.points for axis in self.axes]))

    def gains(self, inputs: ArrayLike, authority: float = 1.0) -> NDArray[np.float64]:
        """Return the gains [n, n_gains] for inputs [n, n_inputs]."""
        x = np.asarray(inputs, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(self.axes):
            raise ValueError(f"inputs must have shape (n, {len(self.axes)}), got {x.shape}")
        columns = tuple(x[:, k] for k in range(len(self.axes)))
        result = np.zeros((len(x), len(self.gain_names)))
        lower, part = self._cells(columns)
        for corner in product((0, 1), repeat=len(self.axes)):
            weight = np.ones(len(x))
            for side, share in zip(corner, part, strict=True):
                weight = weight * (share if side else 1.0 - share)
            result += weight[:, None] * self.values[tuple(i + side for i, side in zip(lower, corner, strict=True))]
        faded = self._faded(columns, [result[:, k] for k in range(result.shape[1])], authority)
        return np.stack(faded, axis=1)

    def block(self, x: Numbers, authority: float = 1.0) -> Numbers:
        """Gains from the table without branches: a block, for tables that are small enough to be unrolled.

        Raises
        ------
        ValueError
            If the table has more than 1 200 nodes.
        """
        if self.n_nodes > MOST_UNROLLED:
            raise ValueError(
                f"a table of {self.n_nodes} nodes is too large for a compiled loop (at most {MOST_UNROLLED}); tabulate "
                "with fewer points, or use the rules"
            )
        hats = [_hats(axis, value) for axis, value in zip(self.axes, x, strict=True)]
        gains = [_contracted(self.values[..., k].tolist(), hats) for k in range(len(self.gain_names))]
        return tuple(self._faded(x, gains, authority))

    def _cells(self, columns: Numbers) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
        lower, part = [], []
        for axis, value in zip(self.axes, columns, strict=True):
            place = (clip(value, axis.low, axis.high) - axis.low) / axis.spacing
            cell = np.minimum(place.astype(np.intp), axis.points - 2)
            lower.append(cell)
            part.append(np.clip(place - cell, 0.0, 1.0))
        return lower, part

    def _faded(self, x: Numbers, gains: Sequence[Number], authority: float) -> list[Number]:
        """Gains led back to the reference gains by authority and by the distance outside the ranges."""
        outside = sum(
            (
                magnitude(value - clip(value, a.low, a.high)) * (1.0 / (self.fade * (a.high - a.low)))
                for a, value in zip(self.axes, x, strict=True)
            ),
            0.0,
        )
        weight = authority * maximum(1.0 - outside, 0.0)
        rows = zip(gains, self.low, self.reference, self.high, strict=True)
        return [clip(reference + weight * (gain - reference), low, high) for gain, low, reference, high in rows]

    def save(self, path: str | Path) -> None:
        """Write the table as CSV with a header; see :mod:`flcs.lookup_csv`."""
        from flcs import lookup_csv

        lookup_csv.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> LookupTable:
        """Read what :meth:`save` wrote; ValueError with the line where the file is not such a table."""
        from flcs import lookup_csv

        return lookup_csv.load(path)


def tabulate(
    kb: KnowledgeBase,
    channel: int = 0,
    *,
    points: int | Sequence[int] | None = None,
    tolerance: float | None = 0.01,
) -> LookupTable:
    """Return a channel of a knowledge base as a table.

    Parameters
    ----------
    kb : KnowledgeBase
    channel : int
    points : int or sequence of int [n_inputs], optional
        Nodes of each input to begin with; left out 65, 33 x 33, 17 x 17 x 17, 9 for more inputs.
    tolerance : float, optional
        Double the number of cells until the error is at most this share of the box. None: take `points` as they are.

    Raises
    ------
    ValueError
        If 200 000 nodes do not reach the tolerance.
    """
    base = kb.channels[channel]
    counts = _counts(base, points)
    while True:
        if int(np.prod(counts)) > MOST_NODES:
            raise ValueError(
                f"a table of {' x '.join(map(str, counts))} nodes would be needed for an error of {tolerance:g} of the "
                f"box (at most {MOST_NODES} nodes); allow a larger tolerance or use the rules themselves"
            )
        table = _filled(kb, channel, counts)
        if tolerance is None or table.error <= tolerance:
            return table
        counts = [2 * count - 1 for count in counts]


def _counts(base: RuleBase, points: int | Sequence[int] | None) -> list[int]:
    n = len(base.inputs)
    if points is None:
        return [DEFAULT_POINTS.get(n, 9)] * n
    counts = [points] * n if isinstance(points, int) else [int(count) for count in points]
    if len(counts) != n or min(counts) < 2:
        raise ValueError(f"points must be at least 2 for each of {base.input_names}, got {points}")
    return counts


def _filled(kb: KnowledgeBase, channel: int, counts: Sequence[int]) -> LookupTable:
    base = kb.channels[channel]
    axes = tuple(Axis(v.name, v.unit, v.low, v.high, n) for v, n in zip(base.inputs, counts, strict=True))
    exact = _exact(kb, channel, [axis.nodes for axis in axes])
    source = kb.content_hash
    table = LookupTable(
        base.name, axes, base.gain_names, exact, base.low, base.high, base.reference, kb.inference.fade, 0.0, source
    )
    object.__setattr__(table, "error", _largest_error(kb, channel, table))
    return table


def _exact(kb: KnowledgeBase, channel: int, places: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Gains by the rules, with full authority, on the grid of `places`: array [..., n_gains]."""
    from flcs import inference

    base = kb.channels[channel]
    mesh = np.meshgrid(*places, indexing="ij")
    gains = inference.infer(base, kb.inference, tuple(m.ravel() for m in mesh), inference.own_numbers(base), 1.0)
    shaped = [
        np.broadcast_to(np.asarray(gain, dtype=float).ravel(), mesh[0].size).reshape(mesh[0].shape) for gain in gains
    ]
    return np.stack(shaped, axis=-1)


def _largest_error(kb: KnowledgeBase, channel: int, table: LookupTable) -> float:
    """Largest difference to the rules, as a share of the box, between the nodes and at the terms' kinks."""
    base = kb.channels[channel]
    places = []
    for axis, variable in zip(table.axes, base.inputs, strict=True):
        between = np.linspace(axis.low, axis.high, _BETWEEN * (axis.points - 1) + 1)
        inside = [c for c in variable.centres if axis.low <= c <= axis.high]
        places.append(np.unique(np.concatenate([between, inside])))
    span = np.array(base.high) - np.array(base.low)
    worst = 0.0
    for first in places[0]:  # slice after slice: the fine grid as a whole may be large
        grid = [np.array([first]), *places[1:]]
        points = np.stack([m.ravel() for m in np.meshgrid(*grid, indexing="ij")], axis=1)
        exact = _exact(kb, channel, grid).reshape(len(points), -1)
        difference = np.abs(table.gains(points) - exact) / np.where(span > 0.0, span, 1.0)
        worst = max(worst, float(difference.max()))
    return worst


def _hats(axis: Axis, x: Number) -> list[Number]:
    """Weight of each node at `x`."""
    place = ramp(x, axis.low, axis.high) * float(axis.points - 1)
    return [maximum(1.0 - magnitude(place - float(node)), 0.0) for node in range(axis.points)]


def _contracted(values: Sequence[object], hats: Sequence[Sequence[Number]]) -> Number:
    """Sum of values times the hats of all axes."""
    if len(hats) == 1:
        return sum((weight * value for weight, value in zip(hats[0], values, strict=True)), 0.0)
    rows = [_contracted(row, hats[1:]) for row in values]  # type: ignore[arg-type]
    return sum((weight * row for weight, row in zip(hats[0], rows, strict=True)), 0.0)


__all__ = ["Axis", "LookupTable", "tabulate"]
