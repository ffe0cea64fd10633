"""The box that a search looks in: range, scale and name of every gene, and the unit cube that stands for it.

Searches work in the unit cube of the free genes (low < high), whatever units and orders of magnitude the genes have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from controllers import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

SCALES = ("linear", "log", "step")
_AT_LOW = 1e-14  # of a gene's range

# Signs of the four points of a half-fraction of the two-level design in three genes: balanced in every gene, and no two
# genes vary together. Further genes repeat the columns.
_NEIGHBOURS = np.array(((1.0, 1.0, 1.0), (-1.0, 1.0, -1.0), (1.0, -1.0, -1.0), (-1.0, -1.0, 1.0)))


def check_bounds(
    low: ArrayLike, high: ArrayLike, names: Sequence[str], what: str = "gene"
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return both bounds as tuples of finite floats with low <= high, or raise ValueError naming the gene."""
    ends = []
    for label, given in (("low", low), ("high", high)):
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (len(names),):
            raise ValueError(
                f"{label} must have one entry for each {what} ({', '.join(names)}), shape ({len(names)},), "
                f"got shape {values.shape}"
            )
        for name, value in zip(names, values, strict=True):
            settings.finite(f"{label} of {what} {name!r}", value)
        ends.append(tuple(values.tolist()))
    for name, below, above in zip(names, *ends, strict=True):
        if below > above:
            raise ValueError(f"low of {what} {name!r} must not exceed its high, got {below} and {above}; swap them")
    return ends[0], ends[1]


@dataclass(frozen=True)
class Box:
    """Ranges of all genes.

    Attributes
    ----------
    low, high : tuple of float
        One entry a gene; a gene with low == high is fixed and left out of the search.
    scale : str or tuple of {"linear", "log", "step"}
        For all genes or gene by gene. "log" searches the logarithm of the magnitude (both bounds of one sign, none 0);
        "step" genes are whole numbers (symbols).
    names : tuple of str
        Default "0", "1", ...
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    scale: tuple[str, ...] = ("linear",)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check and complete the fields."""
        n_genes = np.size(self.low)
        names = tuple(self.names) or tuple(str(gene) for gene in range(n_genes))
        object.__setattr__(self, "names", settings.distinct("names of the genes", names))
        low, high = check_bounds(self.low, self.high, self.names)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        scale = (self.scale,) if isinstance(self.scale, str) else tuple(self.scale)
        scale = scale * n_genes if len(scale) == 1 else scale
        if len(scale) != n_genes:
            raise ValueError(f"scale must be one word or one for each of the {n_genes} genes, got {len(scale)}")
        object.__setattr__(self, "scale", scale)
        for gene in zip(names, scale, low, high, strict=True):
            _check_scale(*gene)

    @property
    def n_genes(self) -> int:
        """Number of genes, fixed ones included."""
        return len(self.low)

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """Positions of the genes that are searched [n_free]."""
        return np.flatnonzero(np.array(self.low) < np.array(self.high))

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Steps from low to high of each free step gene, 0 for a real one [n_free]."""
        spans = np.array(self.high)[self.free] - np.array(self.low)[self.free]
        return np.where(np.array(self.scale)[self.free] == "step", spans, 0.0).astype(np.int64)

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
        """Bounds as arrays [n_genes], and the positions of the step genes."""
        return np.array(self.low), np.array(self.high), np.flatnonzero(np.array(self.scale) == "step")

    @cached_property
    def _sides(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Bounds of the free genes on their scale, and the sign of the logarithmic ones (0: not logarithmic)."""
        low, high = self._bounds[0][self.free], self._bounds[1][self.free]
        sign = np.where(np.array(self.scale)[self.free] == "log", np.sign(low), 0.0)
        return _scaled(low, sign), _scaled(high, sign), sign

    def clip(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return genomes [n, n_genes] moved into the box; a single genome becomes one row."""
        rows = np.array(genomes, dtype=np.float64, ndmin=2)
        if rows.size == 0:
            return np.empty((0, self.n_genes))
        if rows.ndim != 2 or rows.shape[1] != self.n_genes:
            raise ValueError(f"genomes must have shape [n, {self.n_genes}] ({', '.join(self.names)}), got {rows.shape}")
        if not np.isfinite(rows).all():
            raise ValueError(f"genomes must be finite, got {rows[~np.isfinite(rows).all(axis=1)][0]}")
        return self._inside(rows)

    def encode(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return the points of the unit cube [n, n_free] for genomes [n, n_genes], clipped into the box."""
        low, high, sign = self._sides
        return np.clip((_scaled(self.clip(genomes)[:, self.free], sign) - low) / (high - low), 0.0, 1.0)

    def decode(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return genomes [n, n_genes] for points of the unit cube [n, n_free]; 0 and 1 give exactly the bounds.

        What is nearer to 0 than any plant could tell gives the lower bound, too: no gain is 1e-300.
        """
        low, high, sign = self._sides
        values = low + points * (high - low)
        if sign.any():
            log = np.flatnonzero(sign)
            values[:, log] = sign[log] * np.exp(sign[log] * values[:, log])
        values = np.where(points >= 1.0, self._bounds[1][self.free], values)
        values = np.where(points <= _AT_LOW, self._bounds[0][self.free], values)
        genomes = np.tile(self._bounds[0], (len(points), 1))
        genomes[:, self.free] = values
        return self._inside(genomes)

    def _inside(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high, steps = self._bounds
        inside = np.minimum(np.maximum(rows, low), high) + 0.0  # + 0.0: of the two zeros only the positive one
        if steps.size:
            inside[:, steps] = np.rint(inside[:, steps])
        return inside

    def neighbours(self, genome: ArrayLike, distance: float = 0.1) -> NDArray[np.float64]:
        """Return four genomes around one [4, n_genes], `distance` of each gene's range away: a balanced design."""
        settings.positive("distance of the neighbours", distance)
        signs = _NEIGHBOURS[:, np.arange(len(self.free)) % 3]
        return self.decode(np.clip(self.encode(genome) + distance * signs, 0.0, 1.0))


def _scaled(values: NDArray[np.float64], sign: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithmic genes as sign * log(sign * value), which grows with the value; the others as they are."""
    scaled = np.array(values, dtype=np.float64)
    log = np.flatnonzero(sign)
    scaled[..., log] = sign[log] * np.log(sign[log] * scaled[..., log])
    return scaled


def _check_scale(name: str, scale: str, low: float, high: float) -> None:
    settings.one_of(f"scale for gene {name!r} that is called", scale, SCALES)
    if scale == "log" and low * high <= 0.0:
        raise ValueError(
            f"gene {name!r} on a log scale needs bounds of one sign without 0, got {low} and {high}; "
            "use a small bound instead of 0, or scale 'linear'"
        )
    if scale == "step" and not (low.is_integer() and high.is_integer()):
        raise ValueError(f"step gene {name!r} needs whole bounds, got {low} and {high}; round them")
