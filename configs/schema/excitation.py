"""Settings of one signal: noise, sines, steps, recorded series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCITATIONS = (
    "none", "white", "numpy_white", "gaussian", "uniform", "rayleigh", "gamma", "exponential", "tabulated", "peak",
    "nonlinear", "sine", "step", "ramp", "chirp", "prbs", "multisine", "road", "recorded",
)  # fmt: skip
_WITH_FILE = ("recorded", "tabulated")
_SWEPT = ("chirp", "multisine")
_WITH_VARIANCE = ("gaussian", "uniform", "rayleigh", "gamma", "exponential", "peak")
WITH_AMPLITUDE = ("sine", "step", "chirp", "prbs", "multisine")
_WITH_MEAN = ("rayleigh", "gamma", "exponential", "tabulated")
_REGISTERS = (3, 4, 5, 6, 7, 9, 10, 11, 15, 17, 18, 20, 22, 23, 25, 28, 29, 31)


@dataclass
class ExcitationConfig:
    """A signal: a disturbance of the plant, or an input of a plant without a controller."""

    kind: str = setting("none", "what is applied", choices=EXCITATIONS)
    variance: float = setting(0.3, "variance of the noise", low=0)
    density: str = setting(
        "gaussian", "density of white noise and of noise with a peak", choices=("gaussian", "uniform")
    )
    mean: float | None = setting(
        None, "mean of rayleigh, gamma, exponential or tabulated noise; null: the density's own"
    )
    hold: float = setting(0.1, "time that each value of white noise or prbs is held", unit="s", above=0)
    bandwidth: float = setting(1.0, "bandwidth of a forming filter", unit="rad/s", above=0)
    damping: float = setting(0.1, "damping ratio of noise with a peak: half its relative width", above=0)
    intensity: float = setting(
        0.3, "white noise that drives the nonlinear filter (two-sided spectral density)", above=0
    )
    stiffness: float = setting(1.0, "stiffness of the nonlinear filter", above=0)
    amplitude: float = setting(0.0, "amplitude of sine, chirp, prbs; height of the step; rms of the multisine")
    frequency: float = setting(1.0, "frequency of sine or peak; lowest of chirp and multisine", unit="Hz", above=0)
    stop_frequency: float | None = setting(None, "highest frequency of chirp and multisine", unit="Hz", above=0)
    duration: float = setting(10.0, "time in which a chirp runs through its frequencies", unit="s", above=0)
    sweep: str = setting("linear", "frequency of the chirp over time", choices=("linear", "exponential"))
    sines: int = setting(10, "sines of the multisine", low=2, high=40)
    order: int = setting(10, "length of the prbs's register: it repeats after 2^order - 1 values", low=3, high=31)
    at: float = setting(0.0, "time of the step, start of the ramp", unit="s", low=0)
    until: float | None = setting(None, "end of the ramp; null: none", unit="s", above=0)
    slope: float = setting(1.0, "slope of the ramp", unit="1/s")
    road_class: str = setting("C", "roughness of the road (ISO 8608)", choices=("A", "B", "C", "D", "E"))
    speed: float = setting(20.0, "speed over the road", unit="m/s", above=0)
    file: str | None = setting(
        None, "CSV file of a recorded series (time [s] and value) or of a density (value and density)", file=True
    )
    column: str = setting("1", "column of a recorded series, by name or number")
    interpolation: str = setting(
        "hold", "between the samples of a recorded series; mean: over each step", choices=("hold", "linear", "mean")
    )
    gain: float = setting(1.0, "factor of a recorded series")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.kind == "recorded" and self.file is None:
            yield "file is missing: a recorded series needs file=series.csv (time [s], value)"
        if self.kind == "tabulated" and self.file is None:
            yield "file is missing: a tabulated density needs file=density.csv (value, density)"
        if self.kind not in _WITH_FILE and self.file is not None:
            yield f"file is read with kind=recorded or tabulated only, got kind={self.kind}"
        if self.mean is not None and self.kind not in _WITH_MEAN:
            yield f"mean is for kind={', '.join(_WITH_MEAN)} only, got kind={self.kind}"
        if self.kind in _WITH_VARIANCE and self.variance == 0.0:
            yield f"variance must be above 0 with kind={self.kind}, got 0; for no noise use kind=none"
        yield from self._of_forms()

    def _of_forms(self) -> Iterator[str]:
        """Yield what is wrong with signals that are no noise."""
        if self.kind in _SWEPT and self.stop_frequency is None:
            yield f"stop_frequency is missing: kind={self.kind} runs from frequency to stop_frequency [Hz]"
        if self.kind == "multisine" and self.stop_frequency is not None and self.stop_frequency <= self.frequency:
            yield f"stop_frequency must be above frequency, got {self.stop_frequency} and {self.frequency} Hz"
        if self.kind == "prbs" and self.order not in _REGISTERS:
            nearest = min(_REGISTERS, key=lambda n: abs(n - self.order))
            yield f"order must be one of {', '.join(map(str, _REGISTERS))}, got {self.order}; the nearest is {nearest}"
        if self.kind == "ramp" and self.until is not None and self.until <= self.at:
            yield f"until must be after at, got {self.until} s and {self.at} s"
