"""Rows of a teaching signal (gain trajectories to learn), checked, and how their columns belong to channels.

Also their compression (rows that say nearly the same become one, with their weights together) and their mirror images.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.learning.terms import robust_range
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_SYNONYMS = {"e": ("e", "error"), "e_rate": ("e_rate", "error_rate"), "z": ("z", "error_integral")}
_NUMBERED = re.compile(r"(.+)_(\d+)")


@dataclass(frozen=True, eq=False)
class TeachingRows:
    """A teaching signal as arrays.

    Attributes
    ----------
    inputs : array [n, n_inputs]
    gains : array [n, n_gains]
    weight : array [n]
        How far the gains of a row are determined, 0 .. 1.
    situation : array [n] of int
        Number of the situation that a row comes from.
    input_names, gain_names : tuple of str

    Raises
    ------
    ValueError
        For shapes that do not fit, numbers that are not finite, or negative weights.
    """

    inputs: NDArray[np.float64]
    gains: NDArray[np.float64]
    weight: NDArray[np.float64]
    situation: NDArray[np.int64]
    input_names: tuple[str, ...]
    gain_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check and coerce."""
        for name in ("inputs", "gains", "weight"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        object.__setattr__(self, "situation", np.asarray(self.situation).astype(np.int64))
        for name in ("input_names", "gain_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        n = len(self.inputs)
        wanted = {
            "inputs": (n, len(self.input_names)),
            "gains": (n, len(self.gain_names)),
            "weight": (n,),
            "situation": (n,),
        }
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array.shape != shape or n == 0:
                raise ValueError(f"{name} of a teaching signal must have shape {shape} with n > 0, got {array.shape}")
            if not np.isfinite(array).all():
                row = int(np.argwhere(~np.isfinite(array))[0][0])
                raise ValueError(
                    f"{name} of a teaching signal must be finite, got {array[row]} in row {row}; leave out rows of "
                    "rollouts that diverged"
                )
        if (self.weight < 0.0).any():
            raise ValueError(f"weights of a teaching signal must not be negative, got {self.weight.min()}")

    @classmethod
    def of(cls, signal: Any) -> TeachingRows:
        """Return the rows of any object with these fields (`sscq`'s teaching signal, a table of one's own)."""
        if isinstance(signal, cls):
            return signal
        fields = ("inputs", "gains", "weight", "situation", "input_names", "gain_names")
        missing = [name for name in fields if not hasattr(signal, name)]
        if missing:
            raise TypeError(
                f"expected a teaching signal, got {type(signal).__name__}, which lacks {', '.join(missing)}"
            )
        return cls(**{name: getattr(signal, name) for name in fields})

    @property
    def n_channels(self) -> int:
        """Number of control channels, by the numbers behind the gains' names."""
        return 1 + max(channel for channel, _ in self._gain_columns())

    def gains_of(self, channel: int) -> tuple[tuple[str, ...], list[int]]:
        """Return the names of a channel's gains and their columns."""
        pairs = [(name, k) for k, (owner, name) in enumerate(self._gain_columns()) if owner == channel]
        return tuple(name for name, _ in pairs), [k for _, k in pairs]

    def _gain_columns(self) -> list[tuple[int, str]]:
        matches = [_NUMBERED.fullmatch(name) for name in self.gain_names]
        if not all(matches):
            return [(0, name) for name in self.gain_names]
        return [(int(match[2]) - 1, match[1]) for match in matches if match]

    def chosen(self, rows: Sequence[int] | NDArray[np.bool_]) -> TeachingRows:
        """Return some of the rows."""
        parts = {name: getattr(self, name)[rows] for name in ("inputs", "gains", "weight", "situation")}
        return replace(self, **parts)

    def columns(self, places: Sequence[int], names: Sequence[str]) -> TeachingRows:
        """Return all rows with some of the input columns, renamed."""
        return replace(self, inputs=self.inputs[:, list(places)], input_names=tuple(names))


def column_of(columns: Sequence[str], name: str, channel: int) -> int:
    """Return which of the columns is an input of a channel: its own "e", "e_rate", "z", or a plant output.

    Raises
    ------
    ValueError
        If there is none, with the near miss.
    """
    wanted = list(_SYNONYMS.get(name, (name,)))
    own = [f"{synonym}_{channel + 1}" for synonym in wanted]
    for candidate in [*own, *wanted] if name in _SYNONYMS else wanted:
        if candidate in columns:
            return columns.index(candidate)
    raise ValueError(unknown(f"input of channel {channel + 1} in the teaching signal:", name, columns))


def merged(rows: TeachingRows, tolerance: float) -> TeachingRows:
    """Return the rows with those merged whose inputs and gains differ by less than a tolerance.

    In order, a row joins the first group of its situation that began with a row at most `tolerance` away in every input
    and every gain; a group becomes the mean of its rows, with the sum of their weights. So a loop that rests for long
    says so once, with the weight of the whole rest.

    Parameters
    ----------
    rows : TeachingRows
    tolerance : float
        In shares of each column's range (between the 0.5 % and 99.5 % quantiles, widened); 0: no row is merged.

    Returns
    -------
    TeachingRows
    """
    if tolerance <= 0.0:
        return rows
    columns = np.concatenate([rows.inputs, rows.gains], axis=1)
    group = _groups(columns / _spans(columns), rows.situation, tolerance)
    weight = np.zeros(group.max() + 1)
    np.add.at(weight, group, rows.weight)
    share = np.where(weight[group] > 0.0, rows.weight, 1.0)  # rows without any weight count equally
    total, sums = np.zeros(len(weight)), np.zeros((len(weight), columns.shape[1]))
    np.add.at(total, group, share)
    np.add.at(sums, group, share[:, None] * columns)
    means, n = sums / total[:, None], rows.inputs.shape[1]
    situation = rows.situation[np.unique(group, return_index=True)[1]]
    return TeachingRows(means[:, :n], means[:, n:], weight, situation, rows.input_names, rows.gain_names)


def _spans(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([high - low for low, high in map(robust_range, columns.T)])


def _groups(columns: NDArray[np.float64], situation: NDArray[np.int64], tolerance: float) -> NDArray[np.int64]:
    """Number of each row's group, in the order in which the groups begin [n]."""
    group = np.empty(len(columns), dtype=np.int64)
    leaders = np.zeros(0, dtype=np.int64)
    for row, values in enumerate(columns):
        near = np.abs(columns[leaders] - values).max(axis=1) <= tolerance
        places = np.flatnonzero(near & (situation[leaders] == situation[row]))
        if len(places):
            group[row] = places[0]
        else:
            group[row] = len(leaders)
            leaders = np.append(leaders, row)
    return group


def mirrored_rows(rows: TeachingRows) -> TeachingRows:
    """Return the rows with their mirror images: all inputs negative, the same gains, situations of their own."""
    others = rows.situation + rows.situation.max() + 1
    inputs, situation = np.concatenate([rows.inputs, -rows.inputs]), np.concatenate([rows.situation, others])
    gains, weight = np.concatenate([rows.gains] * 2), np.concatenate([rows.weight] * 2)
    return replace(rows, inputs=inputs, gains=gains, weight=weight, situation=situation)


def validation_situations(situation: NDArray[np.int64], share: float, seed: int) -> tuple[int, ...]:
    """Return the situations kept for validation: that share of them, at least one, and none if there is only one."""
    numbers = np.unique(situation)
    if share == 0.0 or len(numbers) < 2:
        return ()
    count = min(max(1, round(share * len(numbers))), len(numbers) - 1)
    chosen = np.random.default_rng(seed).choice(numbers, size=count, replace=False)
    return tuple(sorted(int(number) for number in chosen))
