"""What a loop in operation is asked for: the plant's taught situations in turn, each from where the one before ended.

A move is one of them: its references and loads begin with it and end with it. A window is some moves; after it the
supervisor looks back. Noise goes on through all windows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from plants.core.motion.simulate import count_steps
from plants.excitation import Constant, Signal, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from plants.excitation import Part
    from sscq.situations.situation import Situation

NAME = "operation"


@dataclass(frozen=True)
class Programme:
    """Windows of a run in operation.

    Attributes
    ----------
    plant : Plant
    taught : tuple of Situation
        Repeated in turn; horizon, sensors, actuators and start are those of the first.
    windows : int
    moves : int
        In a window.
    step : float
        Integration step [s].
    seed : int
        Of all noise.

    Raises
    ------
    ValueError
        If a situation's reference or load is anything but levels, steps and noise.
    """

    plant: Plant
    taught: tuple[Situation, ...]
    windows: int
    moves: int
    step: float
    seed: int = 0

    @property
    def move_time(self) -> float:
        """Duration of a move [s]."""
        return self.taught[0].t_end

    @property
    def window_time(self) -> float:
        """Duration of a window [s]."""
        return self.moves * self.move_time

    @property
    def window_steps(self) -> int:
        """Integration steps of a window."""
        return self.moves * count_steps(self.move_time, self.step)

    @property
    def duration(self) -> float:
        """Of all windows [s]."""
        return self.windows * self.window_time

    @cached_property
    def situations(self) -> tuple[Situation, ...]:
        """A situation for each window, in the run's own time; each says what it takes over from the one before."""
        return tuple(
            self._moves(NAME, window * self.moves, self.moves, begins=window == 0) for window in range(self.windows)
        )

    @cached_property
    def period(self) -> Situation:
        """All moves in turn as a situation of their own, from the plant's usual start."""
        return replace(self._moves("all moves in turn", 0, len(self.taught), begins=True), seed=self.taught[0].seed)

    def _moves(self, name: str, first: int, count: int, *, begins: bool) -> Situation:
        """Some moves one after the other; the first `begins`, or takes over from the one before."""
        references = [one.references(self.plant) for one in self.taught]
        loads = [one.excitations(self.plant) for one in self.taught]
        outputs = [channel.output for channel in self.plant.channels]
        disturbances = [q.name for q in self.plant.disturbances]

        def signals(names: list[str], of: list[list[Signal]]) -> dict[str, Signal]:
            return {
                one: self._signal([signal[i] for signal in of], first, count, begins=begins)
                for i, one in enumerate(names)
            }

        return replace(
            self.taught[0],
            name=name,
            seed=self.seed,
            t_end=count * self.move_time,
            reference=signals(outputs, references),
            excitation=signals(disturbances, loads),
        )

    def _signal(self, signals: Sequence[Signal], first: int, count: int, *, begins: bool) -> Signal:
        """One channel's signal; its form is the same wherever it begins."""
        level = 0.0 if begins else _ending(signals[(first - 1) % len(signals)])
        parts: list[Part] = [Constant(level)]
        for number in range(first, first + count):
            signal, begin = signals[number % len(signals)], number * self.move_time
            base = sum(part.level for part in signal.parts if isinstance(part, Constant))
            parts.append(Step(base - level, at=begin))
            steps = [part for part in signal.parts if isinstance(part, Step)]
            parts += [Step(part.height, at=begin + part.at) for part in steps]
            level = base + sum(part.height for part in steps)
        noise = [part for part in signals[0].parts if part.random]
        return Signal((*parts, *noise))


def _ending(signal: Signal) -> float:
    """Level at the end of a move."""
    level = sum(part.level for part in signal.parts if isinstance(part, Constant))
    return float(level + sum(part.height for part in signal.parts if isinstance(part, Step)))


def check_taught(taught: Sequence[Situation], plant: Plant) -> None:
    """Raise ValueError where situations cannot be repeated one after the other."""
    for one in taught:
        for signal in (*one.references(plant), *one.excitations(plant)):
            for part in signal.parts:
                if not (part.random or isinstance(part, Constant | Step)):
                    raise ValueError(
                        f"situation {one.name!r} has a {type(part).__name__}: in operation references and loads are "
                        "levels, steps and noise"
                    )
        if not math.isclose(one.t_end, taught[0].t_end):
            raise ValueError(
                f"situations of one programme have one horizon, got {one.t_end:g} s and {taught[0].t_end:g} s"
            )
