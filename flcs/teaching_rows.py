"""Rows of a teaching signal (gain trajectories to learn), checked, and how their columns belong to channels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.naming import unknown

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

    def column_of(self, name: str, channel: int) -> int:
        """Return the column of an input of a channel: its own "e", "e_rate", "z", or a plant output.

        Raises
        ------
        ValueError
            If there is none, with the near miss.
        """
        return column_of(self.input_names, name, channel)

    def chosen(self, rows: Sequence[int] | NDArray[np.bool_]) -> TeachingRows:
        """Return some of the rows."""
        return TeachingRows(
            self.inputs[rows],
            self.gains[rows],
            self.weight[rows],
            self.situation[rows],
            self.input_names,
            self.gain_names,
        )

    def columns(self, places: Sequence[int], names: Sequence[str]) -> TeachingRows:
        """Return all rows with some of the input columns, renamed."""
        return TeachingRows(
            self.inputs[:, list(places)], self.gains, self.weight, self.situation, tuple(names), self.gain_names
        )


def column_of(columns: Sequence[str], name: str, channel: int) -> int:
    """Return the column of an input of a channel among the columns' names; see :meth:`TeachingRows.column_of`."""
    wanted = list(_SYNONYMS.get(name, (name,)))
    own = [f"{synonym}_{channel + 1}" for synonym in wanted]
    for candidate in [*own, *wanted] if name in _SYNONYMS else wanted:
        if candidate in columns:
            return columns.index(candidate)
    raise ValueError(unknown(f"input of channel {channel + 1} in the teaching signal:", name, columns))
