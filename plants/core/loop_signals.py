"""Signals around a loop that is closed in continuous time: references and measured outputs, each with its rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.motion import as_tuple
from plants.core.replay import replay
from plants.core.tape import Tape
from plants.core.trace import Program, depends, differentiate, flat, names, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.plant import Plant
    from plants.excitation import Part, Signal


class Reference:
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
        message = (
            f"the reference of {channel!r} must be constant or smooth in a loop closed in continuous time, got "
            f"{part!r}; close it from the jump on, or use sscq.evaluate"
        )
        raise ValueError(message)


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
