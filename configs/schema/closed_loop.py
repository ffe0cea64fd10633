"""Settings of the closed loop: the PID of every channel, the control situations, and their signals.

Situations are told apart by use: taught (training), validation, unforeseen (test). A signal is noise, a sine, a step, a
recorded series, ...; the same settings describe disturbances, references and the inputs of `sscq simulate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from configs.parts import SettingsPart, of, part
from configs.rules import interval_complaints
from controllers import PID
from controllers.settings import setting
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Iterator


@part(
    PID,
    order="low high widen own_gains limits rate_limit derivative_filter_time derivative_on anti_windup tracking_time "
    "rate_source action sample_time schedule_time initial_command",
)
class ControllerConfig(SettingsPart):
    """The PID of every channel and the box in which its gains are searched."""

    low: list[float] | None = setting(None, "smallest kp, ki, kd; null: the plant's")
    high: list[float] | None = setting(None, "largest kp, ki, kd; null: the plant's")
    widen: bool | None = setting(
        None, "widen this box while the best fixed gains lie on its wall; null: where it is the plant's"
    )
    own_gains: list[float] | None = setting(None, "your present kp, ki, kd, to be compared with")
    limits: list[float] | None = of(PID, text="command limits [low, high]; null: the plant's")
    schedule_time: float | None = setting(
        None, "time between updates of scheduled gains; null: four samples", unit="s", above=0
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        lows, highs = self.low or [], self.high or []
        if lows and highs and len(lows) != len(highs):
            yield f"low and high must have one entry a gain each, got {len(lows)} and {len(highs)}"
        for number, (low, high) in enumerate(zip(lows, highs, strict=False)):
            if not low <= high:
                yield f"low[{number}] must not exceed high[{number}], got {low} and {high}; swap them"
        yield from interval_complaints("limits", self.limits)


@dataclass
class PresentConfig:
    """What a knowledge base is compared with beside its reference gains; its law is that of the knowledge base."""

    own_gains: list[float] | None = setting(None, "your present kp, ki, kd")


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


INITIAL = "initial state: a list of all, or {name: value} of some; null: the plant's nominal one"


def start_complaints(initial: Any) -> Iterator[str]:
    """Yield what is wrong with an initial state, whose names the plant knows; a list or a mapping has no type here."""
    values = initial.values() if isinstance(initial, Mapping) else initial
    numbers = isinstance(values, Iterable) and all(type(value) in {int, float} for value in values)
    if initial is not None and (isinstance(initial, str) or not numbers):
        yield f"initial must be a list [a, b] or a mapping {{name: value}} of numbers, or null, got {initial!r}"


@part(
    Situation,
    order="reference reference_signal initial parameters excitation noise delay output_delay jitter quantisation "
    "dropout command_dropout limits rate_limit dead_zone backlash t_end seed",
)
class SituationConfig(SettingsPart):
    """One control situation (scenario)."""

    reference: float = setting(0.0, "reference of every channel")
    reference_signal: ExcitationConfig = setting(ExcitationConfig, "signal that is added to the reference")
    initial: Any = setting(None, INITIAL)
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values")
    excitation: ExcitationConfig = setting(ExcitationConfig, "disturbance")
    seed: int | None = of(Situation, default=None, text="seed of the situation; null: the run's")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        yield from start_complaints(self.initial)
        moving = self.reference_signal
        if moving.kind in WITH_AMPLITUDE and moving.amplitude == 0.0:
            yield (
                f"reference_signal of kind={moving.kind} has amplitude 0 and moves no reference; "
                "give reference_signal.amplitude, or kind=none"
            )


@part()
class SituationsConfig(SettingsPart):
    """Which situations are taught (training) and which are kept for the verdict (test); by name."""

    taught: dict[str, SituationConfig] = setting(dict, "the search and the network see these only; empty: the plant's")
    validation: dict[str, SituationConfig] = setting(dict, "models are selected by these; empty: the plant's")
    unforeseen: dict[str, SituationConfig] = setting(dict, "used once, for the verdict; empty: the plant's")
    taught_spread: float = setting(0.0, "relative spread of the plant parameters among taught plants", low=0, below=1)
    taught_plants: int = setting(24, "number of taught plants, where they are spread", low=1)
    unforeseen_spread: float = setting(0.0, "relative spread of the plant parameters in the verdict", low=0, below=1)
    taught_delays: list[float] | None = setting(
        None, "delays of the commands: each taught situation is taught with each; null: their own", unit="s", low=0
    )
    taught_noises: list[float] | None = setting(
        None, "sensor noises (standard deviations): each taught situation with each; null: their own", low=0
    )
    noise: float = of(Situation, text="sensor noise of all situations (standard deviation); 0: their own")
    delay: float = of(Situation, text="delay of the commands in all situations; 0: their own")
    output_delay: float = of(Situation, text="delay of the measurements in all situations; 0: their own")
    jitter: float = of(Situation, text="sampling jitter of all situations, as a share of the sample time; 0: their own")
    quantisation: float = of(Situation, text="step of the converters in all situations; 0: their own")
    dropout: float = of(Situation, text="share of lost measurements in all situations; 0: their own")
    command_dropout: float = of(Situation, text="share of lost commands in all situations; 0: their own")
    rate_limit: float | None = of(Situation, text="largest speed of the actuators in all situations; null: their own")
    dead_zone: float = of(Situation, text="dead zone of the actuators in all situations; 0: their own")
    backlash: float = of(Situation, text="play behind the actuators in all situations; 0: their own")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        for name in ("taught_delays", "taught_noises"):
            values = getattr(self, name)
            if values is not None and len(set(values)) < max(1, len(values)):
                yield f"{name} must be different values, at least one, or null, got {values}"


FEWEST_DRAWS = 40  # the worst 5 % of fewer are one or two


@dataclass
class DrawsConfig:
    """How many situations are drawn from the ranges of the envelope, beside the named ones."""

    taught: int = setting(8, "drawn evenly, for the search and the teacher", low=0)
    validation: int = setting(16, "for the choice between models", low=0)
    verdict: int = setting(
        256,
        "fresh ones to judge in, and as many to choose the recommended controller in; 0: the named unforeseen ones "
        "with other noise judge",
        low=0,
    )
    again: int = setting(
        4, "this many times as many judge where those leave open whether another controller is better; 1: never", low=1
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the number of fresh situations."""
        if 0 < self.verdict < FEWEST_DRAWS:
            yield f"verdict must be 0, or at least {FEWEST_DRAWS} so that they have a worst 5 %, got {self.verdict}"
