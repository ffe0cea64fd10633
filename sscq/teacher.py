"""The teacher: a genetic search for the best gains over time, whose result a knowledge base learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import as_controller, settings
from sscq.genetic import GeneticAlgorithm
from sscq.lesson import Lesson
from sscq.overridden import Following
from sscq.receding_windows import RecedingSearch
from sscq.search_method import not_negative
from sscq.teaching_signal import TeachingSignal
from sscq.time_windows import WholeSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.box import Box
    from sscq.fitness import Fitness
    from sscq.situation import Situation

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


Progress = Callable[[int, int, int], None]


def teach(
    plant: Plant,
    controller: Any,
    situations: Sequence[Situation],
    fitness: Fitness,
    box: Box,
    reference: np.ndarray,
    teacher: Teacher,
    *,
    seed: int = 0,
    step: float = 0.01,
    options: dict[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    outputs: tuple[str, ...] = (),
    along: Any = None,
    theta: np.ndarray | None = None,
) -> TeachingSignal:
    """Return the teaching signal of all situations.

    Parameters
    ----------
    controller : law or tuple of laws
        With constant gains.
    box : Box
        Bounds of the gains.
    reference : ndarray [3 * channels]
        Gains before the first window.
    options : mapping, optional
        Integrator and loop mode, as for :class:`ClosedLoop`.
    progress : callable, optional
        Called with (windows done, windows in all, evaluations done).
    outputs : tuple of str
        Plant outputs, as measured, that stand among the inputs of the teaching signal: scheduling variables.
    along : controller, optional
        A scheduled controller with the same laws: the rows are then of the states that *it* visits. Whatever the
        teacher finds best in a window, the loop goes on with this controller's own gains. Always window after window.
    theta : ndarray [n_theta], optional
        Parameters of its schedule.

    Source
    ------
    Ross, Gordon and Bagnell, A reduction of imitation learning and structured prediction to no-regret online learning,
    AISTATS 2011 (dataset aggregation), for `along`.
    """
    given = as_controller(controller, len(plant.channels))
    lesson = Lesson(
        plant, given.laws, replace(fitness, travel_limit=None, own_limits={}), box, given.gain_names, teacher, step,
        seed, threads, options or {}, tuple(outputs),
    )  # fmt: skip
    search = _search(lesson, situations, along, theta)
    total = sum(lesson.windows(situation) for situation in situations)
    signals, done = [], 0
    for i, situation in enumerate(situations):

        def tick(position: int, evaluations: int, base: int = done) -> None:
            if progress:
                progress(base + position, total, evaluations)

        signals.append(search.teach(i, np.asarray(reference, float), tick))
        done += lesson.windows(situation)
    return TeachingSignal.pooled(signals)


def _search(
    lesson: Lesson, situations: Sequence[Situation], along: Any, theta: np.ndarray | None
) -> RecedingSearch | WholeSearch:
    if along is not None:
        followed = as_controller(along, len(lesson.plant.channels))
        return RecedingSearch(lesson, situations, Following(followed, np.zeros(0) if theta is None else theta))
    return (RecedingSearch if lesson.teacher.encoding == "receding" else WholeSearch)(lesson, situations)
