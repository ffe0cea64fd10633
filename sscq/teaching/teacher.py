"""The teacher: settings of the search for gains over time, and the task it works on.

The task is plant, laws, fitness, box and settings, the same for every situation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from controllers import settings
from plants.core.motion.simulate import count_steps
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.observation import observing
from sscq.search.encoding import RecedingWindow, TimeWindows
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.method import not_negative
from sscq.teaching.step_encoding import StepWindow, StepWindows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.search.box import Box
    from sscq.situations.situation import Situation


_WINDOW_SEARCH = GeneticAlgorithm(population=24, generations=6, stall_generations=None)

ENCODINGS = ("receding", "time_windows", "stepwise")


@dataclass(frozen=True)
class Teacher:
    """Settings of the search for gains over time.

    Attributes
    ----------
    window : float
        Time between two decisions [s]: 0.2 to 1 times the dominant time constant of the closed loop.
    horizon : float
        How far ahead gains are judged [s], at least two windows; time windows are judged over the whole situation.
    continuations : int
        Fresh noise continuations that a gain set is averaged over.
    search : GeneticAlgorithm
        The search of one window; all windows at once are searched with as many evaluations as one after the other.
    shrink : float
        Weight of the squared distance from the previous gains (in units of the box), relative to the window's fitness:
        keeps gains from wandering where the fitness does not care.
    clairvoyant : bool
        Let the search see the noise that will come; marked in the result.
    encoding : {"receding", "time_windows", "stepwise"}
        Window after window from where the loop then is, the windows of a situation at once, or these with a chromosome
        of steps.
    gain_step : tuple of float
        Gains exist in steps of this size from their lower bound on: one for each gain, or one for all; 0: a gain
        without steps. Wanted by "stepwise", possible with "receding". Empty: none has steps.
    most_steps : tuple of int
        Largest number of steps between two windows, of each gain or of all. The first window may start anywhere.
    """

    window: float = 0.5
    horizon: float = 2.0
    continuations: int = 4
    search: GeneticAlgorithm = _WINDOW_SEARCH
    shrink: float = 0.05
    clairvoyant: bool = False
    encoding: str = "receding"
    gain_step: tuple[float, ...] = ()
    most_steps: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        """Check the settings."""
        settings.positive("teacher's window", self.window)
        settings.finite("teacher's horizon", self.horizon)
        not_negative("teacher's shrink", self.shrink)
        settings.one_of("teacher's encoding", self.encoding, ENCODINGS)
        if self.horizon < 2.0 * self.window:
            message = f"the teacher's horizon must be at least two windows, got {self.horizon} s and {self.window} s"
            raise ValueError(message)
        if self.continuations < 1:
            message = f"the teacher needs at least one continuation, got {self.continuations}"
            raise ValueError(message)
        if bool(self.gain_step) != (self.encoding == "stepwise") and self.encoding != "receding":
            wanted = "needs the size of the gains' steps" if not self.gain_step else "knows no steps of the gains"
            message = f"the teacher's encoding {self.encoding!r} {wanted}, got gain_step={self.gain_step}"
            raise ValueError(f"{message}; use gain_step with 'stepwise' or 'receding'")

    def search_of(self, n_windows: int) -> GeneticAlgorithm:
        """Return the search of all windows at once, with the evaluations that one after the other would take."""
        one = self.search
        each = one.evaluations or (one.population or 24) * (one.generations or 1)
        # Symbols repeat: what was valued before costs no evaluation, so generations too must come to an end.
        most = each * n_windows // (one.population or 24) if self.gain_step else None
        return replace(one, evaluations=each * n_windows, generations=most)


@dataclass(frozen=True)
class Lesson:
    """The teacher's task; attributes as the parameters of :func:`sscq.teaching.teach.teach`."""

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
