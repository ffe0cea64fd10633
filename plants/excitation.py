"""Signals for references, disturbances and inputs: steps, sines, random excitation, recorded series.

A signal is a sum of parts: ``Step(1.5) + Sine(0.1, 2.0) + WhiteNoise(0.3, hold=0.1)``; a bare number is a constant.
Smooth parts are evaluated at the integrator's stage times, parts with jumps and random parts are held from the start
of a step. Random parts draw counter-based unit noise (:mod:`plants.core.noise`).

To add a kind: subclass :class:`Part`, give it `settings`, and `value`; random kinds also `stream` and `advance`.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core import noise
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, sin, sqrt, where

if TYPE_CHECKING:
    from collections.abc import Sequence

TIME_TOLERANCE = 1e-9  # s: a jump declared at a multiple of the step happens at that step despite rounding


@dataclass(frozen=True)
class Feed:
    """What refreshes a random part's row: the kind of unit sample, its period and, if recorded, the values."""

    code: int
    every: float | None = None
    series: tuple[float, ...] = ()
    substeps: int = 1


@dataclass(frozen=True)
class Part:
    """One summand of a signal.

    Class attributes: `n_settings` numbers fix it per rollout; `jumps` says that it is held from the start of a step;
    `random` that it has a state fed by unit noise.
    """

    n_settings: ClassVar[int] = 0
    jumps: ClassVar[bool] = False
    random: ClassVar[bool] = False

    def settings(self, step: float) -> tuple[float, ...]:
        """Return the part's numbers for integration step `step` [s]."""
        raise NotImplementedError

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:
        """Return the part's value at time `t` [s] (a block); `state` is the held value of a random part."""
        raise NotImplementedError

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Return what feeds a random part."""
        return Feed(noise.OFF)

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:  # noqa: ARG004
        """Return the random part's next state from a sample of unit noise (a block)."""
        return unit

    def start(self, unit_gaussian: float, unit_uniform: float) -> float:  # noqa: ARG002
        """Return the stationary initial state of a random part, from one sample of each unit noise."""
        return 0.0

    def last_jump(self) -> float:
        """Return the time [s] of the last jump: errors weighted with time count from here."""
        return 0.0

    def __add__(self, other: Any) -> Signal:
        return as_signal(self) + other

    __radd__ = __add__


@dataclass(frozen=True)
class Signal:
    """A sum of parts."""

    parts: tuple[Part, ...] = ()

    def __add__(self, other: Any) -> Signal:
        return Signal(self.parts + as_signal(other).parts)

    __radd__ = __add__

    def last_jump(self) -> float:
        """Return the time [s] of the last jump."""
        return max((part.last_jump() for part in self.parts), default=0.0)

    def at(self, t: float) -> float:
        """Return the value of the non-random parts at time `t` [s]."""
        return float(sum(part.value(t, part.settings(1.0), 0.0) for part in self.parts if not part.random))


def as_signal(value: Signal | Part | float | None) -> Signal:
    """Return a number, a part or None as a signal."""
    if isinstance(value, Signal):
        return value
    if isinstance(value, Part):
        return Signal((value,))
    if value is None:
        return Signal()
    if isinstance(value, (int, float)) and math.isfinite(value):
        return Signal((Constant(float(value)),)) if value else Signal()
    message = f"a signal is a finite number, a part such as Step(1.0), or a sum of parts; got {value!r}"
    raise ValueError(message)


def _finite(name: str, **values: float) -> None:
    for label, value in values.items():
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            message = f"{name}: {label} must be a finite number, got {value!r}"
            raise ValueError(message)


def _positive(name: str, **values: float) -> None:
    _finite(name, **values)
    for label, value in values.items():
        if value <= 0.0:
            message = f"{name}: {label} must be positive, got {value!r}"
            raise ValueError(message)


@dataclass(frozen=True)
class Constant(Part):
    """A constant."""

    level: float
    n_settings: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _finite("Constant", level=self.level)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Level."""
        return (self.level,)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Level."""
        return settings[0]


@dataclass(frozen=True)
class Step(Part):
    """A jump by `height` at time `at` [s]."""

    height: float
    at: float = 0.0
    n_settings: ClassVar[int] = 2
    jumps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _finite("Step", height=self.height, at=self.at)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Height and time [s]."""
        return (self.height, self.at - TIME_TOLERANCE)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """0 before, the height from then on."""
        return where(t - settings[1], settings[0], 0.0)

    def last_jump(self) -> float:
        """Return the time [s] of the jump."""
        return max(0.0, self.at)


@dataclass(frozen=True)
class Ramp(Part):
    """A slope [1/s] from `start` to `stop` [s], constant before and after."""

    slope: float
    start_time: float = 0.0
    stop_time: float = 1e9
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        _finite("Ramp", slope=self.slope, start_time=self.start_time, stop_time=self.stop_time)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Slope and the two times [s]."""
        return (self.slope, self.start_time, self.stop_time)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Slope times the time spent on it."""
        return settings[0] * (clip(t, settings[1], settings[2]) - settings[1])


@dataclass(frozen=True)
class Sine(Part):
    """``amplitude * sin(2 pi frequency t + phase)``, frequency [Hz], phase [rad]."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    n_settings: ClassVar[int] = 3

    def __post_init__(self) -> None:
        _finite("Sine", amplitude=self.amplitude, phase=self.phase)
        _positive("Sine", frequency=self.frequency)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Amplitude, angular frequency [rad/s], phase [rad]."""
        return (self.amplitude, 2.0 * math.pi * self.frequency, self.phase)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The sine."""
        return settings[0] * sin(settings[1] * t + settings[2])


@dataclass(frozen=True)
class WhiteNoise(Part):
    """Band-limited white noise: independent values of `variance`, each held for `hold` [s]; Gaussian or uniform."""

    variance: float
    hold: float = 0.1
    density: str = "gaussian"
    n_settings: ClassVar[int] = 1
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _finite("WhiteNoise", variance=self.variance)
        _positive("WhiteNoise", hold=self.hold)
        if self.variance < 0.0:
            message = f"WhiteNoise: variance must not be negative, got {self.variance}"
            raise ValueError(message)
        if self.density not in {"gaussian", "uniform"}:
            message = f"WhiteNoise: density is 'gaussian' or 'uniform', got {self.density!r}"
            raise ValueError(message)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Standard deviation."""
        return (math.sqrt(self.variance),)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The held sample, scaled."""
        return settings[0] * state

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """A new sample each hold time."""
        return Feed(noise.GAUSSIAN if self.density == "gaussian" else noise.UNIFORM, self.hold)


@dataclass(frozen=True)
class GaussianFilter(Part):
    """First-order forming filter with Gaussian density: dx = -a x dt + sigma sqrt(2 a) dW, started stationary.

    Attributes
    ----------
    variance : float
        Stationary variance sigma^2.
    bandwidth : float
        a [rad/s]; the correlation is exp(-a |tau|).

    Notes
    -----
    Discretised exactly (no step-size error in mean, variance and correlation at the steps).
    """

    variance: float
    bandwidth: float
    n_settings: ClassVar[int] = 2
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("GaussianFilter", variance=self.variance, bandwidth=self.bandwidth)

    def settings(self, step: float) -> tuple[float, ...]:
        """Decay over a step and the noise's share."""
        decay = math.exp(-self.bandwidth * step)
        return (decay, math.sqrt(self.variance * -math.expm1(-2.0 * self.bandwidth * step)))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The filter's state."""
        return state

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Gaussian samples in every step."""
        return Feed(noise.GAUSSIAN)

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Exact discretisation of the filter."""
        return settings[0] * state + settings[1] * unit

    def start(self, unit_gaussian: float, unit_uniform: float) -> float:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return math.sqrt(self.variance) * unit_gaussian


@dataclass(frozen=True)
class UniformFilter(Part):
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
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("UniformFilter", width=self.width, bandwidth=self.bandwidth)

    def substeps(self, step: float) -> int:
        """Return how many filter steps fit one integration step."""
        return max(1, math.ceil(self.bandwidth * step / 0.02 - 1e-9))

    def settings(self, step: float) -> tuple[float, ...]:
        """Width, drift and diffusion of a sub-step."""
        small = step / self.substeps(step)
        return (self.width, self.bandwidth * small, math.sqrt(self.bandwidth * small))

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The filter's state."""
        return state

    def feed(self, step: float) -> Feed:
        """Gaussian samples in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=self.substeps(step))

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:
        """Euler-Maruyama, folded back at the edges."""
        width, drift, diffusion = settings
        spread = sqrt(maximum(width * width - state * state, 0.0))
        moved = state - drift * state + diffusion * spread * unit
        folded = where(magnitude(moved) - width, 2.0 * where(moved, width, -width) - moved, moved)
        return clip(folded, -width, width)

    def start(self, unit_gaussian: float, unit_uniform: float) -> float:  # noqa: ARG002
        """Return a draw from the stationary density."""
        return self.width * unit_uniform / math.sqrt(3.0)


@dataclass(frozen=True)
class Recorded(Part):
    """A recorded series, times `gain`: a user's own data.

    Attributes
    ----------
    time : tuple of float [n], s, increasing
    values : tuple of float [n]
    interpolation : str
        "hold" (each value until the next) or "linear". The first value holds before, the last one after.
    """

    time: tuple[float, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)
    interpolation: str = "hold"
    gain: float = 1.0
    n_settings: ClassVar[int] = 1
    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", tuple(float(t) for t in self.time))
        object.__setattr__(self, "values", tuple(float(v) for v in self.values))
        _check_series(self.time, self.values)
        if self.interpolation not in {"hold", "linear"}:
            message = f"Recorded: interpolation is 'hold' or 'linear', got {self.interpolation!r}"
            raise ValueError(message)

    @classmethod
    def from_csv(cls, path: str | Path, column: str | int = 1, **options: Any) -> Recorded:
        """Read time [s] from the first column of a CSV file and the values from `column` (its name or number)."""
        time, values = read_series(Path(path), column)
        return cls(time, values, **options)

    @classmethod
    def held(cls, values: Sequence[float], hold: float, **options: Any) -> Recorded:
        """Return a series of values that each last `hold` [s], from time 0."""
        return cls(tuple(k * hold for k in range(len(values))), tuple(values), **options)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Gain."""
        return (self.gain,)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """The present sample, scaled."""
        return settings[0] * state

    def feed(self, step: float) -> Feed:
        """The series resampled to the steps; a uniform held series keeps its own period."""
        time, values = np.array(self.time), np.array(self.values)
        gaps = np.diff(time)
        if self.interpolation == "hold" and len(time) > 1 and time[0] == 0.0 and np.allclose(gaps, gaps[0], rtol=1e-9):
            ratio = gaps[0] / step
            if ratio > 1.0 - 1e-9 and abs(ratio - round(ratio)) < 1e-6 * ratio:
                return Feed(noise.RECORDED, float(gaps[0]), self.values)
        steps = np.arange(math.ceil(time[-1] / step) + 1) * step
        if self.interpolation == "linear":
            resampled = np.interp(steps, time, values)
        else:
            resampled = values[np.clip(np.searchsorted(time, steps + TIME_TOLERANCE, side="right") - 1, 0, None)]
        return Feed(noise.RECORDED, step, tuple(resampled))


def _check_series(time: tuple[float, ...], values: tuple[float, ...]) -> None:
    if len(time) != len(values) or not time:
        message = f"a recorded series needs as many times as values, at least one; got {len(time)} and {len(values)}"
        raise ValueError(message)
    for row, (t, value) in enumerate(zip(time, values, strict=True)):
        if not (math.isfinite(t) and math.isfinite(value)):
            message = f"a recorded series must be finite: row {row} has time {t} s, value {value}; mend or cut the data"
            raise ValueError(message)
    if any(b <= a for a, b in pairwise(time)):
        message = "the times of a recorded series must increase strictly"
        raise ValueError(message)


def read_series(path: Path, column: str | int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Read (time [s], values) from a CSV file with an optional header line.

    Raises
    ------
    ValueError
        Naming the file, the line and what was read, where a cell is missing, not a number, or not finite, or where a
        time does not increase; also where there is no series.
    """
    rows = _rows(path)
    header: list[str] = []
    if rows and not _is_number(rows[0][1][0]):
        header = [cell.strip() for cell in rows.pop(0)[1]]
    if isinstance(column, str):
        if column not in header:
            message = f"{path}: no column {column!r}; its header is {header or 'missing'}"
            raise ValueError(message)
        column = header.index(column)
    time: list[float] = []
    values: list[float] = []
    for number, row in rows:
        try:
            pair = float(row[0]), float(row[column])
        except (ValueError, IndexError):
            message = f"{path}, line {number}: {row}, expected numbers in columns 0 and {column}"
            raise ValueError(message) from None
        if not all(map(math.isfinite, pair)):
            message = f"{path}, line {number}: {row}: a recorded series must be finite; mend or cut the data"
            raise ValueError(message)
        if time and pair[0] <= time[-1]:
            message = f"{path}, line {number}: {row}: the times must increase, but the line before is at {time[-1]:g} s"
            raise ValueError(message)
        time.append(pair[0])
        values.append(pair[1])
    if not time:
        message = f"{path} holds no series: expected lines of time [s] and value"
        raise ValueError(message)
    return tuple(time), tuple(values)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Line numbers and cells of a CSV file, without empty lines and comments (#)."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.reader(stream)
            return [(reader.line_num, row) for row in reader if row and not row[0].lstrip().startswith("#")]
    except (UnicodeDecodeError, csv.Error) as error:
        message = f"{path} is no CSV text: {error}"
        raise ValueError(message) from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
