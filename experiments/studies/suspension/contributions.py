"""What each part of the car's control brings: fixed gains of plants that have more and more of it, equally searched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from experiments.cases.kb_case import fitness_of
from experiments.runtime import formats
from experiments.runtime.tables import markdown_table
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from experiments.studies.engine.series import cached, of_design
from experiments.studies.suspension.families import GROUPS, RIDE, TYRE, group_of
from flcs import KnowledgeBase
from plants.suspension import suspension
from plants.suspension.model import BASE, BASE_TOGETHER
from plants.suspension.signals import coordinated
from sscq.baselines import candidates, search_plan
from sscq.baselines.objective import Task
from sscq.baselines.search_plan import SearchPlan
from sscq.search.cmaes import CmaEs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.settings import Setup
    from plants import Plant
    from sscq.fitness import Fitness

EVALUATIONS = 2000
"""Of each variant."""
_BODY = 9  # gains of the body's three loops
_START = (0.0, 0.0, 5e3)


def variants() -> dict[str, tuple[Plant, bool]]:
    """Return the plants, each with whether the struts' loops have gains."""
    whole = suspension(unilateral=True, base=BASE_TOGETHER, together=True)
    return {
        "settings as the source allocates them": (suspension(unilateral=True), False),
        "settings beside a base": (suspension(unilateral=True, base=BASE), False),
        "the same, chosen together": (whole, False),
        "settings beside a base, loops over the struts": (
            replace(whole, allocate=coordinated(BASE_TOGETHER, (0.0, 0.0, 0.0))), True,
        ),
        "chosen together, loops over the struts": (whole, True),
    }  # fmt: skip


def parts(run: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Return weighted acceleration and tyre-load variation by variant and group; computed once, then kept beside it.

    Parameters
    ----------
    run : Path
        A finished design, whose fitness, bounds of the gains and seed are taken.
    """

    def compute() -> dict[str, Any]:
        job = setup(stored_settings("design", formats.read_json(run / "config.json")["config"]))
        fitness = fitness_of(KnowledgeBase.load(run / "knowledge_base.json"))
        return {name: _outcome(job, fitness, *one) for name, one in variants().items()}

    stored = cached(run.parent / "parts.json", [of_design(run), EVALUATIONS, list(variants())], compute)
    return {name: stored[name] for name in variants()}


def _outcome(job: Setup, fitness: Fitness, plant: Plant, struts: bool) -> dict[str, dict[str, float]]:
    n = 3 * len(plant.channels)
    low, high = job.low[:n].copy(), job.high[:n].copy()
    if not struts:
        low[_BODY:] = high[_BODY:] = 0.0
    start = np.clip(np.resize(_START, n), low, high)
    start[_BODY:] = np.clip(0.0, low, high)[_BODY:]
    candidate = candidates.fixed(job.laws[: len(plant.channels)], low, high, start)
    task = Task(plant, sscq.standard_sets(plant)["taught"], fitness, job.step, job.options, job.threads)
    plan = SearchPlan((CmaEs(evaluations=EVALUATIONS),), job.seed)
    theta = search_plan.search(task, candidate, plan, None).theta
    return _by_group(task, candidate.controller, theta)


def _by_group(task: Task, controller: Any, theta: np.ndarray) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for kind in ("taught", "unforeseen"):
        situations = sscq.standard_sets(task.plant)[kind]
        values = task.on(situations).quality(controller, theta[None]).values
        groups = np.array([group_of(kind, one.name) for one in situations])
        for group in dict.fromkeys(groups.tolist()):
            found[group] = {name: float(values[name][groups == group].mean()) for name in (RIDE, TYRE)}
    return found


def table(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """Return the variants as Markdown lines."""
    head = [f"{group}: {word}" for group in GROUPS for word in ("acceleration, m/s^2", "tyre-load variation")]
    rows = [
        [name, *(f"{one[group][measure]:.4f}" for group in GROUPS for measure in (RIDE, TYRE))]
        for name, one in found.items()
    ]
    return markdown_table(["fixed gains of", *head], rows)
