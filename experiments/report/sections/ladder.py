"""The table that compares controllers, the ladder of baselines, and the cost in each situation as dots."""

from __future__ import annotations

from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from experiments.report.drawing.numbers import (
    UNPROVEN,
    count,
    interval,
    judged,
    missing,
    number,
    proven,
    short_mark,
    shown,
    with_unit,
)
from experiments.report.records.gains import PointMargins
from experiments.report.records.results import GROUPS, ControllerResult, Estimate, Group, JudgedRuns
from experiments.report.sections.view import (
    GROUP_NAMES,
    PageView,
    change,
    finite,
    mean,
    multiples,
    section,
    swatch,
    table,
)

_MOST_ROWS = 24
_SHOWN = {
    "iae": "IAE",
    "entropy_difference_abs": "∫|ΔṠ| dt",
    "total_variation": "travel (TV of u)",
    "effort": "effort ∫u² dt",
}


def ladder(view: PageView) -> Html:
    """Table and dots of all controllers."""
    group = view.data.verdict.group
    lead = join(
        (
            f"Simplest first; the same cost J (above), limits and evaluations a search. {_shares(view)}",
            "J: mean over the runs that survive, its change over those that both survive; others count as diverged. ",
            f"Marks count against {view.compared.name}. IAE, ∫|ΔṠ| dt (entropy production difference of plant and ",
            f"controller, a dissipation), travel (total variation) and effort are means over the {view.judged_words}",
            own_words(view),
            ".",
            _scales(view),
        )
    )
    costs: tuple[Group, ...] = ("taught", "drawn") if view.on_draws else GROUPS
    named = _named(view) if view.on_draws else ""
    groups = [_dots(view, group) for group in GROUPS if view.data.group(group)]
    dots = multiples(groups)
    title = element("summary", f"Cost J in each {'named ' * view.on_draws}situation")
    per = element("details", title, view.legend(), dots) if any(groups) else ""
    return section("ladder", "Ladder of baselines", _table(view, costs, group), named, per, lead=lead, folded=False)


def _shares(view: PageView) -> str:
    """Of the cost, whose formula is on the first screen, how much of it each term is."""
    split = view.data.cost.partition(". Of the")[2]
    return f"Of the{split}. " if split else ""


def _scales(view: PageView) -> str:
    """Over what errors are divided, where measures have no unit of the output's."""
    if "scaled" not in view.data.units.get("iae", ""):
        return ""
    told = ", ".join(f"{c.output} over {with_unit(c.scale, c.output_unit)}" for c in view.data.channels)
    return f" Scaled: errors of {told}."


def _named(view: PageView) -> Html:
    """The same of the few named situations, which decide nothing."""
    title = element("summary", "The named situations, which the verdict does not rest on")
    lead = (
        "Measures, change and its interval are of the named unforeseen situations. The interval is over their noise "
        "alone: it covers other noise in the same situations, not other situations. Nothing is recommended by it."
    )
    return element("details", title, element("p", lead, class_="lead"), _table(view, GROUPS, "unforeseen"))


def _table(view: PageView, costs: tuple[Group, ...], group: Group) -> Html:
    """Costs in some groups of situations, measures in one of them."""
    names = {"drawn": "fresh", "unforeseen": "named unforeseen" if view.on_draws else "unforeseen"}
    head = (
        "Controller",
        *(f"J {names.get(each, each)}" for each in costs),
        "95 % interval of the change",
        *(view.with_unit(title, name) for name, title in _SHOWN.items()),
        *(own.heading for own in view.data.own_measures),
        "Ms",
        "delay margin [s]",
        "diverged",
        "evaluations, of all its searches",
    )
    judged = [c for c in view.data.controllers if group in c.cost]  # an oracle has no gains for situations it never met
    return table(head, [_row(view, c, costs, group) for c in judged], style="ladder")


def own_words(view: PageView) -> str:
    """Return what the plant's own measures are, to go on a sentence with; empty where it has none."""
    told = [f"{own.title}: {own.text}" if own.text else own.title for own in view.data.own_measures]
    return f", and so are the plant's own measures ({'; '.join(told)})" if told else ""


def _row(view: PageView, controller: ControllerResult, costs: tuple[Group, ...], group: Group) -> Html:
    shown_measures = (*_SHOWN, *(own.name for own in view.data.own_measures))
    measures = [view.mean_measure(controller, group, name) for name in shown_measures]
    tag = element("span", "recommended", class_="tag") if controller is view.recommended else ""
    tuned = f"{count(controller.parameters)} tuned numbers" if controller.parameters is not None else ""
    text = element("small", "; ".join(filter(None, (controller.text, tuned))))
    name = element("th", swatch(view.styles[controller.key]), controller.label, " ", tag, text, scope="row")
    cells = [
        *[_cost(view, controller, each) for each in costs],
        _change(view, controller, group),
        *[element("td", shown(value)) for value in measures],
        *_margins(controller),
        _failures(controller, group),
        element("td", missing() if controller.evaluations is None else count(controller.evaluations)),
    ]
    return element("tr", name, *cells, class_="chosen" if controller is view.recommended else None)


def _cost(view: PageView, controller: ControllerResult, group: Group) -> Html:
    if group != "drawn" and not view.data.group(group):
        return element("td", element("span", "none run", class_="missing"))
    estimate, reference = controller.cost.get(group), view.compared.cost.get(group)
    if estimate is None or not finite(estimate.value):
        return element("td", missing())
    bounds = interval(estimate, as_percent=False)
    mark: object = ""
    if controller is not view.compared and reference is not None:
        found = view.comparison(controller.key, view.compared.key, group)
        plain_ratio = judged(change(estimate.value, reference.value))
        mark = element("small", plain_ratio if found is None else proven(found.change))
    return element("td", shown(estimate.value), mark, title=bounds or None)


def _change(view: PageView, controller: ControllerResult, group: Group) -> Html:
    """Interval of the change against the compared controller in a group of situations, and at which travel."""
    if controller is view.compared:
        return element("td", "reference")
    found = view.comparison(controller.key, view.compared.key, group)
    if found is None:
        return element("td", missing())
    words = interval(found.change).partition("interval ")[2]
    ratio = f"{number(found.travel_ratio, 3)} ×" if finite(found.travel_ratio) else ""
    travel = f"within the same travel ({ratio})" if found.equal_travel else f"travel {ratio}"
    return element("td", words or element("span", "none", class_="missing"), element("small", travel), class_="span")


def _margins(controller: ControllerResult) -> list[Html]:
    margins = controller.margins
    if isinstance(margins, PointMargins):
        return [element("td", shown(v, digits=3)) for v in (margins.sensitivity_peak, margins.delay_margin)]
    mark = element("span", "not available", element("small", margins.reason), class_="missing")
    return [element("td", mark, colspan="2", class_="words")]


def _failures(controller: ControllerResult, group: Group) -> Html:
    if group == "drawn":
        return _lost_draws(controller.judged)
    failed = [r for r in controller.results if r.failed]
    if not failed:
        return element("td", "0")
    runs = sum(max(r.failures, 1) for r in failed)
    names = ", ".join(r.situation for r in failed)
    where = failed[0].situation if len(failed) == 1 else f"{len(failed)} situations"
    mark = element("span", f"▲ {runs} failed", class_="loss")
    return element("td", mark, element("small", f"in {where}"), title=names)


def _lost_draws(found: JudgedRuns | None) -> Html:
    if found is None:
        return element("td", missing())
    told = f"{found.failures} of {found.runs}"
    return element("td", element("span", f"▲ {told}", class_="loss") if found.failures else told)


def _dots(view: PageView, group: Group) -> Html:
    situations = _costliest(view, group)
    rows = (*(_situation_row(view, name) for name in situations), _mean_row(view, group))
    marked = tuple(r for r in rows if r.marks)
    if not marked:
        return Html("")
    every = len(view.data.group(group))
    of = element("small", f" the costliest {len(situations)} of {every}") if len(situations) < every else ""
    title = element("figcaption", GROUP_NAMES[group], of)
    failed = any(r.failed for c in view.data.controllers for r in view.results(c, group))
    label = "Left is better" + _what_words_say(view, marked) + (" Who diverged has no dot." if failed else "")
    return element("figure", title, interval_chart(marked, label, axis="cost J"), element("small", label))


def _what_words_say(view: PageView, rows: tuple[IntervalRow, ...]) -> str:
    """Who is held against whom: nobody where no controller but the compared one was judged."""
    if view.subject is view.compared:
        return "."
    unproven = f" {UNPROVEN}." if any(r.note.startswith("≈") for r in rows) else ""
    return f"; in words: {view.subject.name} against {view.compared.name}, ✗ who of them diverged.{unproven}"


def _costliest(view: PageView, group: Group) -> list[str]:
    """The situations of a group, the costliest for the recommended controller where they are many."""
    names = [s.name for s in view.data.group(group)]
    if len(names) <= _MOST_ROWS:
        return names
    costs = {r.situation: r.cost.value for r in view.results(view.recommended, group)}
    kept = sorted(names, key=lambda name: -costs.get(name, 0.0))[:_MOST_ROWS]
    return [name for name in names if name in kept]


def _situation_row(view: PageView, situation: str) -> IntervalRow:
    found = {c.key: r for c in view.drawn if not (r := c.result(situation)).failed}
    values = {key: result.cost.value for key, result in found.items()}
    lost = [c.name for c in (view.subject, view.compared) if c.result(situation).failed]
    failure = f"✗ {lost[0]}" if lost else ""
    return _dot_row(view, situation, values, view.change_in(situation, view.subject, view.compared), failure)


def _mean_row(view: PageView, group: Group) -> IntervalRow:
    values = {}
    for controller in view.drawn:
        results = view.results(controller, group)
        if results and not any(r.failed for r in results):
            values[controller.key] = mean([r.cost.value for r in results])
    found = view.comparison(view.subject.key, view.compared.key, group)
    own, other = (values.get(c.key, float("nan")) for c in (view.subject, view.compared))
    return _dot_row(view, "mean of the group", values, found.change if found else Estimate(change(own, other)))


def _dot_row(view: PageView, label: str, values: dict[str, float], against: Estimate, failure: str = "") -> IntervalRow:
    marks = tuple(
        Mark(value, f"{c.name}: {number(value)}", style=f"{view.colour(c.key)} {view.slot(c.key)}", sets_range=c.drawn)
        for c, value in ((view.data.controller(key), value) for key, value in values.items())
        if finite(value)
    )
    if failure:
        return IntervalRow(label, marks, failure, "loss")
    if not finite(against.value) or view.subject is view.compared:
        return IntervalRow(label, marks, "")
    return IntervalRow(label, marks, *short_mark(against))
