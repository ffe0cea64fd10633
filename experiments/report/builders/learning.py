"""The teaching signal and the trade-off fronts of a run, as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline import front_files
from experiments.pipeline.front import CHOICE_NAME, Front
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.report.builders.case import BASELINE, FinishedDesign
from experiments.report.builders.words import symbol
from experiments.report.drawing.numbers import count, plain, share
from experiments.report.recorded import MOST
from experiments.report.records.learning import FrontSeries, FrontView, TeachingView
from experiments.report.records.results import NotAvailable
from sscq.baselines.objective import measure_of

if TYPE_CHECKING:
    from experiments.settings import FrontPlan


def teaching(case: FinishedDesign) -> TeachingView | NotAvailable:
    """Return what the teaching signal's own file does not say about it."""
    signal, teacher = case.signal, case.setup.teacher
    if not len(signal):
        return NotAvailable("no window was taught")
    taught = [p.label for p in case.places if p.kind == "taught"]
    rounds = len(signal.situation_names) // len(taught)  # of teaching, the later ones along the knowledge base's runs
    labels = taught + [f"{label}, round {r}" for r in range(2, rounds + 1) for label in taught]
    left_out = max(len(np.unique(signal.situation)) - MOST, 0)
    share = float(np.average(signal.weight > 0.5))
    text = (
        f"Windows of {teacher.window:g} s; "
        + (f"gains judged {teacher.horizon:g} s ahead, " if teacher.encoding == "receding"
           else "gains of all windows searched at once and judged over the whole situation, ")
        + ("with the noise that really came (clairvoyant)" if signal.clairvoyant
           else f"over {teacher.continuations} continuations of the noise that might come")
        + ("" if rounds == 1 else f". {rounds} rounds, after the first one along the runs of the knowledge base before")
        + f". {len(signal)} windows, {100.0 * share:.0f} % of them with a weight above 0.5"
        + (f"; {left_out} more situations are in teaching_signal.csv" if left_out else "") + "."
    )  # fmt: skip
    learner = "imitation" if "imitation" in case.contenders else ""
    fixed = case.contenders[BASELINE].theta
    return TeachingView(tuple(labels), teacher.window, fixed, learner, BASELINE, text, rounds if learner else 0)


_SERVED = {"fixed": BASELINE, "knowledge_base": "knowledge_base"}  # whose colour they have
_OVER = {
    "mean": "Means over the taught situations",
    "mean_plus_std": "Means of the taught situations and {kappa} standard deviations",
    "worst_share": "Means of the worst {share} of the taught situations, by each measure",
    "worst": "The worst of the taught situations, by each measure",
}


def fronts(case: FinishedDesign) -> FrontView | None:
    """Return what the page shows of the fronts; None where none was searched."""
    plan = case.setup.front
    if plan is None or not case.fronts:
        return None
    measures = [measure_of(word, case.fitness) for word in plan.objectives]
    labels, units = tuple(map(symbol, measures)), {m.name: m.unit for m in case.plant.measures if m.unit != "1"}
    marks = [
        (c.name, place)
        for c in front_files.marked(case.group)
        if c.name != CHOICE_NAME  # whose place on the front is named
        and (place := front_files.placed(case.judgement, case.fitness, c.name, plan.objectives)) is not None
    ]
    return FrontView(
        labels, tuple(_series(case, plan, front) for front in case.fronts), tuple(marks), _text(case, plan, labels),
        tuple(units.get(name, "") for name in measures), whole={*measures[:2]} <= {m.name for m in case.plant.measures},
    )  # fmt: skip


def _series(case: FinishedDesign, plan: FrontPlan, front: Front) -> FrontSeries:
    points = list(front.points(plan).items())
    if front.chosen is not None:
        points.append(("chosen", front.chosen.position))
    served = _SERVED.get(front.name, front.name)
    few = len(front.names) <= front_files.LARGEST
    spent = f"{count(float(front.evaluations))} evaluations, {len(front.theta)} points."
    return FrontSeries(
        f"front of the {front.title}", served if served in case.contenders else "", front.values, tuple(points),
        front.names if few else (), front.theta, f"{spent} {front_files.sentence(front, plan)}",
        own_points=front.name.startswith(RIVAL),
    )  # fmt: skip


def _text(case: FinishedDesign, plan: FrontPlan, labels: tuple[str, ...]) -> str:
    chosen = _chosen(case, plan, labels)
    over = _OVER[case.fitness.aggregate].format(kappa=plain(case.fitness.kappa), share=share(case.fitness.share))
    first = "errors" if plan.objectives[0] == "error" else labels[0]
    limits = "".join(f", {symbol(name)} up to {plain(limit)}" for name, limit in case.fitness.own_limits.items())
    margins = ", and the margins" if case.bench.margins is not None else ""
    return (
        f"No point of a front is better in all of {', '.join(labels)} than another of its kind: less of one is paid "
        f"for in another. {over}; constraints: {first} up to {plain(plan.error_span)} times the fixed PID's"
        f"{limits}{margins}.{chosen}"
    )


def _chosen(case: FinishedDesign, plan: FrontPlan, labels: tuple[str, ...]) -> str:
    """The point that is judged, where there is one."""
    choice = next((front.chosen for front in case.fronts if front.chosen is not None), None)
    if choice is None:
        return ""
    words = choice.words(plan, *labels[:2])
    if plan.choice == "knee":
        words += ", the point farthest below the plane through the scaled ends"
    return f" Judged beside the ladder is, of the fixed gains, {words}."
