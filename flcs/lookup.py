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

    from flcs.membership import Number, Numbers

MOST_UNROLLED = 1_200  # nodes that fit a compiled loop without branches


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
        lower, part = self.cells(columns)
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

    def cells(self, columns: Numbers) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
        """Return the lower node of the cell on each axis, and the place in the cell, 0 .. 1."""
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
