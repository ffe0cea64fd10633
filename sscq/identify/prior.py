"""What is known of a plant and its disturbances before a log is read: densities in the coordinates of the sampler.

Coordinates are (ln slope, decay coordinate, ln lag, dead time, ln noise, ln load, ln walk, ln load_time, curve). The
decay coordinate is sgn(decay) ln(1 + |decay| T) with the length T of the log: it passes through integrating plants
smoothly, and is fine where a log can tell a decay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.two_lags import TWO_LAGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]

COORDINATES = TWO_LAGS.parameters
_LOGARITHMS = [COORDINATES.index(name) for name in ("slope", "lag", "noise", "load", "walk", "load_time")]
_SLOPE, _DECAY, _LAG, _DEAD, _NOISE, _LOAD, _WALK, _LOAD_TIME, _CURVE = range(len(COORDINATES))

_UNSTABLE = -0.35  # lowest decay coordinate: an instability that grows by less than half over the log
_LONGEST_DEAD_TIME = 150.0  # [s]
_CURVE_DEVIATION = 0.03  # per hundredth of the input's span: a gain that changes by e over a third of it


@dataclass(frozen=True)
class Prior:
    """Densities for the logs of one loop.

    Attributes
    ----------
    step, length : float
        Between rows, and of the longest log [s].
    output_range, input_range : float
        Three standard deviations of the record, in its units.
    input_span : float
        Of the input: 100 where it is in percent.
    longest_dead_time : float
        [s]
    """

    step: float
    length: float
    output_range: float
    input_range: float
    input_span: float = 100.0
    longest_dead_time: float = _LONGEST_DEAD_TIME

    @classmethod
    def of(
        cls, records: Sequence[LoopRecord], input_span: float = 100.0, longest_dead_time: float | None = None
    ) -> Prior:
        """Return the densities for some records of one loop."""
        outputs = np.concatenate([r.output[r.measured] - np.mean(r.output[r.measured]) for r in records])
        inputs = np.concatenate([r.input - np.mean(r.input) for r in records])
        longest = max(records, key=len)
        length = len(longest) * longest.step
        latest = min(length / 8.0, _LONGEST_DEAD_TIME) if longest_dead_time is None else longest_dead_time
        return cls(longest.step, length, 3.0 * float(outputs.std()), 3.0 * float(inputs.std()), input_span, latest)

    def parameters(self, coordinates: Array) -> Array:
        """Return the filter's parameters [n, n_coordinates] of coordinates."""
        found = coordinates.copy()
        found[:, _LOGARITHMS] = np.exp(coordinates[:, _LOGARITHMS])
        place = coordinates[:, _DECAY]
        found[:, _DECAY] = np.sign(place) * np.expm1(np.abs(place)) / self.length
        return found

    def coordinates(self, parameters: Array) -> Array:
        """Return the coordinates of parameters [n, n_coordinates]."""
        found = parameters.copy()
        found[:, _LOGARITHMS] = np.log(parameters[:, _LOGARITHMS])
        decay = parameters[:, _DECAY]
        found[:, _DECAY] = np.sign(decay) * np.log1p(np.abs(decay) * self.length)
        return found

    def log_density(self, coordinates: Array) -> Array:
        """Return the logarithm of the density [n] up to a constant; minus infinity outside the ranges."""
        slope, place, lag, dead, noise, load, walk, load_time, curve = coordinates.T
        h, length = self.step, self.length
        decay = np.sign(place) * np.expm1(np.abs(place)) / length
        with np.errstate(divide="ignore"):
            slowest = np.where(decay > 0.0, np.minimum(length / 3.0, 1.0 / np.abs(decay)), length / 10.0)
        inside = (
            _between(place, _UNSTABLE, math.log1p(length / h))
            & (lag >= math.log(0.2 * h))
            & (lag <= np.log(slowest))
            & _between(dead, 0.0, self.longest_dead_time)
            & (noise >= math.log(1e-4 * self.output_range))
            & _between(load_time, math.log(0.3 * h), math.log(length / 10.0))
        )
        y, u = math.log(self.output_range), math.log(self.input_range)
        total = _normal(slope, y - u - math.log(20.0), 3.0)
        total += _normal(noise, y + math.log(0.02), 2.5)
        total += _normal(load, u + math.log(0.1), 2.5) + _normal(walk, u + math.log(0.01), 2.0)
        total += _normal(curve, 0.0, self.curve_deviation) - (place < 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            total -= np.log(np.maximum(dead, 0.0) + 2.0 * h)
            total -= np.log(np.log(slowest / (0.2 * h)))  # the lag's range depends on the decay: its density is of 1
        return np.where(inside, total, -np.inf)

    @property
    def curve_deviation(self) -> float:
        """Standard deviation of the curve [1/u]."""
        return _CURVE_DEVIATION * 100.0 / self.input_span

    def draws(self, n: int, rng: np.random.Generator, noise: float) -> Array:
        """Return `n` coordinates to begin with [n, n_coordinates]: usual plants, with the noise that the log shows.

        Both lags, the dead time and the gain are log-uniform; one plant in ten is integrating.
        """
        h, length = self.step, self.length
        slower = np.exp(rng.uniform(math.log(h), math.log(length), n))
        lag = np.minimum(np.exp(rng.uniform(math.log(0.2 * h), math.log(length / 10.0), n)), slower)
        dead = np.exp(rng.uniform(math.log(0.1 * h), math.log(self.longest_dead_time), n))
        gain = self.output_range / self.input_range * np.exp(rng.uniform(math.log(0.1), math.log(10.0), n))
        integrating = rng.random(n) < _INTEGRATING
        decay = np.where(integrating, 0.0, 1.0 / slower)
        found = np.empty((n, len(COORDINATES)))
        found[:, _SLOPE], found[:, _DECAY], found[:, _LAG], found[:, _DEAD] = gain / slower, decay, lag, dead
        found[:, _NOISE] = noise * np.exp(0.3 * rng.standard_normal(n))
        found[:, _LOAD] = 0.1 * self.input_range * np.exp(rng.standard_normal(n))
        found[:, _WALK] = 0.01 * self.input_range * np.exp(rng.standard_normal(n))
        found[:, _LOAD_TIME] = np.exp(rng.uniform(math.log(0.3 * h), math.log(length / 10.0), n))
        found[:, _CURVE] = 0.3 * self.curve_deviation * rng.standard_normal(n)
        found[:, _NOISE] = np.maximum(found[:, _NOISE], 1e-3 * self.output_range)
        return self.coordinates(found)


_INTEGRATING = 0.1  # share of the plants to begin with


def _between(values: Array, low: float, high: float) -> NDArray[np.bool_]:
    return (values >= low) & (values <= high)


def _normal(values: Array, mean: float, deviation: float) -> Array:
    return np.asarray(-0.5 * ((values - mean) / deviation) ** 2)
