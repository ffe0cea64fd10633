"""What is known of a plant's own parameters, its dead time and its loads before a log is read.

Coordinates are logarithms, but for the dead time. A parameter is log-normal about its nominal value, within its bounds;
dead time, noise and loads are as for plants without equations (:mod:`sscq.identification.prior`). Loads on a
disturbance count in its units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.grey_box import LOADS
from sscq.identification.prior import between, load_density, log_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.grey_box import GreyBox
    from sscq.identification.prior import LoopScales

    Array = NDArray[np.float64]

DEVIATION = 0.7
"""Standard deviation of the logarithm of a parameter: a factor of two is usual, one of ten is not."""


@dataclass(frozen=True, eq=False)
class GreyPrior:
    """Densities of a box's parameters.

    Attributes
    ----------
    box : GreyBox
    scales : LoopScales
        Of the logs.
    deviation : float
        Of the logarithms of the fitted parameters.
    """

    box: GreyBox
    scales: LoopScales
    deviation: float = DEVIATION

    @property
    def asked(self) -> tuple[int, ...]:
        """Numbers of the coordinates in which populations have to agree: parameters and dead time."""
        return tuple(range(len(self.box.fitted) + 1))

    def parameters(self, coordinates: Array) -> Array:
        """Return the filter's parameters [n, n_coordinates] of coordinates."""
        late = len(self.box.fitted)
        found = np.exp(coordinates)
        found[:, late] = coordinates[:, late]
        return found

    def log_density(self, coordinates: Array) -> Array:
        """Return the logarithm of the density [n] up to a constant; minus infinity outside the ranges."""
        n, s = len(self.box.fitted), self.scales
        given = dict(zip(LOADS, coordinates[:, n:].T, strict=True))
        inside = between(given["dead_time"], 0.0, s.longest_dead_time)
        low, high = np.log(self.box.bounds)
        inside &= ((coordinates[:, :n] >= low) & (coordinates[:, :n] <= high)).all(axis=1)
        away = (coordinates[:, :n] - np.log(self.box.nominal)) / self.deviation
        with np.errstate(invalid="ignore", divide="ignore"):
            total = -0.5 * (away**2).sum(axis=1) - np.log(np.maximum(given["dead_time"], 0.0) + 2.0 * s.step)
            total += load_density(s, given, self._loaded)
        return np.where(inside & np.isfinite(total), total, -np.inf)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Return `n` coordinates to begin with [n, n_coordinates]."""
        s, loaded = self.scales, self._loaded
        low, high = np.log(self.box.bounds)
        columns = [
            *np.clip(
                np.log(self.box.nominal)[:, None] + self.deviation * rng.standard_normal((len(low), n)),
                low[:, None],
                high[:, None],
            ),
            log_uniform(rng, 0.1 * s.step, s.longest_dead_time, n),
            math.log(s.noise) + 0.3 * rng.standard_normal(n),
            math.log(0.1 * loaded) + rng.standard_normal(n),
            math.log(0.01 * loaded) + rng.standard_normal(n),
            np.log(log_uniform(rng, 0.3 * s.step, s.length / 10.0, n)),
        ]
        return np.stack(columns, axis=1)

    @property
    def _loaded(self) -> float:
        """The input's range in units of what is loaded."""
        return self.scales.input_range * self.box.load_scale
