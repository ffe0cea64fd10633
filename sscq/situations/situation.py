"""A control situation (scenario): what happens to the closed loop in one rollout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plants.core.names import unknown
from plants.excitation import Part, Signal, as_signal

if TYPE_CHECKING:
    from plants import Plant

Given = Mapping[str, Any] | Sequence[Any] | Signal | Part | float | None
Numbers = Mapping[str, float] | float


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
    jitter : float
        Sampling jitter: the measurement that a sample works with was taken a random time before, uniform between 0 and
        this share of the sample time (0 to 1).
    quantisation : float, or mapping of measurement to float
        Step of the converter: measurements are rounded to its nearest multiple. A bare number is for every controlled
        output.
    dropout, command_dropout : float
        Probability that a sample's packet is lost on its way to the controller (all measurements), or to the actuator
        (all plant inputs); the last one that arrived is held.
    limits : (low, high), optional
        Range of the plant inputs, where the actuator has less than the controller believes.
    rate_limit : float, or mapping of plant input to float, optional
        Largest speed of the actuator [input unit/s], where it is slower than the controller believes. Here and below a
        bare number is for every plant input.
    dead_zone : float, or mapping of plant input to float
        The actuator does nothing between minus and plus this value, and is that much weaker beyond.
    backlash : float, or mapping of plant input to float
        Width of the play between actuator and plant.
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
    noise: Numbers = 0.0
    limits: tuple[float, float] | None = None
    jitter: float = 0.0
    quantisation: Numbers = 0.0
    dropout: float = 0.0
    command_dropout: float = 0.0
    rate_limit: Numbers | None = None
    dead_zone: Numbers = 0.0
    backlash: Numbers = 0.0
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
        for label in ("dropout", "command_dropout"):
            if not 0.0 <= getattr(self, label) < 1.0:
                chance = f"must be a probability of at least 0 and below 1, got {getattr(self, label)}"
                message = f"situation {self.name!r}: {label} {chance}"
                raise ValueError(message)
        if not 0.0 <= self.jitter <= 1.0:
            message = f"situation {self.name!r}: jitter must be a share of the sample, 0 to 1, got {self.jitter}"
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
        return _per_name(self, "excitation", self.excitation, [q.name for q in plant.disturbances], plant.calm())

    def noise_levels(self, plant: Plant) -> list[float]:
        """Return the standard deviation of the sensor noise of each measurement."""
        return self._of_measurements("noise", plant)

    def quanta(self, plant: Plant) -> list[float]:
        """Return the step of the converter of each measurement; 0: none."""
        return self._of_measurements("quantisation", plant)

    def of_inputs(self, what: str, plant: Plant) -> list[float]:
        """Return `what` ("rate_limit", "dead_zone" or "backlash") of each plant input; 0: none."""
        names = [q.name for q in plant.inputs]
        return _numbers(self, what, "plant input", names, names)

    def _of_measurements(self, what: str, plant: Plant) -> list[float]:
        names = [q.name for q in plant.measurements]
        return _numbers(self, what, "measurement", names, [channel.output for channel in plant.channels])


def _numbers(situation: Situation, what: str, kind: str, names: Sequence[str], bare: Sequence[str]) -> list[float]:
    """Return the setting `what` for each of `names`, 0 where it has none; a bare number is for all in `bare`."""
    given = getattr(situation, what)
    if not isinstance(given, Mapping):
        given = {} if given is None else dict.fromkeys(bare, given)
    found = dict.fromkeys(names, 0.0)
    for name, value in given.items():
        if name not in found:
            message = f"situation {situation.name!r}: {unknown(kind, name, names)}"
            raise ValueError(message)
        some = what != "rate_limit"  # a rate limit of 0 would be an actuator that never moves
        if not (math.isfinite(value) and (value >= 0.0 if some else value > 0.0)):
            rule = "finite and not negative" if some else "finite and positive (leave it out where there is none)"
            message = f"situation {situation.name!r}: {what} of {name!r} must be {rule}, got {value}"
            raise ValueError(message)
        found[name] = float(value)
    return list(found.values())


def _per_name(
    situation: Situation, what: str, given: Given, names: Sequence[str], rest: Sequence[float] = ()
) -> list[Signal]:
    """Return a signal for each of `names`; left out, nothing or its value at `rest`."""
    signals = [as_signal(value) if value else Signal() for value in rest or (0.0,) * len(names)]
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
