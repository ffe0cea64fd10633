"""Trade-off fronts on disk and at the terminal: a table of every front, a summary, a few points in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from experiments.pipeline.front import CHOICE_NAME
from experiments.pipeline.judged_rollouts import MEASURES, RIVAL
from experiments.runtime.tables import change, in_words, number, text_table
from sscq.baselines.objective import measure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.settings import FrontPlan
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

SCHEMA, VERSION = "sscq-front", 1
LARGEST = 12
"""Parameters of a front that are shown as numbers, at most."""

MARKED = ("own", "rule", "fixed", "front_choice", "two_degree", "table", "knowledge_base", "knowledge_base_free")
"""Contenders that are shown beside a front, and laws of the plant's own field: what is the same for all situations."""


class FrontPoint(TypedDict):
    """A point of a front that has a name.

    Attributes
    ----------
    parameters : list of float
        In the order of the front's.
    values : mapping of objective to float
        In the taught situations.
    """

    parameters: list[float]
    values: dict[str, float]


class FrontSummary(TypedDict):
    """Trade-offs of one kind of controller; all its points: ``front_NAME.csv``.

    Attributes
    ----------
    name, title : str
    n_points, evaluations : int
    parameters : list of str
        Of the schedule, or constants of a law of the plant's own field.
    points : mapping of name to FrontPoint
    saved_within_error_budget : mapping of objective to float
        By what share it falls where the first one may rise by `error_budget`.
    """

    name: str
    title: str
    n_points: int
    evaluations: int
    parameters: list[str]
    points: dict[str, FrontPoint]
    saved_within_error_budget: dict[str, float]


class FrontsRecord(TypedDict):
    """Fronts of a design, and where its controllers lie beside them.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    objectives : mapping of objective to str
        The measure that it is.
    aggregate : str
        How situations are put together.
    choice : str
        Where the chosen point lies.
    error_budget : float
        Share by which the error may rise.
    limit : float or None
        Largest second objective of the chosen point; null where the choice does not limit it.
    error_span : float
        Share of the least error beyond which a front has no points.
    population : int or None
        Of the search; null: its usual one.
    fronts : list of FrontSummary
    controllers : mapping of controller to mapping of objective to float
    """

    schema: str
    version: int
    objectives: dict[str, str]
    aggregate: str
    choice: str
    error_budget: float
    limit: float | None
    error_span: float
    population: int | None
    fronts: list[FrontSummary]
    controllers: dict[str, dict[str, float]]


def marked(group: Sequence[Tuned]) -> list[Tuned]:
    """Return the contenders that are shown beside a front."""
    return [c for c in group if c.name in MARKED or c.name.startswith(RIVAL)]


def placed(judgement: Judgement, fitness: Fitness, name: str, objectives: Sequence[str]) -> np.ndarray | None:
    """Return where a contender lies [n_objectives], in the taught situations; None where one of them is lost."""
    quality = judgement.quality[name, "taught"]
    if np.isfinite(quality[MEASURES.index("diverged_at")]).any():
        return None
    rows = [quality[judgement.measures.index(measure_of(word, fitness))][0][:, None] for word in objectives]
    return np.array([float(fitness.combine(row)[0]) for row in rows])


def write(
    bench: Bench, fitness: Fitness, group: Sequence[Tuned], judgement: Judgement, fronts: Sequence[Front]
) -> None:
    """Write ``front_NAME.csv`` of each front and ``front.json``; nothing where there is no front."""
    plan = bench.setup.front
    if plan is None or not fronts:
        return
    for front in fronts:
        names = _names(front, plan)
        header = [*front.names, *(measure_of(word, fitness) for word in front.objectives), "point"]
        rows = [[*front.theta[i], *front.values[i], "; ".join(names.get(i, []))] for i in range(len(front.theta))]
        bench.folder.write_csv(f"front_{front.name}.csv", header, rows)
    record: FrontsRecord = {
        "schema": SCHEMA,
        "version": VERSION,
        "objectives": {word: measure_of(word, fitness) for word in plan.objectives},
        "aggregate": fitness.aggregate,
        "choice": plan.choice,
        "error_budget": plan.error_budget,
        "limit": _limit(fronts),
        "error_span": plan.error_span,
        "population": plan.method.population,
        "fronts": [_summary(front, plan) for front in fronts],
        "controllers": {
            c.name: dict(zip(plan.objectives, place.tolist(), strict=True))
            for c in marked(group)
            if (place := placed(judgement, fitness, c.name, plan.objectives)) is not None
        },
    }
    bench.folder.write_json("front.json", record)


def _limit(fronts: Sequence[Front]) -> float | None:
    """Largest second objective of the chosen point, where the choice limits it."""
    limits = [front.chosen.limit for front in fronts if front.chosen is not None]
    return next((limit for limit in limits if math.isfinite(limit)), None)


def _names(front: Front, plan: FrontPlan) -> dict[int, list[str]]:
    """Names of the points that have any, by position."""
    found: dict[int, list[str]] = {}
    for name, position in front.points(plan).items():
        found.setdefault(position, []).append(name)
    if front.chosen is not None:
        found.setdefault(front.chosen.position, []).append("chosen")
    return found


def _summary(front: Front, plan: FrontPlan) -> FrontSummary:
    points: dict[str, FrontPoint] = {
        name: {
            "parameters": front.theta[i].tolist(),
            "values": dict(zip(front.objectives, front.values[i].tolist(), strict=True)),
        }
        for name, i in front.points(plan).items()
    }
    return {
        "name": front.name,
        "title": front.title,
        "n_points": len(front.theta),
        "evaluations": front.evaluations,
        "parameters": list(front.names),
        "points": points,
        "saved_within_error_budget": {word: front.saved(word, plan.error_budget) for word in front.objectives[1:]},
    }


def texts(
    bench: Bench, fitness: Fitness, group: Sequence[Tuned], judgement: Judgement, fronts: Sequence[Front]
) -> list[str]:
    """Return a table of a few points of each front, with what each objective can fall to within the error budget."""
    plan = bench.setup.front
    if plan is None:
        return []
    return [_text(front, plan, fitness, group, judgement) for front in fronts]


def _text(front: Front, plan: FrontPlan, fitness: Fitness, group: Sequence[Tuned], judgement: Judgement) -> str:
    gains = front.names if len(front.names) <= LARGEST else ()
    least = front.values[0]
    rows = []
    for position, names in sorted(_names(front, plan).items()):
        cells = [number(v) for v in front.theta[position]] if gains else []
        rows.append([", ".join(names), *cells, *_cells(front.values[position], least)])
    for contender in [] if front.name.startswith(RIVAL) else marked(group):
        place = placed(judgement, fitness, contender.name, front.objectives)
        if place is not None and contender.name != CHOICE_NAME:
            same = tuple(contender.controller.theta_names) == tuple(gains) and contender.plant is None
            own = [number(v) for v in contender.theta] if same else ["-"] * len(gains)
            rows.append([contender.title, *own, *_cells(place, least)])
    measures = [cell for word in front.objectives for cell in (in_words(word), "change")]
    head = [f"front of the {front.title}, {len(front.theta)} points", *gains, *measures]
    return f"{text_table(head, rows)}\n{sentence(front, plan)}"


def _cells(values: np.ndarray, least: np.ndarray) -> list[str]:
    return [
        text
        for value, base in zip(values, least, strict=True)
        for text in (number(value), change(value, base, "").rstrip())
    ]


def sentence(front: Front, plan: FrontPlan) -> str:
    """Return by how much each objective, taken for itself, can fall within the error budget."""
    first, *others = front.objectives
    saved = ", ".join(f"{in_words(word)} by {100.0 * front.saved(word, plan.error_budget):.1f} %" for word in others)
    within = f"Within {1.0 + plan.error_budget:g} times the least {in_words(first)} of the {front.title}"
    return f"{within}, one at a time can fall: {saved}."
