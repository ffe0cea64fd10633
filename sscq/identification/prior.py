"""What is known of a plant and its disturbances before a log is read: densities in the coordinates of the sampler.

Coordinates are the filter's parameters, those that have a scale as logarithms. The decay of two lags is counted as
sgn(decay) ln(1 + |decay| T) with the length T of the log: that passes through integrating plants smoothly, and is fine
where a log can tell a decay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plants.identification.oscillating import OSCILLATING
from plants.identification.two_lags import TWO_LAGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure

    Array = NDArray[np.float64]

_UNSTABLE = -0.35  # lowest decay coordinate: an instability that grows by less than half over the log
_LONGEST_DEAD_TIME = 150.0  # [s]
_CURVE_DEVIATION = 0.03  # per hundredth of the input's span: a gain that changes by e over a third of it
_LEAST_DAMPING = 0.1
_INTEGRATING = 0.1  # share of the plants to begin with


@dataclass(frozen=True)
class LoopScales:
    """Scales of the logs of one loop, from which all densities are made.

    Attributes
    ----------
    step, length : float
        Between rows, and of the longest log [s].
    output_range, input_range : float
        Three standard deviations of the record, in its units.
    noise : float
        Of the sensor as differences of neighbouring rows show it [y].
    input_span : float
        Of the input: 100 where it is in percent.
    longest_dead_time : float
        [s]
    """

    step: float
    length: float
    output_range: float
    input_range: float
    noise: float
    input_span: float = 100.0
    longest_dead_time: float = _LONGEST_DEAD_TIME

    @classmethod
    def of(
        cls, records: Sequence[LoopRecord], input_span: float = 100.0, longest_dead_time: float | None = None
    ) -> LoopScales:
        """Return the scales of some records of one loop."""
        outputs = np.concatenate([r.output[r.measured] - np.mean(r.output[r.measured]) for r in records])
        inputs = np.concatenate([r.input - np.mean(r.input) for r in records])
        moves = np.concatenate([np.diff(r.output[r.measured]) for r in records])
        length = max(record.duration for record in records)
        latest = min(length / 8.0, _LONGEST_DEAD_TIME) if longest_dead_time is None else longest_dead_time
        spread = 3.0 * float(outputs.std())
        noise = max(float(np.median(np.abs(moves))) / _OF_DIFFERENCES, 1e-3 * spread)
        return cls(records[0].step, length, spread, 3.0 * float(inputs.std()), noise, input_span, latest)

    @property
    def curve_deviation(self) -> float:
        """Standard deviation of the curve [1/u]."""
        return _CURVE_DEVIATION * 100.0 / self.input_span


_OF_DIFFERENCES = 0.95  # median of the magnitude of a difference of two normal numbers of unit deviation


@dataclass(frozen=True)
class Prior:
    """Densities of a structure's parameters; the disturbances' are here, a plant's own in the subclasses."""

    scales: LoopScales
    structure: ClassVar[PlantStructure]
    logarithms: ClassVar[tuple[str, ...]]
    plant: ClassVar[tuple[str, ...]]

    def place(self, name: str) -> int:
        """Return the number of a coordinate."""
        return self.structure.parameters.index(name)

    @property
    def asked(self) -> tuple[int, ...]:
        """Numbers of the coordinates that belong to the plant, in which populations have to agree."""
        return tuple(map(self.place, self.plant))

    @property
    def _scaled(self) -> list[int]:
        return [self.place(name) for name in (*self.logarithms, "noise", "load", "walk", "load_time")]

    def parameters(self, coordinates: Array) -> Array:
        """Return the filter's parameters [n, n_coordinates] of coordinates."""
        found = coordinates.copy()
        found[:, self._scaled] = np.exp(coordinates[:, self._scaled])
        return found

    def coordinates(self, parameters: Array) -> Array:
        """Return the coordinates of parameters [n, n_coordinates]."""
        found = parameters.copy()
        found[:, self._scaled] = np.log(parameters[:, self._scaled])
        return found

    def log_density(self, coordinates: Array) -> Array:
        """Return the logarithm of the density [n] up to a constant; minus infinity outside the ranges."""
        names = self.structure.parameters
        given = dict(zip(names, coordinates.T, strict=True))
        s = self.scales
        inside = between(given["dead_time"], 0.0, s.longest_dead_time)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = load_density(s, given, s.input_range) + _normal(given["curve"], 0.0, s.curve_deviation)
            total -= np.log(np.maximum(given["dead_time"], 0.0) + 2.0 * s.step)
            total += self._of_plant(given)
        return np.where(inside & np.isfinite(total), total, -np.inf)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Return `n` coordinates to begin with [n, n_coordinates]: usual plants, with the noise that the log shows."""
        s = self.scales
        found = np.empty((n, len(self.structure.parameters)))
        values = self._usual(n, rng) | {
            "dead_time": log_uniform(rng, 0.1 * s.step, s.longest_dead_time, n),
            "noise": s.noise * np.exp(0.3 * rng.standard_normal(n)),
            "load": 0.1 * s.input_range * np.exp(rng.standard_normal(n)),
            "walk": 0.01 * s.input_range * np.exp(rng.standard_normal(n)),
            "load_time": log_uniform(rng, 0.3 * s.step, s.length / 10.0, n),
            "curve": 0.3 * s.curve_deviation * rng.standard_normal(n),
        }
        for name, column in values.items():
            found[:, self.place(name)] = column
        return self.coordinates(found)

    @property
    def log_volume(self) -> float:
        """Logarithm of what the density's own factors, those that structures do not share, integrate to."""
        raise NotImplementedError

    def _of_plant(self, given: dict[str, Array]) -> Array:
        raise NotImplementedError

    def _usual(self, n: int, rng: np.random.Generator) -> dict[str, Array]:
        raise NotImplementedError

    def _gains(self, n: int, rng: np.random.Generator) -> Array:
        return self.scales.output_range / self.scales.input_range * log_uniform(rng, 0.1, 10.0, n)


class TwoLagsPrior(Prior):
    """Of two lags: the slope about a twentieth of the signals' ratio a second, decay and lag without a scale."""

    structure = TWO_LAGS
    logarithms = ("slope", "lag")
    plant = ("slope", "decay", "lag", "dead_time", "curve")

    def parameters(self, coordinates: Array) -> Array:
        """Return the filter's parameters [n, n_coordinates] of coordinates."""
        found = super().parameters(coordinates)
        found[:, self.place("decay")] = self._decay(coordinates[:, self.place("decay")])
        return found

    def coordinates(self, parameters: Array) -> Array:
        """Return the coordinates of parameters [n, n_coordinates]."""
        found = super().coordinates(parameters)
        decay = parameters[:, self.place("decay")]
        found[:, self.place("decay")] = np.sign(decay) * np.log1p(np.abs(decay) * self.scales.length)
        return found

    @property
    def log_volume(self) -> float:
        """Of the decay coordinate; the lag's density is of 1, the slope's as of another structure's gain."""
        s = self.scales
        return math.log(-_UNSTABLE * math.exp(-1.0) + math.log1p(s.length / s.step))

    def _decay(self, place: Array) -> Array:
        return np.asarray(np.sign(place) * np.expm1(np.abs(place)) / self.scales.length)

    def _of_plant(self, given: dict[str, Array]) -> Array:
        s, h = self.scales, self.scales.step
        place, lag = given["decay"], given["lag"]
        decay = self._decay(place)
        slowest = np.where(decay > 0.0, np.minimum(s.length / 3.0, 1.0 / np.abs(decay)), s.length / 10.0)
        inside = between(place, _UNSTABLE, math.log1p(s.length / h)) & (lag >= math.log(0.2 * h))
        inside &= lag <= np.log(slowest)
        total = _normal(given["slope"], math.log(s.output_range / s.input_range / 20.0), 3.0) - (place < 0.0)
        total -= np.log(np.log(slowest / (0.2 * h)))  # the lag's range depends on the decay: its density is of 1
        return np.where(inside, total, -np.inf)

    def _usual(self, n: int, rng: np.random.Generator) -> dict[str, Array]:
        """Gains and both lags log-uniform; one plant in ten is integrating."""
        s = self.scales
        slower = log_uniform(rng, s.step, s.length, n)
        lag = np.minimum(log_uniform(rng, 0.2 * s.step, s.length / 10.0, n), slower)
        integrating = rng.random(n) < _INTEGRATING
        return {"slope": self._gains(n, rng) / slower, "decay": np.where(integrating, 0.0, 1.0 / slower), "lag": lag}


class OscillatingPrior(Prior):
    """Of an oscillating plant: any damping from 0.1 to 1, a period without a scale."""

    structure = OSCILLATING
    logarithms = ("gain", "period")
    plant = ("gain", "damping", "period", "dead_time", "curve")

    @property
    def log_volume(self) -> float:
        """Of damping and period."""
        s = self.scales
        return math.log((1.0 - _LEAST_DAMPING) * math.log(s.length / 4.0 / (0.5 * s.step)))

    def _of_plant(self, given: dict[str, Array]) -> Array:
        s = self.scales
        inside = between(given["damping"], _LEAST_DAMPING, 1.0)
        inside &= between(given["period"], math.log(0.5 * s.step), math.log(s.length / 4.0))
        return np.where(inside, _normal(given["gain"], math.log(s.output_range / s.input_range), 3.0), -np.inf)

    def _usual(self, n: int, rng: np.random.Generator) -> dict[str, Array]:
        s = self.scales
        period = log_uniform(rng, s.step, s.length / 8.0, n)
        return {"gain": self._gains(n, rng), "damping": rng.uniform(_LEAST_DAMPING, 1.0, n), "period": period}


def load_density(scales: LoopScales, given: Mapping[str, Array], loaded: float) -> Array:
    """Return the log density [n] of the logarithms "noise", "load", "walk" and "load_time".

    Parameters
    ----------
    scales : LoopScales
    given : mapping of str to array [n]
    loaded : float
        Three standard deviations of the input, in units of what the loads are added to.
    """
    y, u = math.log(scales.output_range), math.log(loaded)
    inside = given["noise"] >= math.log(1e-4 * scales.output_range)
    inside &= between(given["load_time"], math.log(0.3 * scales.step), math.log(scales.length / 10.0))
    total = _normal(given["noise"], y + math.log(0.02), 2.5) + _normal(given["load"], u + math.log(0.1), 2.5)
    return np.where(inside, total + _normal(given["walk"], u + math.log(0.01), 2.0), -np.inf)


def between(values: Array, low: float, high: float) -> NDArray[np.bool_]:
    """Return whether values lie in an interval, its ends included."""
    return (values >= low) & (values <= high)


def _normal(values: Array, mean: float, deviation: float) -> Array:
    return np.asarray(-0.5 * ((values - mean) / deviation) ** 2)


def log_uniform(rng: np.random.Generator, low: float, high: float, n: int) -> Array:
    """Return draws whose logarithms are uniform."""
    return np.exp(rng.uniform(math.log(low), math.log(high), n))
