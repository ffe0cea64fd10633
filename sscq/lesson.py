"""What a teacher works with: plant, laws, fitness, box and settings, the same for every situation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plants.core.simulate import count_steps
from sscq.closed_loop import ClosedLoop
from sscq.observing import observing

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        return list(range(*loop.design.rows.span("signals").indices(loop.design.rows.count)))
