"""Plant, laws and references as one set of equations: a loop closed in continuous time, at one time.

With the signals around it: references and measured outputs, each with its rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.analysis.integrands import Moment, controller_entropy_rate
from plants.core.blocks import allocate_inputs, as_tuple
from plants.core.replay import replay
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, depends, differentiate, flat, names, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.plant import Plant
    from plants.core.quantities import Channel
    from plants.core.signals.signal import Part, Signal


def gains_of(laws: Sequence[Any], i: int) -> slice:
    """Return the places of channel `i`'s gains among those of all `laws` in turn."""
    first = sum(len(law.gain_names) for law in laws[:i])
    return slice(first, first + len(laws[i].gain_names))


def adopted_limits(law: Any, channel: Channel) -> tuple[float, float] | None:
    """Return the limits that a law without any of its own takes from its channel; None: it stays as it is.

    A law that has no such setting looks after itself.
    """
    free = getattr(law, "limits", ()) is None
    return (channel.low, channel.high) if free and (math.isfinite(channel.low) or math.isfinite(channel.high)) else None


class ReferenceSignal:
    """A constant or smooth reference, with its rate.

    Attributes
    ----------
    level : float or None
        The constant, or None where it changes with time.
    """

    def __init__(self, channel: str, signal: Signal) -> None:
        for part in signal.parts:
            _check_part(channel, part)
        self.parts = signal.parts
        moving = [part for part in signal.parts if not _is_constant(part)]
        self.level = None if moving else float(sum(self._values(0.0)))
        self._rate = self._slope() if moving else None

    def value(self, t: Any) -> Any:
        """Return the reference at time `t` [s]."""
        return sum(self._values(t), 0.0)

    def rate(self, t: Any) -> Any:
        """Return its rate."""
        return 0.0 if self._rate is None else replay(self._rate, t)[0]

    def _values(self, t: Any) -> list[Any]:
        return [part.value(t, part.settings(1.0), 0.0) for part in self.parts]

    def _slope(self) -> Program:
        tape = Tape()
        t = tape.input("t")
        ((slope,),) = differentiate([tape.lift(self.value(t))], [t])
        return Program(tape, ("t",), (tape.lift(slope).index,))


def _is_constant(part: Part) -> bool:
    return not part.random and (part.jumps or type(part).__name__ == "Constant")


def _check_part(channel: str, part: Part) -> None:
    if part.random or (part.jumps and part.last_jump() > 0.0):
        raise ValueError(
            f"the reference of {channel!r} must be constant or smooth in a loop closed in continuous time, got "
            f"{part!r}; close it from the jump on, or use sscq.evaluate"
        )


class Measured:
    """The measured output of each channel and its rate, from the rate output or along the plant's equations."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.places = [plant.index("measurements", c.output) for c in plant.channels]
        self.rate_places = [None if c.rate is None else plant.index("measurements", c.rate) for c in plant.channels]
        self._program = self._trace()

    def _trace(self) -> Program:
        """Rates of all outputs along the derivative; beside it, which of them depend on what at all."""
        plant, tape = self.plant, Tape()
        sizes = (len(plant.states), len(plant.inputs), len(plant.disturbances), len(plant.parameters))
        shapes: list[str | tuple[str, ...]] = ["t"]
        shapes += [names(label, size) for label, size in zip("xuwp", sizes, strict=True)]
        t, x, u, w, p = (symbols(tape, shape) for shape in shapes)
        f = as_tuple(plant.derivative(t, x, u, w, p), len(x), plant.name)  # type: ignore[misc]
        y = [tape.lift(v) for v in as_tuple(plant.outputs(t, x, u, w, p), len(plant.measurements), plant.name)]
        by_t, by_x = differentiate(y, [t]), differentiate(y, x)
        rates = [
            tape.lift(sum((slope * rate for slope, rate in zip(row, f, strict=True)), first[0]))
            for row, first in zip(by_x, by_t, strict=True)
        ]
        self.of_input = [depends(row) for row in differentiate(y, u)]
        self.of_disturbance = [depends(row) for row in differentiate(y, w)]
        self.rate_of_input = [depends(row) for row in differentiate(rates, u)]
        return Program(tape, tuple(flat(shapes)), tuple(rate.index for rate in rates))

    def direct_rate(self, channel: int, block: tuple[Any, ...], outputs: Sequence[Any]) -> Any | None:
        """Return the channel's rate from time, state and disturbance alone; None where it needs the input."""
        if self.rate_places[channel] is not None:
            return outputs[self.rate_places[channel]]  # type: ignore[index]
        return None if self.rate_of_input[self.places[channel]] else self.rate(channel, *block)

    def rate(self, channel: int, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        """Return the rate of the channel's output along the plant's equations."""
        return replay(self._program, t, *x, *u, *w, *p)[self.places[channel]]


@dataclass(frozen=True)
class LoopMoment(Moment):
    """Everything about a closed loop at one time; tuples have one entry per channel where not said otherwise.

    Attributes
    ----------
    rates, law_rates : rates of all plant states and of all law states
    output : all measurements
    input, parameters : what the plant's blocks see
    """

    rates: tuple[Any, ...]
    law_rates: tuple[Any, ...]
    output: tuple[Any, ...]
    reference: tuple[Any, ...]
    error: tuple[Any, ...]
    input: tuple[Any, ...]
    parameters: tuple[Any, ...]


class Loop:
    """Plant, laws, gains and references as one set of equations.

    Parameters
    ----------
    gains : sequence of float
        Of all channels; those that are not 0 are parameters of the closed plant.
    dead_time : int, optional
        Place of the dead time among the plant's parameters: 0 here, and no parameter of the closed plant.
    """

    def __init__(
        self,
        plant: Plant,
        laws: Sequence[Any],
        gains: Sequence[float],
        references: Sequence[ReferenceSignal],
        entropy_scale: float,
        *,
        dead_time: int | None,
    ) -> None:
        self.plant, self.laws, self.gains = plant, tuple(laws), tuple(gains)
        self.references, self.entropy_scale, self.dead_time = tuple(references), entropy_scale, dead_time
        self.initial = [tuple(law.initial()) for law in laws]
        self.measured = Measured(plant)
        for channel, place in zip(plant.channels, self.measured.places, strict=True):
            if self.measured.of_input[place]:
                raise ValueError(f"the measured output {channel.output!r} of plant {plant.name!r} depends on an input")
        self.uses_rate = [self._rate_use(k) for k in range(len(laws))]

    def _rate_use(self, k: int) -> bool:
        """Whether anything depends on the rate of channel k's output; raises where that rate is not known."""
        tape, law = Tape(), self.laws[k]
        signals = [tape.input(name) for name in ("t", "r", "y", "r_rate", "y_rate")]
        c = symbols(tape, names("c", len(self.initial[k])))
        gains = [tape.input(f"g{i}") if gain else 0.0 for i, gain in enumerate(self.gains)]
        command, c_rate = law.continuous(*signals, c, self._gains_of(k, gains))
        results = [tape.lift(value) for value in (command, *c_rate)]
        of_command, *of_states = (depends(row) for row in differentiate(results, [signals[4]]))
        used = of_command or any(of_states) or not _is_zero(self._kd(k, gains))
        if used and self.measured.rate_places[k] is None:
            self._check_rate(k, of_command=of_command)
        return used

    def _check_rate(self, k: int, *, of_command: bool) -> None:
        """Refuse a loop in which the rate of an output that has no rate output is not known."""
        output, place = self.plant.channels[k].output, self.measured.places[k]
        if self.measured.of_disturbance[place]:
            raise ValueError(
                f"the output {output!r} depends on a disturbance, so its rate is not known; declare a rate output, or "
                "use kd = 0"
            )
        if of_command and self.measured.rate_of_input[place]:
            raise ValueError(
                f"the command of channel {output!r} depends on the rate of its output, and that rate on the command at "
                "once: an algebraic loop. Use a derivative filter (derivative_filter_time > 0), kd = 0, or declare a "
                "rate output that is a state"
            )

    def _gains_of(self, k: int, gains: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(gains[gains_of(self.laws, k)])

    def _split(self, p: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any], list[Any]]:
        """Plant parameters, all gains, and the references' constants from the closed plant's parameters."""
        count = len(self.plant.parameters) - (self.dead_time is not None)
        own, rest = list(p[:count]), list(p[count:])
        if self.dead_time is not None:
            own.insert(self.dead_time, 0.0)
        gains = [rest.pop(0) if gain else 0.0 for gain in self.gains]
        return tuple(own), gains, rest

    def moment(self, t: Any, x: tuple[Any, ...], c: tuple[Any, ...], w: Any, p: Any) -> LoopMoment:
        """Return everything at time `t` [s] for plant states `x`, law states `c`, disturbances `w`."""
        plant = self.plant
        own, gains, constants = self._split(p)
        levels = iter(constants)
        r = tuple(ref.value(t) if ref.level is None else next(levels) for ref in self.references)
        r_rate = tuple(ref.rate(t) for ref in self.references)
        y, y_rate = self._measure(t, x, w, own)
        answers = self._answers(t, (r, y, r_rate, y_rate), c, gains)
        commands = tuple(command for command, _ in answers)
        u = allocate_inputs(plant, t, x, commands, own)
        if any(
            rate is None for rate in y_rate
        ):  # known only with the input: the laws' states see these rates, the commands do not
            pairs = enumerate(y_rate)
            y_rate = [self.measured.rate(k, t, x, u, w, own) if rate is None else rate for k, rate in pairs]
            answers = self._answers(t, (r, y, r_rate, y_rate), c, gains)
        error = tuple(a - b for a, b in zip(r, y, strict=True))
        return LoopMoment(
            t=t,
            since=t,
            rates=as_tuple(plant.derivative(t, x, u, w, own), len(x), plant.name),  # type: ignore[misc]
            law_rates=tuple(rate for _, c_rate in answers for rate in c_rate),
            output=as_tuple(plant.outputs(t, x, u, w, own), len(plant.measurements), plant.name),
            reference=r,
            error=error,
            scaled_error=tuple(e * (1.0 / ch.scale) for e, ch in zip(error, plant.channels, strict=True)),
            command=commands,
            input=u,
            parameters=own,
            entropy_plant=0.0 if plant.entropy_rate is None else plant.entropy_rate(t, x, u, w, own),
            entropy_controller=self._entropy(r_rate, y_rate, gains),
        )

    def _measure(self, t: Any, x: Any, w: Any, own: Any) -> tuple[tuple[Any, ...], list[Any]]:
        """Measured outputs and their rates: 0 where nothing looks at it, None where it needs the input."""
        plant, measured = self.plant, self.measured
        block = (t, x, tuple(q.nominal for q in plant.inputs), w, own)  # what is measured does not depend on the input
        outputs = as_tuple(plant.outputs(*block), len(plant.measurements), plant.name)
        rates = [measured.direct_rate(k, block, outputs) if used else 0.0 for k, used in enumerate(self.uses_rate)]
        return tuple(outputs[place] for place in measured.places), rates

    def _answers(self, t: Any, signals: Sequence[Any], c: tuple[Any, ...], gains: Sequence[Any]) -> list[Any]:
        """Command and state rates of every law; a rate that is not known yet is taken as 0."""
        answers, first = [], 0
        for k, (law, *seen) in enumerate(zip(self.laws, *signals, strict=True)):
            size = len(self.initial[k])
            values = [0.0 if value is None else value for value in seen]
            answers.append(law.continuous(t, *values, c[first : first + size], self._gains_of(k, gains)))
            first += size
        return answers

    def _kd(self, k: int, gains: Sequence[Any]) -> Any:
        law = self.laws[k]
        return self._gains_of(k, gains)[law.gain_names.index("kd")] if "kd" in law.gain_names else 0.0

    def _entropy(self, r_rate: Sequence[Any], y_rate: Sequence[Any], gains: Sequence[Any]) -> Any:
        """T0 dS/dt of the derivative actions [W]."""
        kds = [self._kd(k, gains) for k in range(len(self.laws))]
        parts = zip(self.plant.channels, kds, r_rate, y_rate, strict=True)
        acting = ((channel, kd, a - b) for channel, kd, a, b in parts if not _is_zero(kd))
        return self.entropy_scale * controller_entropy_rate(acting)


def _is_zero(gain: Any) -> bool:
    return isinstance(gain, float) and gain == 0.0
