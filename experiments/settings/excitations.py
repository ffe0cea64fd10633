"""From a configuration to a signal: every kind of excitation by its name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.errors import UserError
from plants.excitation import (
    PRBS,
    Chirp,
    ExponentialFilter,
    GammaFilter,
    GaussianFilter,
    NonlinearFilter,
    PeakFilter,
    Ramp,
    RayleighFilter,
    Recorded,
    Road,
    Sine,
    Step,
    TabulatedFilter,
    UniformFilter,
    UniformPeakFilter,
    WhiteNoise,
    multisine,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from configs.schema import ExcitationConfig


def excitation(given: ExcitationConfig, seed: int, t_end: float) -> Any:
    """Return a configured signal, or None.

    Parameters
    ----------
    given : ExcitationConfig
    seed : int
        Of the numbers that are drawn here and not in the simulation: those of NumPy's generator.
    t_end : float
        Horizon [s].
    """
    if given.kind == "none":
        return None
    if given.kind == "numpy_white":
        return _numpy_white(given, seed, t_end)
    if given.kind in _SKEWED:
        return _shifted(_SKEWED[given.kind](given), given.mean)
    return _KINDS[given.kind](given)


def _shifted(part: Any, mean: float | None) -> Any:
    """A part moved to another mean."""
    return part if mean is None else part + (mean - float(part.law.stats("m")))


def _peak(given: ExcitationConfig) -> Any:
    if given.density == "uniform":
        return UniformPeakFilter(math.sqrt(3.0 * given.variance), given.frequency, given.damping)
    return PeakFilter(given.variance, given.frequency, given.damping)


def _chirp(given: ExcitationConfig) -> Any:
    return Chirp(given.amplitude, given.frequency, _stop(given), given.duration, given.sweep)


def _multisine(given: ExcitationConfig) -> Any:
    return multisine(given.amplitude, given.frequency, _stop(given), given.sines)


def _ramp(given: ExcitationConfig) -> Any:
    ends = {} if given.until is None else {"stop_time": given.until}
    return Ramp(given.slope, given.at, **ends)


def _stop(given: ExcitationConfig) -> float:
    if given.stop_frequency is None:
        raise UserError(f"a {given.kind} needs its last frequency: excitation.stop_frequency=10 [Hz]")
    return given.stop_frequency


def _file(given: ExcitationConfig) -> Path:
    if given.file is None:
        raise UserError(f"a {given.kind} excitation needs its file: excitation.file=series.csv")
    return Path(given.file)


def _recorded(given: ExcitationConfig) -> Any:
    column = int(given.column) if given.column.isdigit() else given.column
    return Recorded.from_csv(_file(given), column, interpolation=given.interpolation, gain=given.gain)


_SKEWED: dict[str, Callable[[ExcitationConfig], Any]] = {
    "rayleigh": lambda g: RayleighFilter(math.sqrt(g.variance / (2.0 - 0.5 * math.pi)), g.bandwidth),
    "gamma": lambda g: GammaFilter(math.sqrt(2.0 / g.variance), g.bandwidth),
    "exponential": lambda g: ExponentialFilter(math.sqrt(1.0 / g.variance), g.bandwidth),
    "tabulated": lambda g: TabulatedFilter.from_csv(_file(g), g.bandwidth),
}
_KINDS: dict[str, Callable[[ExcitationConfig], Any]] = {
    "white": lambda g: WhiteNoise(g.variance, g.hold, g.density),
    "gaussian": lambda g: GaussianFilter(g.variance, g.bandwidth),
    "uniform": lambda g: UniformFilter(math.sqrt(3.0 * g.variance), g.bandwidth),
    "peak": _peak,
    "nonlinear": lambda g: NonlinearFilter(g.intensity, g.stiffness),
    "sine": lambda g: Sine(g.amplitude, g.frequency),
    "step": lambda g: Step(g.amplitude, g.at),
    "ramp": _ramp,
    "chirp": _chirp,
    "prbs": lambda g: PRBS(g.amplitude, g.hold, g.order),
    "multisine": _multisine,
    "road": lambda g: Road(g.road_class, g.speed),
    "recorded": _recorded,
}


def _numpy_white(given: ExcitationConfig, seed: int, t_end: float) -> Recorded:
    """Band-limited white noise from NumPy's default generator, held: the numbers of published studies."""
    rng, count = np.random.default_rng(seed), int(t_end / given.hold + 1e-9) + 1
    if given.density == "uniform":
        edge = float(np.sqrt(3.0 * given.variance))
        return Recorded.held(rng.uniform(-edge, edge, count).tolist(), given.hold)
    return Recorded.held((rng.standard_normal(count) * np.sqrt(given.variance)).tolist(), given.hold)
