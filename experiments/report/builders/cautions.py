"""What the reader must know before trusting the page: gravest first, each with a remedy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.judging import keeps_margins
from experiments.report.builders import estimates, words
from experiments.report.builders.case import BASELINE, FinishedDesign, PlacedSituation
from experiments.report.drawing.numbers import number, percent, plain, share
from experiments.report.records.report_data import ReportWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.report.records.learning import SearchHistory
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

_FEW_SEEDS = 10
_LATE = 0.2  # last share of a search in which progress says that it was stopped too early
_PROGRESS = 0.01
_SMALL_TERM = 0.02  # of the cost
_AT_BOUND = 1e-3  # of the box


def cautions(case: FinishedDesign, searches: tuple[SearchHistory, ...]) -> tuple[ReportWarning, ...]:
    """Return all warnings and notes of a run."""
    found = [
        *_of_setup(case),
        *_of_failures(case),
        *_of_chance(case),
        *_of_bounds(case),
        *_of_fitness(case),
        *_of_knowledge_base(case),
        *_of_searches(searches),
        *(
            ReportWarning(f"{c}; results may differ in their last digits", "note")
            for c in case.bench.folder.changed_versions
        ),
    ]
    return tuple(sorted(found, key=lambda w: w.severity != "warning"))


def _of_setup(case: FinishedDesign) -> Iterator[ReportWarning]:
    setup = case.setup
    for text in setup.all_warnings():
        yield ReportWarning(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))
    if case.signal.clairvoyant:
        yield ReportWarning(
            "The teacher saw the noise that was to come: no controller can have such gains.",
            remedy="Teach with teacher.clairvoyant=false.",
        )
    if case.bench.margins is None and case.plant.operating_points:
        yield ReportWarning("No margins were asked for: nothing is known of the robustness.", "note",
                            "Set fitness.max_sensitivity.")  # fmt: skip


def _of_failures(case: FinishedDesign) -> Iterator[ReportWarning]:
    """What the recommended controller itself does not keep."""
    name = case.verdict.recommended
    if keeps_margins(case.bench, case.contenders[name]) is False:
        yield ReportWarning(
            f"Recommended is {case.the(name)}, which itself does not keep the margins that were asked for.",
            remedy="Search longer (budget.evaluations), or ask for less (fitness.max_sensitivity, of gains in passing "
            "fitness.max_transient_sensitivity).",
        )
    failed = {p.label: int(case.failed(name, p.kind)[:, p.number].sum()) for p in case.places}
    failed = {label: n for label, n in failed.items() if n}
    if failed:
        where = ", ".join(f"{label} ({n} of its seeds)" for label, n in failed.items())
        yield ReportWarning(f"The recommended controller diverges in {where}.")


def _of_chance(case: FinishedDesign) -> Iterator[ReportWarning]:
    """Seeds too few to say how sure the numbers are, or none at all that matter."""
    values = case.costs(BASELINE, case.judged)
    more = f"Use budget.verdict_seeds={2 * _FEW_SEEDS} or more."
    if not estimates.random(values) and len(values) > 1:
        yield ReportWarning(
            "Nothing is random in the unforeseen situations: all seeds give the same run. So there are no "
            "intervals, and the conditions of the verdict hold for these situations only.",
            remedy="Give them noise (situations.noise) or other plants (situations.unforeseen_spread).",
        )
    elif case.judged == "unforeseen" and len(values) < _FEW_SEEDS:
        yield ReportWarning(f"Only {len(values)} seeds of each unforeseen situation: the intervals are not reliable.",
                            remedy=more)  # fmt: skip
    taught = [p for p in case.places if p.kind == "taught"]
    for place in case.places:
        twin = next((t for t in taught if place.kind == "unforeseen" and _same(case, place, t)), None)
        if twin is not None:
            yield ReportWarning(
                f"The unforeseen situation “{place.label}” is the taught “{twin.label}” over again: nothing new.",
                remedy="Give the plant other unforeseen situations (situations.unforeseen).",
            )


def _same(case: FinishedDesign, one: PlacedSituation, other: PlacedSituation) -> bool:
    """Whether two situations are the same but for name and seed, and the seed changes nothing."""
    a, b = (replace(p.situation, name="", seed=0) for p in (one, other))
    alone = case.judgement.fitness[BASELINE, one.kind][:, one.number]
    return a == b and not estimates.random(alone) and case.setup.config.situations.unforeseen_spread == 0.0


def _of_bounds(case: FinishedDesign) -> Iterator[ReportWarning]:
    """Fixed gains at the end of their box: it decided, not the search."""
    setup = case.setup
    span = setup.high - setup.low
    theta = case.contenders[BASELINE].theta
    for k, name in enumerate(case.contenders[BASELINE].controller.schedule.gain_names):
        if span[k] <= 0.0:
            continue
        low, high = theta[k] - setup.low[k], setup.high[k] - theta[k]
        if min(low, high) <= _AT_BOUND * span[k] and not (low < high and setup.low[k] == 0.0):
            end, side, bound = ("high", "upper", setup.high[k]) if high <= low else ("low", "lower", setup.low[k])
            yield ReportWarning(
                f"{name} of {case.the(BASELINE)} is at the {side} end of its box, {plain(bound)}: "
                "better fixed gains may lie outside.",
                remedy=f"Widen controller.{end}.",
            )


def _of_fitness(case: FinishedDesign) -> Iterator[ReportWarning]:
    weights = any("entropy" in name for name in case.fitness.terms)
    if weights and case.plant.entropy_rate is None:
        yield ReportWarning(
            "The plant declares no entropy rate: its entropy production counts as 0, and kd e'² of the derivative "
            "action is all that the term of entropy weighs.",
            remedy="Say entropy_rate, or set fitness.entropy_weight=0.",
        )
    if case.plant.loses_at_rest:
        yield ReportWarning(
            "The plant dissipates at its set points. Measures and fitness count its entropy production beyond that of "
            "the present reference's equilibrium; the curves over time show all of it.",
            "note",
        )
    if weights and not all(channel.collocated for channel in case.plant.channels):
        yield ReportWarning(
            "The command is no force on the output's coordinate, so kd e'² is no power: the entropy productions of "
            "plant and controller are not in one unit. The controller's is multiplied by "
            f"{plain(case.fitness.entropy_scale)}, which makes both equally large for the reference gains.",
            "note",
        )
    for name, part in words.shares(case).items():
        if part < _SMALL_TERM:
            yield ReportWarning(
                f"The term {words.symbol(name)} is only {share(part)} of J: the search hardly saw it.",
                "note",
                f"Raise the weight of its term, now {plain(case.fitness.terms[name])}, if it matters.",
            )


def _rules_at_bounds(case: FinishedDesign, kb: KnowledgeBase, name: str) -> Iterator[ReportWarning]:
    """Rules whose gains are at the upper end of the box where the fixed PID's are not."""
    setup, names = case.setup, case.contenders[BASELINE].controller.schedule.gain_names
    given = [[base.rules[i].gains for i in base.active] for base in kb.channels]
    if not all(given):
        return
    most = np.concatenate([np.max(gains, axis=0) for gains in given])
    span = setup.high - setup.low
    fixed = case.contenders[BASELINE].theta
    reached = [
        f"{one} ({plain(high)})"
        for one, gain, own, high, room in zip(names, most, fixed, setup.high, span, strict=True)
        if room > 0.0 and high - gain <= _AT_BOUND * room < high - own
    ]
    if reached:
        yield ReportWarning(
            f"Rules of {name} have gains at the upper end of the box that the search had: {', '.join(reached)}. It "
            f"is wide enough for {case.the(BASELINE)}; with a wider one, rules may gain more.",
            "note",
            "Widen controller.high.",
        )


def _of_knowledge_base(case: FinishedDesign) -> Iterator[ReportWarning]:
    for kind, found in case.refined.items():
        authority = found.kb.inference.authority
        name = case.the("knowledge_base" if kind == "equal" else f"knowledge_base_{kind}")
        if authority < 1.0:
            yield ReportWarning(
                f"Of {name} only the share {number(authority, 3)} is used (its authority): "
                "with more, its gains would break the margins.", "note",
            )  # fmt: skip
        if authority == 0.0 or all(
            np.allclose(base.rules[i].gains, base.reference) for base in found.kb.channels for i in base.active
        ):
            yield ReportWarning(
                f"The refinement of {name} found nothing better than {case.the(BASELINE)}: its rules give their gains.",
                "note", "A larger budget.evaluations, or margins that leave more room (fitness.max_sensitivity).",
            )  # fmt: skip
        yield from _rules_at_bounds(case, found.kb, name)
    result = case.refined.get("equal")
    if result is None:
        return
    ranges = {
        name: value for name, value in result.kb.valid_range.items() if name in {"delay", "output_delay", "noise"}
    }
    said = ", ".join(f"{name.replace('_', ' ')} {_span(*value)}" for name, value in ranges.items())
    yield ReportWarning(f"The knowledge base was taught for {said}; beyond, only fresh situations tell of it.", "note")
    outside = [p.label for p in case.places if p.kind == "unforeseen" and _outside(case, p, ranges)]
    if outside:
        yield ReportWarning(f"Outside that range are the unforeseen situations: {', '.join(outside)}.", "note")


def _span(low: float, high: float) -> str:
    return plain(low) if low == high else f"{plain(low)} … {plain(high)}"


def _outside(case: FinishedDesign, place: PlacedSituation, ranges: dict[str, list[float]]) -> bool:
    s = place.situation
    values = {"delay": s.delay, "output_delay": s.output_delay, "noise": max([0.0, *s.noise_levels(case.plant)])}
    return any(not low <= values[name] <= high for name, (low, high) in ranges.items())


def unfinished(searches: tuple[SearchHistory, ...]) -> str:
    """Return which searches still made progress when their budget ended, by how much; empty: none."""
    late = {}
    for search in searches:
        before = search.best[search.evaluations <= (1.0 - _LATE) * search.evaluations[-1]]
        if len(before) and np.isfinite(before[-1]) and before[-1] - search.best[-1] > _PROGRESS * abs(before[-1]):
            late[search.name.partition(":")[0]] = (search.best[-1] - before[-1]) / abs(before[-1])
    return ", ".join(f"{name} ({percent(value)})" for name, value in late.items())


def _of_searches(searches: tuple[SearchHistory, ...]) -> Iterator[ReportWarning]:
    """Searches that still made progress when their budget ended."""
    gains = unfinished(searches)
    if gains:
        more = "A larger budget.evaluations would gain more, and may recommend another controller."
        yield ReportWarning(f"Searches that still improved in their last fifth: {gains}.", "note", more)
