"""Fronts of a run as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments import front_files
from experiments.front import NAME
from experiments.report import FrontSeries, FrontView
from experiments.report.numbers import count, plain, share
from experiments.reporting.case import BASELINE
from experiments.reporting.words import symbol
from sscq.front_objective import measure_of

if TYPE_CHECKING:
    from experiments.front import Front
    from experiments.reporting.case import Case
    from experiments.setup import FrontPlan

_SERVED = {"fixed": BASELINE, "knowledge_base": "knowledge_base"}  # whose colour they have
_OVER = {
    "mean": "Means over the taught situations",
    "mean_plus_std": "Means of the taught situations and {kappa} standard deviations",
    "worst_share": "Means of the worst {share} of the taught situations, by each measure",
    "worst": "The worst of the taught situations, by each measure",
}
_LARGEST = 12  # parameters that are shown as numbers


def view(case: Case) -> FrontView | None:
    """Return what the page shows of the fronts; None where none was searched."""
    plan = case.setup.front
    if plan is None or not case.fronts:
        return None
    labels = tuple(symbol(measure_of(word, case.fitness)) for word in plan.objectives)
    marks = [
        (c.name, place)
        for c in case.group
        if c.name in front_files.MARKED
        and c.name != NAME  # whose place on the front is named
        and (place := front_files.placed(case.judgement, case.fitness, c.name, plan.objectives)) is not None
    ]
    return FrontView(
        labels, tuple(_series(case, plan, front) for front in case.fronts), tuple(marks), _text(case, plan, labels)
    )


def _series(case: Case, plan: FrontPlan, front: Front) -> FrontSeries:
    points = list(front.points(plan).items())
    if front.name == "fixed":
        points.append(("chosen", front.chosen(plan)))
    served = _SERVED[front.name] if _SERVED[front.name] in case.contenders else ""
    few = len(front.names) <= _LARGEST
    text = (
        f"{count(float(front.evaluations))} evaluations, {len(front.theta)} points. {front_files.sentence(front, plan)}"
    )
    return FrontSeries(
        f"front of the {front.title}",
        served,
        front.values,
        tuple(points),
        front.names if few else (),
        front.theta,
        text,
    )


def _text(case: Case, plan: FrontPlan, labels: tuple[str, ...]) -> str:
    chosen = (
        "its knee, the point farthest below the plane through the scaled ends"
        if plan.choice == "knee"
        else f"the least entropy production at no more than {plain(1.0 + plan.error_budget)} times the least error"
    )
    over = _OVER[case.fitness.aggregate].format(kappa=plain(case.fitness.kappa), share=share(case.fitness.share))
    margins = ", and the margins" if case.bench.margins is not None else ""
    return (
        f"No point of a front is better in all of {', '.join(labels)} than another of its kind: less of one is paid "
        f"for in another. {over}; constraints: errors up to {plain(plan.error_span)} times the fixed PID's"
        f"{margins}. Judged beside the ladder is, of the fixed gains, {chosen}."
    )
