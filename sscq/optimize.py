"""Optimize the gains of a PID in closed loop: the best constant gains, and the best gains over time to learn from.

Searches, margins and teaching are imported where they are used: ``import sscq`` has this module at hand, and the fifty
modules behind them, scipy's linear algebra among them, would make it half as long again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, as_controller, gain_names
from sscq.baselines.objective import Task
from sscq.fitness import Fitness
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from plants import Plant
    from sscq.margins.margins import MarginLimits
    from sscq.margins.operating import OperatingMargins
    from sscq.search.history import GenerationHistory
    from sscq.search.method import SearchMethod
    from sscq.teaching.teacher import Teacher
    from sscq.teaching.teaching_signal import TeachingSignal

USUAL_SENSITIVITY = 1.8  # Ms: the usual compromise of the tuning literature is 1.4 (slow) to 2 (fast)


@dataclass(frozen=True, eq=False)
class Optimized:
    """What :func:`optimize` gives.

    Attributes
    ----------
    gains : ndarray [n_gains]
        The best constant gains: kp, ki, kd of each channel.
    fitness : float
        Theirs in the situations, margins included (minimised).
    teaching_signal : TeachingSignal or None
        Gains that are best over time, for `flcs.design`; None if no teacher was asked.
    history : GenerationHistory
        Course of the search for constant gains, an entry a generation.
    low, high : ndarray [n_gains]
        The box that was searched.
    criterion : Fitness
        What was minimised, with the reference values that its terms are divided by.
    """

    gains: np.ndarray
    fitness: float
    teaching_signal: TeachingSignal | None
    history: GenerationHistory
    low: np.ndarray
    high: np.ndarray
    criterion: Fitness


def optimize(
    plant: Plant,
    controller: Any,
    situations: Sequence[Situation] | Situation,
    ga: SearchMethod | None = None,
    seed: int = 0,
    *,
    fitness: Fitness | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    own: ArrayLike | None = None,
    margins: MarginLimits | bool = True,
    teacher: Teacher | bool = True,
    step: float = 0.01,
    integrator: str = "rk4",
    algebraic_loop: str = "solved",
    threads: int | None = None,
    device: str = "cpu",
    progress: Callable[[int, int, int], None] | None = None,
) -> Optimized:
    """Search the best gains of a PID in control situations, first constant ones, then window after window.

    Parameters
    ----------
    plant : Plant
    controller : law such as `controllers.PID`, or tuple of laws
        One for each channel; a single one stands for all.
    situations : sequence of Situation
        The taught ones.
    ga : GeneticAlgorithm or another SearchMethod, optional
        Search of the constant gains.
    seed : int
        Of everything random but the situations' own excitation.
    fitness : Fitness, optional
        Used as it stands. Left out: the default, each term divided by its value for random gains of the box (for `own`
        gains, where they are given and survive).
    low, high : array [n_gains] or [gains of one channel], optional
        Box of the gains; left out, the one that the plant's channels declare.
    own : array [n_gains], optional
        The present gains: a start of the search and the reference of the default fitness.
    margins : MarginLimits or bool
        Constraint at the plant's operating points. True: a maximum sensitivity of at most 1.8 where the plant declares
        operating points. False: none.
    teacher : Teacher or bool
        How the teaching signal is made; True: with the usual settings; False: it is left out.
    step : float
        Integration step [s].
    device : str
        "cuda": the loops of the search for constant gains run on an NVIDIA GPU, which pays from a population of some
        thousand on; margins and the teaching signal, whose windows go on from snapshots, come from the CPU.
    progress : callable, optional
        Called with (windows done, windows in all, evaluations done) while the teaching signal is made.

    Raises
    ------
    ValueError
        For bounds, situations or settings that do not fit, naming which.
    TypeError
        If `controller` has a gain schedule of its own: that is refined by `flcs.refinement.refinement.refine`.

    Examples
    --------
    >>> result = sscq.optimize(plant, controllers.PID(), plant_situations, seed=0)  # doctest: +SKIP
    >>> kb = flcs.design(result.teaching_signal, result.low, result.high, result.gains)  # doctest: +SKIP
    """
    from sscq.baselines import candidates, search_plan
    from sscq.baselines.survey import survey
    from sscq.search.genetic import GeneticAlgorithm

    several = (situations,) if isinstance(situations, Situation) else tuple(situations)
    laws = _laws(plant, controller)
    lows, highs = _box(plant, laws, low, high)
    options = {"integrator": integrator, "algebraic_loop": algebraic_loop}
    kept = _margins(plant, laws, several, step, (lows, highs), margins)
    given = None if own is None else np.asarray(own, float)
    task = Task(plant, several, fitness or Fitness(), step, options, threads, device)
    seen = survey(task, laws, lows, highs, own=given, margins=kept, relative=fitness is None, adapt=fitness is None)
    task = Task(plant, several, seen.fitness, step, options, threads, device)
    start = seen.best if given is None else np.vstack([np.clip(given, lows, highs), seen.best])
    plan = search_plan.SearchPlan((ga or GeneticAlgorithm(),), seed)
    found = search_plan.search(task, candidates.fixed(laws, lows, highs, start), plan, kept)
    signal = _signal(task, laws, found.theta, (lows, highs), teacher, seed, progress)
    return Optimized(found.theta, found.fitness, signal, found.histories[0][1], lows, highs, seen.fitness)


def _laws(plant: Plant, controller: Any) -> tuple[Any, ...]:
    if not plant.channels:
        raise ValueError(f"plant {plant.name!r} declares no control channel, so there are no gains to search")
    found = as_controller(controller, len(plant.channels))
    if not isinstance(found.schedule, ConstantGains):
        raise TypeError(
            f"optimize searches constant gains of laws such as controllers.PID(), got {type(controller).__name__} with "
            f"the schedule {type(found.schedule).__name__}; a knowledge base is refined by flcs.refinement.refine"
        )
    return found.laws


def _box(
    plant: Plant, laws: tuple[Any, ...], low: ArrayLike | None, high: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Both bounds as arrays [n_gains]; one channel's stand for all."""
    from sscq.search.box import check_bounds

    names = gain_names(laws)
    ends = []
    for word, value in (("low", low), ("high", high)):
        declared = [gain for c in plant.channels for gain in getattr(c, f"gains_{word}")]
        row = np.asarray(declared if value is None else value, float)
        ends.append(np.tile(row, len(plant.channels)) if row.size * len(plant.channels) == len(names) else row)
    lows, highs = check_bounds(ends[0], ends[1], names, "gain")
    return np.array(lows), np.array(highs)


def _margins(
    plant: Plant,
    laws: tuple[Any, ...],
    situations: tuple[Situation, ...],
    step: float,
    box: tuple[np.ndarray, np.ndarray],
    margins: MarginLimits | bool,
) -> OperatingMargins | None:
    from sscq.margins.margins import MarginLimits
    from sscq.margins.operating import OperatingMargins

    if margins is False or (margins is True and not plant.operating_points):
        return None
    limits = MarginLimits(USUAL_SENSITIVITY) if margins is True else margins
    return OperatingMargins(plant, laws, situations, step, box[0].tolist(), box[1].tolist(), limits)


def _signal(
    task: Task,
    laws: tuple[Any, ...],
    gains: np.ndarray,
    box: tuple[np.ndarray, np.ndarray],
    teacher: Teacher | bool,
    seed: int,
    progress: Callable[[int, int, int], None] | None,
) -> TeachingSignal | None:
    from sscq.search.box import Box
    from sscq.teaching.teach import teach
    from sscq.teaching.teacher import Teacher

    if teacher is False:
        return None
    low, high = box
    return teach(
        task.plant, laws, task.situations, task.fitness, Box(tuple(low), tuple(high)), gains,
        Teacher() if teacher is True else teacher,
        seed=seed, step=task.step, options=task.options, threads=task.threads, progress=progress,
    )  # fmt: skip
