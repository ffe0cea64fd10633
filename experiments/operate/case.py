"""From the settings of `sscq operate` to a contest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from configs.parts import built
from experiments.cases.kb_case import fitness_of, loaded
from experiments.runtime.errors import UserError
from flcs.refinement.renewal import KnowledgeRenewal
from plants.core.motion.simulate import count_steps
from plants.identification.grey_box import GreyBox
from sscq.loop.spec import LoopSpec
from sscq.margins.margins import MarginLimits
from sscq.operation.contest import Contest
from sscq.operation.course import FORM, read_course
from sscq.operation.estimate import DeclaredMeasurement, IdentifiedEnsemble
from sscq.operation.programme import Programme, check_taught
from sscq.operation.renewal import OperatingTask, travel_on
from sscq.operation.running import part_ends
from sscq.operation.supervisor import SupervisorSettings
from sscq.situations.situation_sets import standard_sets

if TYPE_CHECKING:
    from configs.schema import OperateConfig
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.operation.course import DriftCourse
    from sscq.operation.estimate import Estimator

_ROWS = 500  # of a window's log, where their distance is not given
_SEEDS_APART = 1_000_003


@dataclass(frozen=True)
class OperateCase:
    """What is run.

    Attributes
    ----------
    kb : KnowledgeBase
    plant : Plant
    course : DriftCourse
    contests : tuple of Contest
        One for each seed.
    """

    kb: KnowledgeBase
    plant: Plant
    course: DriftCourse
    contests: tuple[Contest, ...]


def prepared(config: OperateConfig) -> OperateCase:
    """Return what a configuration describes.

    Raises
    ------
    ValueError
        If the knowledge base, the drift or the windows do not fit the plant.
    UserError
        If the network is to be trained and torch is not installed.
    """
    if config.relearn and find_spec("torch") is None:
        raise UserError(
            "relearn=true trains the network with torch, which is not installed: pip install 'sscq[torch]', or "
            "relearn=false: the refinement alone"
        )
    kb, plant = loaded(config)
    if config.drift is None:
        raise UserError(f"say what drifts: drift={FORM}")
    course = read_course(config.drift)
    course.check(plant)
    for name in config.wrong:
        if name not in course.names:
            raise UserError(f"wrong.{name}: instruments tell what drifts, {', '.join(course.names)}")
    renewal = KnowledgeRenewal(kb, relearned=config.relearn)
    taught = standard_sets(plant)["taught"]
    check_taught(taught, plant)
    first = Programme(plant, taught, config.windows, config.moves or len(taught), config.integration_step)
    part_ends(LoopSpec(plant, renewal.controller, first.situations, first.step), first, config.parts)  # or says why not
    task = _task(config, kb, first, renewal)
    nominal = dict(zip((q.name for q in plant.parameters), plant.nominal(), strict=True))
    design = nominal | {name: value for name, value in kb.plant_parameters.items() if name in nominal}
    drifting = {name: design[name] for name in course.names}
    budget = config.travel * travel_on(task, renewal.controller, renewal.start, [drifting])
    if not budget > 0.0:
        raise UserError("the knowledge base loses the plant of its design in all taught situations; design another one")
    task = replace(task, travel=budget)
    _check_rest(task, course)
    reference = np.concatenate([base.reference for base in kb.channels])
    contests = []
    for number in range(config.seeds):
        seed = config.seed + _SEEDS_APART * number
        programme = replace(first, seed=seed)
        contests.append(
            Contest(
                task,
                programme,
                course,
                _estimator(config, plant, course, programme),
                renewal,
                reference,
                built(SupervisorSettings, config.supervisor),
                design,
                config.parts,
                seed,
            )
        )
    return OperateCase(kb, plant, course, tuple(contests))


def _task(config: OperateConfig, kb: KnowledgeBase, programme: Programme, renewal: KnowledgeRenewal) -> OperatingTask:
    low, high = (np.concatenate([getattr(base, side) for base in kb.channels]) for side in ("low", "high"))
    return OperatingTask(
        plant=programme.plant,
        taught=(*programme.taught, programme.period),
        fitness=replace(fitness_of(kb), entropy_weight=config.entropy_weight, travel_limit=None, error_limit=None),
        step=config.integration_step,
        laws=renewal.controller.laws,
        low=low,
        high=high,
        limits=_limits(config.max_sensitivity),
        travel=np.inf,
        evaluations=config.evaluations,
        options={"integrator": config.integrator, "algebraic_loop": config.algebraic_loop},
        threads=config.threads,
    )


def _limits(sensitivity: float | None) -> MarginLimits | None:
    if sensitivity is None:
        return None
    return MarginLimits(sensitivity, transient=max(MarginLimits.transient, sensitivity))


def _check_rest(task: OperatingTask, course: DriftCourse) -> None:
    """Raise where margins are asked of a plant that cannot rest at its operating points on the way of its drift."""
    times = sorted({time for several in course.knots.values() for time, _ in several})
    try:
        task.margins([course.at(time) for time in times])
    except ValueError as error:
        raise UserError(
            f"drift: {error}. Margins are asked about points of rest; let another parameter drift, or ask for none: "
            "max_sensitivity=null"
        ) from None


def _estimator(config: OperateConfig, plant: Plant, course: DriftCourse, programme: Programme) -> Estimator:
    if config.estimate == "measured":
        limits = {q.name: (q.low, q.high) for q in plant.parameters}
        return DeclaredMeasurement(course, config.deviation, limits, wrong=dict(config.wrong))
    fitted = tuple(config.fitted) or course.names
    steps = max(1, programme.window_steps // _ROWS) if config.row is None else count_steps(config.row, programme.step)
    GreyBox(plant, fitted, step=steps * programme.step, loaded=config.loaded)  # says what does not fit, before the run
    return IdentifiedEnsemble(plant, fitted, programme.step, steps, config.loaded, threads=config.threads)
