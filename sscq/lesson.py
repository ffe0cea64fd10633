"""What a teacher works with: plant, laws, fitness, box and settings, the same for every situation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plants.core.simulate import count_steps
from sscq.closed_loop import ClosedLoop
from sscq.encoding import RecedingWindow, TimeWindows
from sscq.observing import observing
from sscq.step_encoding import StepWindow, StepWindows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from plants import Plant
    from sscq.box import Box
    from sscq.fitness import Fitness
    from sscq.situation import Situation
    from sscq.teacher import Teacher


@dataclass(frozen=True)
class Lesson:
    """The teacher's task; attributes as the parameters of :func:`sscq.teacher.teach`."""

    plant: Plant
    laws: Any
    fitness: Fitness
    box: Box
    gain_names: tuple[str, ...]
    teacher: Teacher
    step: float
    seed: int
    threads: int | None
    options: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()

    @property
    def window_steps(self) -> int:
        """Steps of one window."""
        return count_steps(self.teacher.window, self.step)

    @property
    def bounds(self) -> dict[str, Any]:
        """Bounds and names of the gains, as encodings take them."""
        return {"low": self.box.low, "high": self.box.high, "gain_names": self.gain_names, "any_sign": True}

    @property
    def steps(self) -> dict[str, Any]:
        """Steps of the gains, as step encodings take them."""
        return {"step": self.teacher.gain_step, "most": self.teacher.most_steps}

    def one_window(self, gains: np.ndarray) -> RecedingWindow:
        """Return the encoding of a first window, before which the gains [n_gains] are these."""
        given = {**self.bounds, "previous": tuple(gains.tolist()), "shrink": self.teacher.shrink}
        return StepWindow(**given, **self.steps) if self.teacher.gain_step else RecedingWindow(**given)

    def all_windows(self, times: tuple[float, ...]) -> TimeWindows:
        """Return the encoding of all windows at once, which begin at these times [s]."""
        given = {**self.bounds, "times": times}
        return StepWindows(**given, **self.steps) if self.teacher.gain_step else TimeWindows(**given)

    def windows(self, situation: Situation) -> int:
        """Number of whole windows of a situation."""
        return count_steps(situation.t_end, self.step) // self.window_steps

    def loop(self, controller: Any, situations: Sequence[Situation]) -> ClosedLoop:
        """Return the compiled loop that records what a controller sees."""
        return ClosedLoop(
            self.plant,
            observing(controller, self.outputs, len(self.plant.channels)),
            situations,
            self.step,
            measures=self.fitness.measures,
            observe=True,
            entropy_scale=self.fitness.entropy_scale,
            **self.options,
        )

    def signal_rows(self, loop: ClosedLoop) -> list[int]:
        """Return the workspace rows of error and error rate of every channel, then of the plant outputs."""
        rows = list(range(*loop.design.rows.span("signals").indices(loop.design.rows.count)))
        own = 2 * len(self.plant.channels)  # a schedule that is followed may read plant outputs of its own between
        return rows[:own] + rows[len(rows) - len(self.outputs) :]
