"""The teacher: settings of the search for gains over time, and the task it works on.

The task is plant, laws, fitness, box and settings, the same for every situation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from controllers.settings import check, setting
from plants.core.motion.simulate import count_steps
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.observation import observing
from sscq.search.encoding import RecedingWindow, TimeWindows
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.step_encoding import StepWindow, StepWindows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        0.2 to 1 times the dominant time constant of the closed loop are good.
    horizon : float
        Of receding windows; time windows are judged over the whole situation.
    search : GeneticAlgorithm
        The search of one window; all windows at once are searched with as many evaluations as one after the other.
    shrink : float
        Of the squared distance (in units of the box), relative to the window's fitness: keeps gains from wandering
        where the fitness does not care.
    encoding : {"receding", "time_windows", "stepwise"}
        Window after window from where the loop then is, the windows of a situation at once, or these with a chromosome
        of steps.
    gain_step : tuple of float
        Wanted by "stepwise", possible with "receding". Empty: none has steps.
    most_steps : tuple of int
        The first window may start anywhere.

    Raises
    ------
    ValueError
        For a setting outside its range, or steps that the encoding does not know.
    """

    window: float = setting(0.5, "time between two decisions, in whole steps", unit="s", above=0)
    horizon: float = setting(2.0, "how far ahead gains are judged, in whole steps", unit="s", above=0)
    continuations: int = setting(4, "fresh noise continuations that a gain set is averaged over", low=1, advanced=True)
    search: GeneticAlgorithm = _WINDOW_SEARCH
    shrink: float = setting(0.05, "weight of the distance from the previous gains", low=0, advanced=True)
    clairvoyant: bool = setting(
        False, "let the search see the noise that will come; marked in the results", advanced=True
    )
    encoding: str = setting(
        "receding",
        "window after window, or all windows of a situation at once (stepwise: gains move by steps)",
        choices=ENCODINGS,
    )
    gain_step: tuple[float, ...] = setting(
        (), "gains move in steps of this size from their low on: one for all, or one each (0: any value)", low=0
    )
    most_steps: tuple[int, ...] = setting(
        (1,), "largest number of steps between two windows: one for all gains, or one each", low=1
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self, "teacher")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.window is not None and self.horizon is not None and self.horizon < 2.0 * self.window:
            yield f"horizon must be at least two windows, got {self.horizon} s and {self.window} s"
        if self.encoding == "stepwise" and not self.gain_step:
            yield "gain_step is missing: encoding=stepwise needs the size of a step, such as gain_step=[0.5]"
        if self.encoding == "time_windows" and self.gain_step:
            yield f"gain_step = {self.gain_step} is for encoding=stepwise or receding, got encoding=time_windows"

    def search_of(self, n_windows: int) -> GeneticAlgorithm:
        """Return the search of all windows at once, with the evaluations that one after the other would take."""
        one = self.search
        each = one.evaluations or (one.population or 24) * (one.generations or 1)
        # Symbols repeat: what was valued before costs no evaluation, so generations too must come to an end.
        most = each * n_windows // (one.population or 24) if self.gain_step else None
        return replace(one, evaluations=each * n_windows, generations=most)


@dataclass(frozen=True)
class TeachingTask:
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
