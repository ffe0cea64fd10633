"""What a closed loop consists of, settled before anything is traced: rates, bound laws, features, delays."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import as_controller
from plants.core.analysis.closed_loop import adopted_limits, gains_of
from plants.core.kernel.signal_bank import SignalBank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers.controller import Controller
    from controllers.protocols import Law
    from plants import Channel, Plant
    from sscq.situations.situation import Situation

_ROUNDING = 1e-6  # relative: times are given in decimals
_DECIMAL = tuple(2**a * 5**b for a in range(20) for b in range(9))  # parts of a decimal number that are decimals


@dataclass(frozen=True)
class LoopTiming:
    """The three rates: integration step, controller sample, schedule tick (integers of one another)."""

    step: float
    sample: int
    tick: int

    @property
    def sample_time(self) -> float:
        """Time between controller samples [s]."""
        return self.step * self.sample

    def at_sample(self) -> str:
        """Condition of a controller sample, as text; empty if every step is one."""
        return "" if self.sample == 1 else f"step % {self.sample} == 0"

    def at_tick(self) -> str:
        """Condition of a schedule tick, as text."""
        every = self.sample * self.tick
        return "" if every == 1 else f"step % {every} == 0"


@dataclass(frozen=True)
class Delays:
    """Dead times of one situation: whole steps and the rest for the input, whole samples and the rest for outputs."""

    input_steps: int
    input_part: float
    output_samples: int
    output_part: float

    @property
    def input(self) -> bool:
        """Whether there is an input delay."""
        return self.input_steps > 0 or self.input_part > 0.0

    @property
    def output(self) -> bool:
        """Whether there is an output delay."""
        return self.output_samples > 0 or self.output_part > 0.0

    def input_slots(self, sample: int) -> int:
        """Return how many samples' commands must be remembered."""
        return (self.input_steps + 1) // sample + 2

    def output_slots(self) -> int:
        """Return how many samples' measurements must be remembered."""
        return self.output_samples + 2


class LoopSpec:
    """Plant, bound controller, situations and the features that these situations use together."""

    def __init__(self, plant: Plant, controller: Any, situations: Sequence[Situation], step: float) -> None:
        if not situations:
            message = "a closed loop needs at least one situation, got none"
            raise ValueError(message)
        if not plant.channels:
            message = f"plant {plant.name!r} declares no control channel, so there is no loop to close"
            raise ValueError(message)
        self.plant, self.situations = plant, tuple(situations)
        self.controller: Controller = as_controller(controller, len(plant.channels))
        self.timing = _timing(self.controller, step)
        pairs = zip(self.controller.laws, plant.channels, strict=True)
        self.laws: tuple[Law, ...] = tuple(_bound(law, channel, self.timing.sample_time) for law, channel in pairs)
        names = [channel.output for channel in plant.channels]
        self.references = SignalBank("r", names, [s.references(plant) for s in self.situations], step)
        names = [q.name for q in plant.disturbances]
        self.disturbances = SignalBank("w", names, [s.excitations(plant) for s in self.situations], step)
        self.watched = self._watched()
        self._sensors()
        self._actuators()
        self.delays = [_delays(plant, s, self.timing) for s in self.situations]
        self.delayed_input = any(d.input for d in self.delays)
        self.delayed_output = any(d.output for d in self.delays)
        self.bounded = any(s.limits is not None for s in self.situations)

    def _watched(self) -> tuple[int, ...]:
        """Return the places of the measurements that laws and schedule look at, each once."""
        channels = self.plant.channels
        names = [c.output for c in channels]
        names += [c.rate for i, c in enumerate(channels) if c.rate is not None and self.measures_rate(i)]
        return tuple(dict.fromkeys(self.output_index(name) for name in (*names, *self.controller.schedule.signals)))

    def _sensors(self) -> None:
        """Settings of the sensors [situation, measurement] or [situation], and which measurements have any."""
        several = self.situations
        self.noise = np.array([s.noise_levels(self.plant) for s in several])
        self.quanta = np.array([s.quanta(self.plant) for s in several])
        self.noisy = [k for k in self.watched if self.noise[:, k].any()]
        self.quantised = [k for k in self.watched if self.quanta[:, k].any()]
        self.jitter = np.array([s.jitter for s in several])
        self.dropout = np.array([s.dropout for s in several])

    def _actuators(self) -> None:
        """Settings of the actuators [situation, input] or [situation]; 0: none."""
        several = self.situations
        self.speed = np.array([s.of_inputs("rate_limit", self.plant) for s in several])
        self.dead_zone = np.array([s.of_inputs("dead_zone", self.plant) for s in several])
        self.backlash = np.array([s.of_inputs("backlash", self.plant) for s in several])
        self.command_dropout = np.array([s.command_dropout for s in several])

    def measures_rate(self, i: int) -> bool:
        """Return whether channel `i` uses the plant's rate output instead of differencing its samples."""
        wanted = getattr(self.laws[i], "rate_source", "output")
        return self.plant.channels[i].rate is not None and wanted == "output"

    def gains_of(self, i: int) -> slice:
        """Return the places of channel i's gains among all."""
        return gains_of(self.laws, i)

    def output_index(self, name: str) -> int:
        """Return the place of a measurement."""
        return self.plant.index("measurements", name)


def _whole(ratio: float, what: str, remedy: str = "") -> int:
    count = round(ratio)
    if count < 1 or abs(ratio - count) > _ROUNDING * count:
        message = f"{what}, got a ratio of {ratio:g}{remedy}"
        raise ValueError(message)
    return count


def _samples_step(sample_time: float, step: float) -> float:
    """The largest step [s] up to the one given that divides the sample time into parts of few decimals."""
    ratio = sample_time / step
    return sample_time / min((n for n in _DECIMAL if n >= ratio), default=math.ceil(ratio))


def _timing(controller: Controller, step: float) -> LoopTiming:
    if not (math.isfinite(step) and step > 0.0):
        message = f"step must be positive and finite, got {step} s"
        raise ValueError(message)
    times = {law.sample_time for law in controller.laws}
    if len(times) > 1:
        message = f"all channels of one controller need the same sample time, got {sorted(map(str, times))}"
        raise ValueError(message)
    (sample_time,) = times
    sample = 1
    if sample_time is not None:
        remedy = f"; give step={_samples_step(sample_time, step):.12g}, for the sample time of {sample_time:.12g} s"
        sample = _whole(sample_time / step, "sample_time must be a multiple of the step", remedy)
    tick = controller.schedule.tick
    ticks = (
        1 if tick is None else _whole(tick / (sample * step), "the schedule's tick must be a multiple of sample_time")
    )
    return LoopTiming(step, sample, ticks)


def _bound(law: Law, channel: Channel, sample_time: float) -> Law:
    """Return the law with its sample time and, where it has no limits of its own, the channel's."""
    limits = adopted_limits(law, channel)
    changes: dict[str, Any] = {} if limits is None else {"limits": limits}
    return replace(law, sample_time=sample_time, **changes)  # type: ignore[type-var]


def _delays(plant: Plant, situation: Situation, timing: LoopTiming) -> Delays:
    dead = situation.delay
    if plant.input_delay is not None:
        dead += plant.values("parameters", situation.parameters)[plant.index("parameters", plant.input_delay)]
    steps, part = _split(dead / timing.step)
    samples, rest = _split(situation.output_delay / timing.sample_time)
    return Delays(steps, part, samples, rest)


def _split(ratio: float) -> tuple[int, float]:
    whole = math.floor(ratio + _ROUNDING)
    part = ratio - whole
    return whole, part if part > _ROUNDING else 0.0
