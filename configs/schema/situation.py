"""Settings of control situations: one of them, and which are taught and which are kept for the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import interval_complaints, setting
from configs.schema.excitation import WITH_AMPLITUDE, ExcitationConfig

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class SituationConfig:
    """One control situation (scenario); fields as in `sscq.Situation`."""

    reference: float = setting(0.0, "reference of every channel")
    reference_signal: ExcitationConfig = setting(ExcitationConfig, "signal that is added to the reference")
    initial: list[float] | None = setting(None, "initial state; null: the plant's nominal one")
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values")
    excitation: ExcitationConfig = setting(ExcitationConfig, "disturbance")
    noise: float = setting(0.0, "standard deviation of the sensor noise", low=0)
    delay: float = setting(0.0, "delay of the commands", unit="s", low=0)
    output_delay: float = setting(0.0, "delay of the measurements", unit="s", low=0)
    jitter: float = setting(0.0, "sampling jitter, as a share of the sample time", low=0, high=1)
    quantisation: float = setting(0.0, "step of the converter that rounds the controlled outputs", low=0)
    dropout: float = setting(0.0, "probability that a sample's measurements are lost", low=0, below=1)
    command_dropout: float = setting(0.0, "probability that a sample's commands are lost", low=0, below=1)
    limits: list[float] | None = setting(None, "range of the plant inputs [low, high], where the actuator has less")
    rate_limit: float | None = setting(None, "largest speed of the actuators; null: any", unit="1/s", above=0)
    dead_zone: float = setting(0.0, "inputs of no more than this size move no actuator", low=0)
    backlash: float = setting(0.0, "width of the play behind the actuators", low=0)
    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    seed: int | None = setting(None, "seed of the situation; null: the run's", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        yield from interval_complaints("limits", self.limits)
        moving = self.reference_signal
        if moving.kind in WITH_AMPLITUDE and moving.amplitude == 0.0:
            yield (
                f"reference_signal of kind={moving.kind} has amplitude 0 and moves no reference; "
                "give reference_signal.amplitude, or kind=none"
            )


@dataclass
class SituationsConfig:
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
    noise: float = setting(0.0, "sensor noise of all situations (standard deviation); 0: their own", low=0)
    delay: float = setting(0.0, "delay of the commands in all situations; 0: their own", unit="s", low=0)
    output_delay: float = setting(0.0, "delay of the measurements in all situations; 0: their own", unit="s", low=0)
    jitter: float = setting(
        0.0, "sampling jitter of all situations, as a share of the sample time; 0: their own", low=0, high=1
    )
    quantisation: float = setting(0.0, "step of the converters in all situations; 0: their own", low=0)
    dropout: float = setting(0.0, "share of lost measurements in all situations; 0: their own", low=0, below=1)
    command_dropout: float = setting(0.0, "share of lost commands in all situations; 0: their own", low=0, below=1)
    rate_limit: float | None = setting(
        None, "largest speed of the actuators in all situations; null: their own", unit="1/s", above=0
    )
    dead_zone: float = setting(0.0, "dead zone of the actuators in all situations; 0: their own", low=0)
    backlash: float = setting(0.0, "play behind the actuators in all situations; 0: their own", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        for name in ("taught_delays", "taught_noises"):
            values = getattr(self, name)
            if values is not None and len(set(values)) < max(1, len(values)):
                yield f"{name} must be different values, at least one, or null, got {values}"
