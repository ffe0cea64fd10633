"""Forming filter with a density that the user tabulates; see :mod:`plants.excitation.density_filters`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core import noise
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, table1d
from plants.excitation.checks import check_positive
from plants.excitation.claims import Claim, chain_bias, low_pass
from plants.excitation.density_filters import moved, shares, substeps
from plants.excitation.series_file import read_series
from plants.excitation.signals import Feed, Part
from plants.excitation.tabulated_law import TabulatedLaw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NODES = 33  # of the tabulated D^2


@dataclass(frozen=True)
class TabulatedFilter(Part):
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
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

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
        parts = shares(self.bandwidth, step / substeps(self.bandwidth, step))
        return (low, width, (law.stats("m") - low) / width, *parts, *spread.tolist())

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The state, which is in widths from the low end."""
        return settings[0] + settings[1] * state

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=substeps(self.bandwidth, step))

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

    def claim(self, step: float) -> Claim:
        """The density of the table, exponential correlation."""
        law = self.law
        return low_pass(law, self.bandwidth, chain_bias(self, step, 0.0, 1.0, law, self.bandwidth))
