"""First-order forming filters whose diffusion gives them a density (Ito calculus; Cai and Lin, 1996).

``dx = -a (x - m) dt + D(x) dW`` with ``D^2(x) = -(2 a / p(x)) * integral of (s - m) p(s) from the left end to
x``: by the Fokker-Planck-Kolmogorov equation the density is p and the correlation exp(-a |tau|).

Sub-steps of at most 0.02 / a by Euler-Maruyama, with coefficients that make mean, variance and correlation of a
sub-step exact: drift ``(1 - exp(-a h)) (m - x)``, variance ``D^2 (1 - exp(-2 a h)) / (2 a)``. D^2 is clipped at
0, the state reflected at the edges; what bias that leaves is in the part's claim.

Here: the uniform and the Rayleigh density, and any density that the user tabulates (linear between the nodes of the
table).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, sqrt, table1d, where
from plants.core.signals.recorded import read_series
from plants.core.signals.signal import RandomPart, check_positive
from plants.core.signals.stationary_law import StationaryLaw, low_pass
from plants.excitation.laws import chain_bias, rayleigh, uniform
from plants.excitation.stochastic import euler_maruyama

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Array = np.ndarray[Any, Any]


LARGEST = 0.02  # of 1 / a: the longest sub-step
RAYLEIGH_MEAN = math.sqrt(0.5 * math.pi)


class _SubsteppedFilter(RandomPart):
    """A filter whose sub-steps are short against its time constant."""

    bandwidth: float

    def substeps(self, step: float) -> int:
        """Return how many filter steps fit one integration step."""
        return max(1, math.ceil(self.bandwidth * step / LARGEST - 1e-9))


def shares(bandwidth: float, small: float) -> tuple[float, float]:
    """Return how much of the distance to the mean a sub-step of `small` [s] goes, and the share of noise in it."""
    return -math.expm1(-bandwidth * small), math.sqrt(-math.expm1(-2.0 * bandwidth * small))


def moved(x: Any, mean: float, spread: Callable[[Any], Any], pull: Any, share: Any, unit: Any) -> Any:
    """Return the state after a sub-step; `spread` is D^2 / (2 a)."""

    def drift(_: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
        return (pull * (mean - x[0]),)

    def diffusion(_: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
        return (sqrt(maximum(spread(x[0]), 0.0)),)

    return euler_maruyama(drift, diffusion, 0.0, (x,), 1.0, (share * unit,))[0]


@dataclass(frozen=True)
class UniformFilter(_SubsteppedFilter):
    """First-order forming filter with uniform density on [-width, width], started stationary (Ito calculus).

    dx = -a x dt + sqrt(a (width^2 - x^2)) dW: the Fokker-Planck-Kolmogorov equation gives the uniform density and the
    correlation exp(-a |tau|) (Cai and Lin, 1996).

    Notes
    -----
    Euler-Maruyama with sub-steps of at most 0.02 / a, reflected at the edges.
    """

    width: float
    bandwidth: float
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_positive("UniformFilter", width=self.width, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Width, drift and diffusion of a sub-step."""
        small = step / self.substeps(step)
        return (self.width, self.bandwidth * small, math.sqrt(self.bandwidth * small))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The filter's state."""
        return state

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, folded back at the edges."""
        width, drift, diffusion = settings
        spread = sqrt(maximum(width * width - state * state, 0.0))
        moved = state - drift * state + diffusion * spread * unit
        folded = where(magnitude(moved) - width, 2.0 * where(moved, width, -width) - moved, moved)
        return clip(folded, -width, width)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return self.width * unit_uniform / math.sqrt(3.0)

    def claim(self, step: float) -> StationaryLaw:
        """Uniform density, exponential correlation."""
        law = uniform(self.width)
        return low_pass(law, self.bandwidth, chain_bias(self, step, -self.width, self.width, law, self.bandwidth))


@dataclass(frozen=True)
class RayleighFilter(_SubsteppedFilter):
    """Forming filter with Rayleigh density ``p = x / s^2 exp(-x^2 / (2 s^2))``, started stationary.

    Attributes
    ----------
    scale : float
        s; the mean is 1.2533 s, the variance 0.4292 s^2.
    bandwidth : float
        a [rad/s].
    """

    scale: float
    bandwidth: float
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_positive("RayleighFilter", scale=self.scale, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Scale, pull and share of noise of a sub-step."""
        return (self.scale, *shares(self.bandwidth, step / self.substeps(step)))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The state, which is in scales."""
        return settings[0] * state

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, reflected at 0."""
        return magnitude(moved(state, RAYLEIGH_MEAN, rayleigh_spread, settings[1], settings[2], unit))

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return np.sqrt(-2.0 * np.log(0.5 - unit_uniform / math.sqrt(12.0)))

    @property
    def law(self) -> Any:
        """The density as a distribution."""
        return rayleigh(self.scale)

    def claim(self, step: float) -> StationaryLaw:
        """Rayleigh density, exponential correlation."""
        law = self.law
        return low_pass(law, self.bandwidth, chain_bias(self, step, 0.0, 6.0, law, self.bandwidth))


@cache
def _rayleigh_table() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """D^2 / (2 a s^2) over x / s, closer where it bends."""
    from scipy import special

    x = 6.0 * np.linspace(0.0, 1.0, 41)[1:] ** 1.5
    spread = 1.0 + RAYLEIGH_MEAN * (special.erfcx(x / math.sqrt(2.0)) - 1.0) / x
    return (0.0, *x.tolist()), (0.0, *spread.tolist())


def rayleigh_spread(x: Any) -> Any:
    """D^2 / (2 a s^2) of the Rayleigh density at x / s; rises by x / 1.596 from 0 and tends to 1."""
    return table1d(x, *_rayleigh_table())


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
            raise ValueError(
                f"a tabulated density needs as many values as nodes, at least two; got {len(self.density)} values and "
                f"{len(self.nodes)} nodes"
            )
        if not np.isfinite([*self.nodes, *self.density]).all():
            raise ValueError("a tabulated density must be finite; mend or cut the table")
        if any(b <= a for a, b in pairwise(self.nodes)):
            raise ValueError("the nodes of a tabulated density must increase strictly")
        inner = self.density[1:-1]
        if min(self.density) < 0.0 or (inner and min(inner) <= 0.0) or max(self.density) <= 0.0:
            raise ValueError(
                "a tabulated density must be positive between its ends, and not negative there: a filter cannot cross "
                f"a gap; got {min(self.density):g} as the smallest value"
            )

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


NODES = 33  # of the tabulated D^2


@dataclass(frozen=True)
class TabulatedFilter(_SubsteppedFilter):
    """Forming filter with a density given by a table, started stationary.

    Attributes
    ----------
    nodes : tuple of float [n], increasing
    density : tuple of float [n]
        Linear between the nodes and 0 outside; need not be normalised. Positive but for the two ends.
    bandwidth : float
        a [rad/s].
    """

    nodes: tuple[float, ...] = field(repr=False)
    density: tuple[float, ...] = field(repr=False)
    bandwidth: float
    n_settings: ClassVar[int] = 5 + NODES

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(map(float, self.nodes)))
        object.__setattr__(self, "density", tuple(map(float, self.density)))
        check_positive("TabulatedFilter", bandwidth=self.bandwidth)
        _ = self.law

    @classmethod
    def from_csv(cls, path: Path, bandwidth: float) -> TabulatedFilter:
        """Read values from the first column of a CSV file and their density from the second."""
        return cls(*read_series(path, 1, "values"), bandwidth)

    @property
    def law(self) -> TabulatedLaw:
        """The density as a distribution."""
        return TabulatedLaw(self.nodes, self.density)

    def settings(self, step: float) -> tuple[float, ...]:
        """Low end, width; in widths: mean, pull, share of noise, D^2 / (2 a) at equal distances."""
        law, low, width = self.law, self.nodes[0], self.nodes[-1] - self.nodes[0]
        spread = law.spread(np.linspace(low, self.nodes[-1], NODES)) / width**2
        parts = shares(self.bandwidth, step / self.substeps(step))
        return (low, width, (law.stats("m") - low) / width, *parts, *spread.tolist())

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The state, which is in widths from the low end."""
        return settings[0] + settings[1] * state

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, reflected at both ends."""

        def spread(x: Any) -> Any:
            return table1d(x, [k / (NODES - 1) for k in range(NODES)], settings[5:])

        x = magnitude(moved(state, settings[2], spread, settings[3], settings[4], unit))
        return clip(1.0 - magnitude(1.0 - x), 0.0, 1.0)

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return a draw from the stationary density."""
        drawn = self.law.ppf(0.5 + unit_uniform / math.sqrt(12.0))
        return (drawn - self.nodes[0]) / (self.nodes[-1] - self.nodes[0])

    def claim(self, step: float) -> StationaryLaw:
        """The density of the table, exponential correlation."""
        law = self.law
        return low_pass(law, self.bandwidth, chain_bias(self, step, 0.0, 1.0, law, self.bandwidth))
