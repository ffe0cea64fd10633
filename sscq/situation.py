"""A control situation (scenario): what happens to the closed loop in one rollout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown
from plants.excitation import Part, Signal, as_signal

if TYPE_CHECKING:
    from plants import Plant

Given = Mapping[str, Any] | Sequence[Any] | Signal | Part | float | None


@dataclass(frozen=True)
class Situation:
    """One control situation (scenario).

    Attributes
    ----------
    name : str
        Also names its random numbers: the same name and seed give the same excitation anywhere.
    reference : number, signal, or mapping of channel output to signal
    excitation : number, signal, or mapping of disturbance to signal
        A bare signal drives the first disturbance.
    parameters, initial : mapping or sequence, optional
        Replace the plant's nominal values.
    delay : float
        Dead time of the command on its way to the plant [s], beside the plant's own.
    output_delay : float
        Dead time of the measurements on their way to the controller [s].
    noise : float, or mapping of measurement to float
        Standard deviation of white sensor noise; a bare number is for every controlled output.
    limits : (low, high), optional
        Range of the plant inputs, where the actuator has less than the controller believes.
    t_end : float
        Horizon [s].
    seed : int
    """

    name: str = "situation"
    reference: Given = 0.0
    excitation: Given = None
    parameters: Mapping[str, float] | Sequence[float] | None = None
    initial: Mapping[str, float] | Sequence[float] | None = None
    delay: float = 0.0
    output_delay: float = 0.0
    noise: float | Mapping[str, float] = 0.0
    limits: tuple[float, float] | None = None
    t_end: float = 20.0
    seed: int = 0
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the plant."""
        for label in ("delay", "output_delay"):
            value = getattr(self, label)
            if not (math.isfinite(value) and value >= 0.0):
                message = f"situation {self.name!r}: {label} must be finite and not negative, got {value} s"
                raise ValueError(message)
        if not (math.isfinite(self.t_end) and self.t_end > 0.0):
            message = f"situation {self.name!r}: t_end must be positive and finite, got {self.t_end} s"
            raise ValueError(message)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            message = f"situation {self.name!r}: seed must be an integer >= 0, got {self.seed!r}"
            raise ValueError(message)
        if self.limits is not None and (len(self.limits) != 2 or not self.limits[0] < self.limits[1]):
            message = f"situation {self.name!r}: limits must be (low, high) with low < high, got {self.limits}"
            raise ValueError(message)

    def references(self, plant: Plant) -> list[Signal]:
        """Return the reference of each channel."""
        return _per_name(self, "reference", self.reference, [c.output for c in plant.channels])

    def excitations(self, plant: Plant) -> list[Signal]:
        """Return the signal of each disturbance."""
        return _per_name(self, "excitation", self.excitation, [q.name for q in plant.disturbances])

    def noise_levels(self, plant: Plant) -> list[float]:
        """Return the standard deviation of the sensor noise of each measurement."""
        names = [q.name for q in plant.measurements]
        levels = [0.0] * len(names)
        given = self.noise
        if not isinstance(given, Mapping):
            given = {channel.output: given for channel in plant.channels} if given else {}
        for name, level in given.items():
            if name not in names:
                message = f"situation {self.name!r}: {unknown('measurement', name, names)}"
                raise ValueError(message)
            if not (math.isfinite(level) and level >= 0.0):
                message = f"situation {self.name!r}: noise of {name!r} must be finite and not negative, got {level}"
                raise ValueError(message)
            levels[names.index(name)] = float(level)
        return levels


def _per_name(situation: Situation, what: str, given: Given, names: Sequence[str]) -> list[Signal]:
    signals = [Signal() for _ in names]
    if given is None:
        return signals
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                message = f"situation {situation.name!r}: {unknown(what, name, names)}"
                raise ValueError(message)
            signals[list(names).index(name)] = as_signal(value)
        return signals
    values: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) > len(names):
        message = f"situation {situation.name!r}: {len(values)} {what} signals for {len(names)} ({', '.join(names)})"
        raise ValueError(message)
    for k, value in enumerate(values):
        signals[k] = as_signal(value)
    return signals
