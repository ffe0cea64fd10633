"""A density that is linear between the nodes of a table: distribution, moments and the diffusion that keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = np.ndarray[Any, Any]

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)  # exact to degree 7: a fourth moment times a line has 5


@dataclass(frozen=True)
class TabulatedLaw:
    """A piecewise linear density.

    Attributes
    ----------
    nodes, density : tuple of float [n]

    Raises
    ------
    ValueError
        Where the table is no density: nodes that do not increase, negative or missing values, 0 between the ends (no
        path would cross).
    """

    nodes: tuple[float, ...]
    density: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.density) or len(self.nodes) < 2:
            message = (
                f"a tabulated density needs as many values as nodes, at least two; got {len(self.density)} values and "
                f"{len(self.nodes)} nodes"
            )
            raise ValueError(message)
        if not np.isfinite([*self.nodes, *self.density]).all():
            message = "a tabulated density must be finite; mend or cut the table"
            raise ValueError(message)
        if any(b <= a for a, b in pairwise(self.nodes)):
            message = "the nodes of a tabulated density must increase strictly"
            raise ValueError(message)
        inner = self.density[1:-1]
        if min(self.density) < 0.0 or (inner and min(inner) <= 0.0) or max(self.density) <= 0.0:
            message = (
                "a tabulated density must be positive between its ends, and not negative there: a filter cannot cross "
                f"a gap; got {min(self.density):g} as the smallest value"
            )
            raise ValueError(message)

    @cached_property
    def _grid(self) -> tuple[Array, Array, Array]:
        """Nodes, normalised density, distribution at the nodes."""
        x, p = np.array(self.nodes), np.array(self.density)
        mass = np.append(0.0, np.cumsum(0.5 * (p[1:] + p[:-1]) * np.diff(x)))
        return x, p / mass[-1], mass / mass[-1]

    def pdf(self, x: Any) -> Array:
        """Density; 0 outside."""
        return np.interp(x, self._grid[0], self._grid[1], left=0.0, right=0.0)

    def cdf(self, x: Any) -> Array:
        """Distribution function."""
        nodes, _, mass = self._grid
        x = np.clip(x, nodes[0], nodes[-1])
        k = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
        p = self.pdf(nodes[k]), self.pdf(x)
        return mass[k] + 0.5 * (p[0] + p[1]) * (x - nodes[k])

    def ppf(self, q: Any) -> Array:
        """Inverse of the distribution function: the root of a square in each piece."""
        nodes, p, mass = self._grid
        k = np.clip(np.searchsorted(mass, q, side="right") - 1, 0, len(nodes) - 2)
        slope = (p[k + 1] - p[k]) / (nodes[k + 1] - nodes[k])
        rest = np.maximum(np.asarray(q) - mass[k], 0.0)
        root = np.sqrt(np.maximum(p[k] ** 2 + 2.0 * slope * rest, 0.0))
        return np.minimum(nodes[k] + 2.0 * rest / np.maximum(p[k] + root, 1e-300), nodes[k + 1])

    def stats(self, moments: str) -> Any:
        """Return mean, variance, skewness and excess kurtosis, as distributions of `scipy.stats` do."""
        mean = self._integral(lambda x: x)
        second = self._integral(lambda x: (x - mean) ** 2)
        third, fourth = self._integral(lambda x: (x - mean) ** 3), self._integral(lambda x: (x - mean) ** 4)
        found = {"m": mean, "v": second, "s": third / second**1.5, "k": fourth / second**2 - 3.0}
        return found[moments] if len(moments) == 1 else tuple(found[m] for m in moments)

    def spread(self, x: Array) -> Array:
        """Return D^2 / (2 a): minus the integral of (s - mean) p(s) up to x, over p(x); 0 at the ends."""
        nodes, _, _ = self._grid
        mean = self.stats("m")
        ends = np.union1d(nodes, x)
        parts = np.append(0.0, np.cumsum(self._pieces(lambda s: s - mean, ends)))
        inside = (x > nodes[0]) & (x < nodes[-1])
        below = -parts[np.searchsorted(ends, x)]
        return np.where(inside, below / np.where(inside, self.pdf(x), 1.0), 0.0)

    def _integral(self, f: Callable[[Array], Array]) -> float:
        return float(self._pieces(f, self._grid[0]).sum())

    def _pieces(self, f: Callable[[Array], Array], ends: Array) -> Array:
        """Integrals of f p between `ends`."""
        half = 0.5 * np.diff(ends)
        x = ends[:-1] + half + half * _POINTS[:, None]
        return half * (_WEIGHTS @ (f(x) * self.pdf(x)))
