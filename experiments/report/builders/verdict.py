"""The verdict in the page's terms: conditions of every candidate, comparisons with intervals, reasons in sentences."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.judging import keeps_margins
from experiments.report.builders import estimates, words
from experiments.report.builders.case import BASELINE, COMPARED, EQUAL_TRAVEL, FinishedDesign
from experiments.report.builders.results import margins_of, plants_asked
from experiments.report.builders.trade_offs import trade_offs
from experiments.report.drawing.numbers import bracketed, number, percent
from experiments.report.records.results import Estimate, Group, NotAvailable
from experiments.report.records.verdict import (
    COMPARED_ONLY,
    LOSS,
    CostliestDraw,
    Criterion,
    JudgedText,
    LossCount,
    MeasureChange,
    VerdictComparison,
    VerdictText,
)
from sscq.verdict.comparison import TRAVEL_SLACK, change_where_alive, holds, loses_fewer, worse_tracking
from sscq.verdict.verdict import NEAR

if TYPE_CHECKING:
    from sscq.verdict.bootstrap import Change
    from sscq.verdict.comparison import Comparison

_STATISTICS = (
    ("mean", "mean of J improves", "mean"),
    ("median", "median of J improves", "median"),
    ("tail", "worst 5 % of J improve", "worst 5 %"),
)

_SAME = 1e-9  # of the cost: differences of rounding
_NOTHING_ELSE = "nothing else speaks against it"


def verdict(case: FinishedDesign) -> VerdictText:
    """Return what the reader should do, and why."""
    limits = case.setup.limits if case.bench.margins is not None else None
    recommended = case.verdict.recommended
    judged = "knowledge_base" if "knowledge_base" in case.contenders else case.ladder[-1]
    shown = judged if recommended == BASELINE else recommended
    same = case.verdict.comparisons[shown].same_damping if shown in case.verdict.comparisons else None
    return VerdictText(
        recommended=recommended,
        compared_with=BASELINE,
        judged=judged,
        present="own" if "own" in case.contenders else "",
        reason=_reason(case),
        comparisons=tuple(_comparisons(case)),
        criteria=_criteria(case, shown),
        judgements=tuple(_judged(case, name) for name in case.contenders if name != BASELINE),
        sensitivity_peak_limit=nan if limits is None else limits.sensitivity,
        passing_peak_limit=nan if limits is None else limits.in_passing.sensitivity,
        delay_margin_needed=nan if limits is None or not limits.delay_margin else limits.delay_margin,
        measures=tuple(_measure_changes(case, shown)),
        group=case.judged,
        costliest=_costliest(case, BASELINE if recommended != BASELINE else judged),
        split=_split(case, shown),
        same_damping=None if same is None else estimates.of_change(same),
        trade_offs=trade_offs(case),
    )


# ---------------------------------------------------------------------------------------------------------- conditions


def _judged(case: FinishedDesign, name: str) -> JudgedText:
    found = case.verdict.comparisons[name]
    elsewhere = case.kind_for(name) != case.judged
    costs, own = (case.costs(one, case.kind_for(name)) for one in (BASELINE, name))
    same, random = np.allclose(own, costs, rtol=_SAME, atol=0.0, equal_nan=True), estimates.random(costs)
    if name == case.verdict.recommended:
        outcome = "recommended"
    elif name not in case.ladder:
        outcome = COMPARED_ONLY + _where(elsewhere=elsewhere, random=random)
    elif found.passes:
        outcome = f"holds all, but is {_why_not_it(case, name)}"
    else:
        outcome = f"does not replace {case.the(BASELINE)}"
    # Equal runs are no sample, noise in a few named situations is none of situations, and rounding is no difference.
    chance = random and not elsewhere and not same
    wins, p_value = nan if same else found.wins, found.p_value if chance else nan
    return JudgedText(name, _criteria(case, name), wins, p_value, outcome)


def _where(*, elsewhere: bool, random: bool) -> str:
    if not elsewhere:
        return ""
    return ", in named situations" + ("; intervals: their noise alone" if random else "")


def _criteria(case: FinishedDesign, name: str) -> tuple[Criterion, ...]:
    found = case.verdict.comparisons[name]
    criteria = [_fitness_criterion(found, *one) for one in _STATISTICS]
    rollouts, (own, theirs) = case.costs(name, case.kind_for(name)).size, found.failures
    lost = f"; lost {own}, of the fixed gains {theirs}" if own or theirs else ""
    travel = found.travel.value
    criteria += [
        Criterion(
            f"no more actuator travel (up to {percent(TRAVEL_SLACK)})",
            bool(travel <= TRAVEL_SLACK),
            percent(travel),
            f"it needs {percent(travel)} actuator travel",
        ),
        Criterion(
            "no new failure",
            found.new_failures == 0,
            f"{found.new_failures} of {rollouts} runs{lost}",
            f"it fails in {found.new_failures} of {rollouts} runs that the fixed gains survive",
        ),
        *_tracking_criterion(case, found),
        *_damping_criterion(found),
        _chance_criterion(case, name),
        _margin_criterion(case, name),
        *(Criterion(_NOTHING_ELSE, False, text, text) for text in found.further),
    ]
    return tuple(criteria)


def _fitness_criterion(found: Comparison, key: str, text: str, unmet: str) -> Criterion:
    """A statistic of J, which need only get no worse where fewer loops are lost."""
    change: Change = getattr(found, key)
    told = bracketed(estimates.of_change(change)) + ("; fewer loops are lost" if found.fewer else "")
    return Criterion(text, holds(key, change, fewer=found.fewer), told, unmet)


def _tracking_criterion(case: FinishedDesign, found: Comparison) -> list[Criterion]:
    """The tracking error, where the fitness weighs one."""
    if found.error is None:
        return []
    name, told = case.setup.fitness.error.upper(), bracketed(estimates.of_change(found.error))
    unmet = f"it {worse_tracking(found.error)}: {name} {told}"
    return [Criterion(f"mean {name} is no worse", found.error.value <= 0.0, told, unmet)]


def _damping_criterion(found: Comparison) -> list[Criterion]:
    """What is left of the change of J without what the controller gains by less damping of its own."""
    if found.same_damping is None:
        return []
    told = bracketed(estimates.of_change(found.same_damping))
    return [
        Criterion(
            "J improves with the fixed gains' damping, too",
            holds("mean", found.same_damping, fewer=found.fewer),
            told,
            f"with the fixed gains' damping in place of its own J does not improve reliably ({told})",
        )
    ]


def _chance_criterion(case: FinishedDesign, name: str) -> Criterion:
    """Whether the seeds are a sample at all."""
    kind = case.kind_for(name)
    pair = [case.costs(key, kind) for key in (name, BASELINE)]
    seeds = len(pair[0])
    differs = any(estimates.random(values) for values in pair)
    samples = "fresh situations" if kind == "drawn" else "seeds"
    told = "one seed" if seeds == 1 else f"{seeds} {samples}" + ("" if differs else ", all the same")
    unmet = f"chance cannot be told from effect ({told})"
    return Criterion("chance can be told from effect", seeds > 1 and differs, told, unmet)


def _margin_criterion(case: FinishedDesign, name: str) -> Criterion:
    limits, kept = case.setup.limits, keeps_margins(case.bench, case.contenders[name])
    whose = (
        f" for {plants_asked(case)}" if case.bench.margins else ""
    )  # over all declared ones: a share of draws, told apart
    text = f"margins are kept{whose}"
    if limits is None or kept is None:
        margins = margins_of(case, case.contenders[name])
        return Criterion(text, None, margins.reason if isinstance(margins, NotAvailable) else "")
    told = _peak_told(max(m.worst().sensitivity.value for m in case.judgement.margins[name]), limits.sensitivity)
    if passing := [m.sensitivity.value for m in case.judgement.passing.get(name, ())]:
        told += f"; in passing {_peak_told(max(passing), limits.in_passing.sensitivity)}"
    return Criterion(text, kept, told, f"it does not keep the margins at the operating points ({told})")


def _peak_told(peak: float, limit: float) -> str:
    return f"Ms\u00a0{number(peak, 3)}, at\u00a0most\u00a0{number(limit, 3)}"


# ------------------------------------------------------------------------------------------------------------- reasons


def _reason(case: FinishedDesign) -> str:
    recommended, near = case.verdict.recommended, f"{100.0 * NEAR:g} %"
    above = case.ladder[case.ladder.index(BASELINE) + 1 :]
    others = [name for name in above if name != recommended]
    if recommended == BASELINE:
        start = (
            f"Nothing more complicated holds all conditions and is better by more than {near} in the draws that choose."
        )
    else:
        start = f"Simplest of those that hold all conditions and are within {near} of the best."
    return " ".join([start, *(_of_other(case, name) for name in others)])


def _of_other(case: FinishedDesign, name: str) -> str:
    title, found = case.the(name), case.verdict.comparisons[name]
    start = f"{title[0].upper()}{title[1:]} ({percent(found.mean.value)})"
    if found.passes:
        return f"{start} holds all conditions, but is {_why_not_it(case, name)}."
    return f"{start} fails: {'; '.join(_unmet(_criteria(case, name)))}."


def _unmet(criteria: tuple[Criterion, ...]) -> list[str]:
    """What a controller does not meet: "the median and the worst 5 % of J do not improve reliably"."""
    failed, names = [c for c in criteria if c.passed is False], [text for _, text, _ in _STATISTICS]
    still, rest = [c.unmet for c in failed if c.text in names], [c.unmet for c in failed if c.text not in names]
    if not still:
        return rest
    verb = "does" if still in (["mean"], ["median"]) else "do"
    return [f"{' and '.join(f'the {one}' for one in still)} of J {verb} not improve reliably", *rest]


def _why_not_it(case: FinishedDesign, name: str) -> str:
    """Why a controller that holds all conditions is not the recommended one."""
    recommended = case.verdict.recommended
    best, other = (case.judgement.chosen_on[key] for key in (recommended, name))
    lost = best.failed, other.failed
    change = change_where_alive(other.fitness, best.fitness, lost[0] | lost[1], case.setup.seed)
    if lost[1].sum() > lost[0].sum() and loses_fewer(*lost):
        return f"left out: it loses more loops ({lost[1].sum()} of {lost[1].size}, not {lost[0].sum()})"
    if case.ladder.index(name) < case.ladder.index(recommended):
        return f"more than {100.0 * NEAR:g} % worse than the best in the draws that choose"
    if change.value < 0.0:
        there = percent(change.value)
        return f"better than the simpler one by no more than {100.0 * NEAR:g} % in the draws that choose ({there})"
    return "not better than the simpler one"


# --------------------------------------------------------------------------------------------------------- comparisons


def _comparisons(case: FinishedDesign) -> list[VerdictComparison]:
    """Every contender against the fixed gains; the recommended one against every other but the open loop."""
    found = [_from_verdict(case, name) for name in case.verdict.comparisons]
    found += [_compared(case, name, BASELINE, "validation") for name in case.verdict.comparisons]
    recommended = case.verdict.recommended
    if recommended != BASELINE:
        others = [n for n in case.contenders if n not in {recommended, BASELINE, "open_loop"}]
        found += [_compared(case, recommended, name, case.kind_for(name)) for name in others]
    return found


def _measure_changes(case: FinishedDesign, name: str) -> list[MeasureChange]:
    """What the one number J hides, against the fixed gains and the user's own."""
    against = [key for key in (BASELINE, "own") if key in case.contenders and key != name]
    return [_measure_change(case, name, key, measure) for key in against for measure in _told(case)]


def _split(case: FinishedDesign, name: str) -> tuple[tuple[str, float], ...]:
    """What each term adds to the change of J against the fixed gains; none where lost loops or levels are in it."""
    kind, fitness = case.kind_for(name), case.fitness
    if fitness.lexicographic or len(fitness.terms) < 2 or any(case.failed(key, kind).any() for key in (name, BASELINE)):
        return ()
    base = case.judgement.mean(BASELINE, kind)
    return tuple(
        (term, weight / fitness.reference.get(term, 1.0) * _difference(case, name, kind, term) / abs(base))
        for term, weight in fitness.terms.items()
        if base
    )


def _difference(case: FinishedDesign, name: str, kind: Group, measure: str) -> float:
    return case.judgement.mean(name, kind, measure) - case.judgement.mean(BASELINE, kind, measure)


def _costliest(case: FinishedDesign, against: str) -> CostliestDraw | None:
    """The costliest of the drawn situations for the recommended controller, and where it loses against another."""
    name = case.verdict.recommended
    if case.judged != "drawn" or against == name:
        return None
    costs = [case.judgement.fitness[key, "drawn"][0] for key in (name, against)]
    lost = [case.failed(key, "drawn")[0] for key in (name, against)]
    place = int(np.argmax(np.where(lost[0], np.inf, costs[0])))
    there = [float("inf") if gone[place] else float(cost[place]) for cost, gone in zip(costs, lost, strict=True)]
    found = tuple(_losses(case, against, measure) for measure in _told(case))
    return CostliestDraw(against, _drawn_words(case, place), there[0], there[1], found)


def _drawn_words(case: FinishedDesign, place: int) -> str:
    return words.situation(case.plant, case.setup.sets["drawn"][place])


def _losses(case: FinishedDesign, against: str, measure: str) -> LossCount:
    """In how many of the drawn situations that both survive the recommended controller is worse."""
    keys = (case.verdict.recommended, against)
    one, base = (
        case.judgement.fitness[key, "drawn"][0] if measure == "cost" else case.measure(key, "drawn", measure)[0]
        for key in keys
    )
    alive = ~np.logical_or(*(case.failed(key, "drawn")[0] for key in keys)) & (base != 0.0)
    more = np.where(alive, (one - base) / np.where(alive, np.abs(base), 1.0), -np.inf)
    if {own.name: own.less_is_better for own in case.plant.measures}.get(measure, True) is False:
        more = np.where(alive, -more, -np.inf)
    lost = int((more > LOSS).sum())
    place = int(np.argmax(more))
    worst = (float(more[place]), _drawn_words(case, place)) if lost else (nan, "")
    return LossCount(measure, lost, int(alive.sum()), *worst)


def _told(case: FinishedDesign) -> tuple[str, ...]:
    return ("cost", *COMPARED, *(one.name for one in case.plant.measures))


def _measure_change(case: FinishedDesign, name: str, against: str, measure: str) -> MeasureChange:
    """The change of a measure's mean; its interval covers other searches, too, where the design had several."""
    kind = case.kind_for(name)
    one, base = (case.judgement.quality[key, kind] for key in (name, against))

    def values(table: Any) -> Any:
        found = case.costs_of(table, kind) if measure == "cost" else case.measure_of(table, measure)
        return case.sampled(found, kind)

    def lost(table: Any) -> Any:
        gone = [np.isfinite(case.measure_of(each, "diverged_at")) for each in (table, base)]
        return case.sampled(gone[0] | gone[1], kind)

    others = [(values(table), lost(table)) for table in case.others(name, kind)]
    found = change_where_alive(values(one), values(base), lost(one), case.setup.seed, others)
    known = not lost(one).all() and (measure == "cost" or bool(values(base)[~lost(one)].any()))
    return MeasureChange(name, against, measure, estimates.of_change(found) if known else Estimate(nan))


def _from_verdict(case: FinishedDesign, name: str) -> VerdictComparison:
    change = estimates.of_change(case.verdict.comparisons[name].headline)
    ratio = 1.0 + case.verdict.comparisons[name].travel.value
    return VerdictComparison(name, BASELINE, change, _same_travel(name, BASELINE, ratio), case.kind_for(name), ratio)


def _compared(case: FinishedDesign, name: str, against: str, kind: Group) -> VerdictComparison:
    change = estimates.of_change(_where_both_survive(case, name, against, kind))
    both = ~(case.failed(name, kind) | case.failed(against, kind))  # a rollout cut short has travelled less
    travel = [
        float(case.measure(key, kind, "total_variation")[both].mean()) if both.any() else nan for key in (name, against)
    ]
    ratio = travel[0] / travel[1] if travel[1] > 0.0 else nan
    return VerdictComparison(name, against, change, _same_travel(name, against, ratio), kind, ratio)


def _where_both_survive(case: FinishedDesign, name: str, against: str, kind: Group | None = None) -> Change:
    """The change of the mean of J over the rollouts that both survive."""
    kind = kind or case.kind_for(name)
    values, base = (case.costs(key, kind) for key in (name, against))
    lost = case.sampled(case.failed(name, kind) | case.failed(against, kind), kind)
    return change_where_alive(values, base, lost, case.setup.seed)


def _same_travel(name: str, against: str, ratio: float) -> bool:
    """Whether both were searched with the same limit of travel in the taught situations, and it holds here too."""
    return {name, against} <= EQUAL_TRAVEL and ratio <= 1.0 + TRAVEL_SLACK
