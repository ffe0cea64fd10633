"""Teach: search the best gains over time in all situations, and return what a knowledge base learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import as_controller
from sscq.teaching.following import Following
from sscq.teaching.teacher import TeachingTask
from sscq.teaching.teaching_signal import TeachingSignal
from sscq.teaching.window_search import RecedingSearch, WholeSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.search.box import Box
    from sscq.situations.situation import Situation
    from sscq.teaching.teacher import Teacher


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
    unlimited = replace(fitness, travel_limit=None, error_limit=None, own_limits={})
    lesson = TeachingTask(
        plant, given.laws, unlimited, box, given.gain_names, teacher, step, seed, threads, options or {},
        tuple(outputs),
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
    lesson: TeachingTask, situations: Sequence[Situation], along: Any, theta: np.ndarray | None
) -> RecedingSearch | WholeSearch:
    if along is not None:
        followed = as_controller(along, len(lesson.plant.channels))
        return RecedingSearch(lesson, situations, Following(followed, np.zeros(0) if theta is None else theta))
    return (RecedingSearch if lesson.teacher.encoding == "receding" else WholeSearch)(lesson, situations)
