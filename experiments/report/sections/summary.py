"""The first screen: what to do, by how much, at what price, how sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.answer import MarginChange, lost_loops, margin_changes, name_of, sources
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from experiments.report.drawing.numbers import UNPROVEN, interval, judged, missing, number, percent, proven, short_mark
from experiments.report.sections.cards import actuator_card, robustness_card, worst_card
from experiments.report.sections.certainty import certainty_card, plant_card, untested_card
from experiments.report.sections.gains import gains_table
from experiments.report.sections.tables import SIGNS
from experiments.report.sections.view import PageView, finite, table

if TYPE_CHECKING:
    from experiments.report.records.verdict import Criterion, MeasureChange, VerdictComparison


_CARDS = ((plant_card, robustness_card), (actuator_card, certainty_card), (worst_card, untested_card))
"""Columns of about equal height, so that all of them are on the first screen."""

_FAR = 1.0  # a change beyond would press all others together: its mark stands at the edge


def summary(view: PageView) -> Html:
    """The whole first screen: what to do and type, by how much, at what price, how sure; what else folds."""
    headline = element("h1", "Recommend: ", view.recommended.label)
    words = "IAE: ∫|e| dt; ΔṠ: entropy production of the plant less the controller's; travel: total variation of u."
    cost = element("small", view.data.cost.partition(". Of the")[0], f". {words}", class_="formula")
    verdict = element("div", headline, _statement(view), measures_table(view), cost, class_="verdict")
    columns = [element("div", *(card(view) for card in cards)) for cards in _CARDS]
    boxes = element("div", *columns, class_="cards")
    title = element("summary", "Why: the conditions, and the change against each of the others")
    why = element("div", _criteria(view.data.verdict.criteria), _against(view), class_="verdict")
    more = element("details", title, why)
    return element("section", verdict, _warning_line(view), gains_table(view), boxes, more, id="verdict")


def measures_table(view: PageView) -> Html:
    """Beside the cost what it is made of and what it hides: every measure's change with its interval, and Ms."""
    found = view.data.verdict.measures
    if not found:
        return element("div", missing("changes by measure were not stored by the release that made this run"))
    against = list(dict.fromkeys(c.against for c in found))
    name = view.data.controller(found[0].controller).name
    if found[0].controller != view.recommended.key:
        name = f"{name} (not recommended)"
    heads = [h for key in against for h in (f"against {view.data.controller(key).name}", "95 % interval")]
    rows = []
    for measure in dict.fromkeys(c.measure for c in found):
        of = {c.against: c for c in found if c.measure == measure}
        less = {own.name: own.less_is_better for own in view.data.own_measures}.get(measure, True)
        judging = less if found[0].controller == view.recommended.key else None  # no colours for what is turned down
        cells = [cell for key in against for cell in _measure_cells(of.get(key), judging)]
        values = element("small", _from_to(view, measure, [found[0].controller, *against]))
        rows.append(element("tr", element("th", name_of(view.data, measure), " ", values, scope="row"), *cells))
    rows += _margin_rows(view, found[0].controller, against)
    where = "fresh situations" if view.on_draws else view.judged_words
    survived = " that both survive" if lost_loops(view.data) else ""
    title = element("h3", f"{name}: change by measure, in the mean of {where}{survived}")
    return element("div", title, table(("measure", *heads), rows, style="measures"))


def _margin_rows(view: PageView, controller: str, against: list[str]) -> list[Html]:
    """Ms and delay margin against each of the others, marked as the measures are."""
    found = [margin_changes(view.data, controller, key) for key in against]
    if not all(found):
        cells = [element("td", missing(), colspan="2", class_="words") for _ in against]
        return [element("tr", element("th", "Ms", scope="row"), *cells)]
    rows = []
    for of_margin in zip(*found, strict=True):
        cells = [cell for one in of_margin for cell in _margin_cells(one, judging=controller == view.recommended.key)]
        one = of_margin[0]
        told = one.note or ("worst point" if one.points > 1 else "")
        where = element("small", told) if told else ""
        rows.append(element("tr", element("th", one.name, " ", where, scope="row"), *cells))
    return rows


def _margin_cells(found: MarginChange, *, judging: bool) -> tuple[Html, Html]:
    """The change, with a word where it holds at all points and its controller is recommended."""
    mark: object = ""
    if finite(found.change):
        worded = judging and not found.mixed
        mark = judged(found.change, more_is_better=not found.more_is_worse) if worded else percent(found.change)
    worst = f"worst {found.values}" if found.points > 1 else found.values
    return element("td", mark), element("td", worst, class_="span")


def _from_to(view: PageView, measure: str, keys: list[str]) -> str:
    """The means themselves, "1.052 → 0.978 m s", against the first of several; empty where they are not known.

    Nor where loops are lost: changes are of the runs that both survive, means of those that each survives.
    """
    if lost_loops(view.data):
        return ""
    group = view.data.verdict.group
    own, other = (view.data.controller(key) for key in keys[:2])
    values = [
        c.cost[group].value if measure == "cost" and group in c.cost else view.mean_measure(c, group, measure)
        for c in (other, own)
    ]
    units = {**view.data.units, **{one.name: one.unit.removeprefix("1") for one in view.data.own_measures}}
    told = " → ".join(number(value, 3) for value in values)
    return f"{told} {units.get(measure, '')}".rstrip() if all(map(finite, values)) else ""


def _measure_cells(change: MeasureChange | None, less_is_better: bool | None) -> tuple[Html, Html]:
    if change is None or not finite(change.change.value):
        return element("td", missing()), element("td")
    estimate = change.change
    bounds = interval(estimate).partition("interval ")[2]
    mark = proven(estimate) if less_is_better else percent(estimate.value)
    return element("td", mark), element("td", bounds or "none", class_="span")


def _statement(view: PageView) -> Html:
    verdict = view.data.verdict
    reason = element("p", verdict.reason, class_="reason") if verdict.reason else ""
    parts = (_headline_number(view), _against_present(view), reason)
    return element("div", *parts, class_="statement")


def _against_present(view: PageView) -> Html:
    """What the user asks first: whether it is better than what is in place."""
    present = view.data.verdict.present
    found = view.comparison(view.recommended.key, present) if present else None
    if found is None or present == view.recommended.key:
        return Html("")
    name, runs = view.data.controller(present).name, view.data.controller(present).judged
    if runs is not None and runs.failures:
        mark = element("span", "▲ diverge", class_="loss")
        return element("p", element("b", name, " ", mark), f" in {runs.failures} of {runs.runs} runs")
    bounds = interval(found.change)
    words = f" against {name}, {_travel(found)}" + (f"; {bounds}" if bounds else "")
    return element("p", element("b", proven(found.change)), words, class_="reason")


def _headline_number(view: PageView) -> Html:
    subject, compared = view.subject, view.compared
    if subject is compared:
        return element("p", missing("no other controller was compared with it"), class_="by")
    found = view.comparison(subject.key, compared.key)
    if found is None:
        reason = f"no comparison of {subject.name} with {compared.name} in {view.judged_words}"
        return element("p", missing(reason), class_="by")
    words = join(("cost J in ", _situations(view), f", {_travel(found)}, against {compared.name}"))
    bounds, freely = interval(found.change), _free(view, found)
    more = "".join(f". {text.rstrip('.')}" for text in (freely, lost_loops(view.data), sources(view.data)) if text)
    details = (words, f"; {bounds}" if bounds else "", more)
    if subject is not view.recommended:  # a number in large green would recommend what is not
        start = element("b", f"Not recommended: {subject.name}")
        return element("p", start, f" ({percent(found.change.value)} ", *details, ").", class_="reason")
    number_line = element("span", proven(found.change), class_="big")
    return element("p", number_line, element("span", *details, class_="of"), class_="by")


def _situations(view: PageView) -> object:
    """The situations of the verdict; words that lead to the ranges, where they were drawn from such."""
    known = view.on_draws and view.data.evidence is not None and view.data.evidence.ranges
    return element("a", view.judged_words, href="#ranges") if known else view.judged_words


def _free(view: PageView, equal: VerdictComparison) -> str:
    """The same comparison with free travel, where both were made."""
    key = (equal.controller, equal.against, equal.group)
    same = [
        c for c in view.data.verdict.comparisons if (c.controller, c.against, c.group) == key and not c.equal_travel
    ]
    if not equal.equal_travel or not same or not finite(same[0].change.value):
        return ""
    times = f" and {number(same[0].travel_ratio, 3)} times the travel" if finite(same[0].travel_ratio) else ""
    return f"With free travel {percent(same[0].change.value)}{times}"


def _travel(comparison: VerdictComparison) -> str:
    if comparison.equal_travel and not comparison.travel_ratio > 1.0:
        times = f" ({number(comparison.travel_ratio, 3)} times)" if finite(comparison.travel_ratio) else ""
        return f"with no more actuator travel{times}"
    if finite(comparison.travel_ratio):
        return f"at {number(comparison.travel_ratio, 3)} times the actuator travel"
    return "with free actuator travel"


def _criteria(criteria: tuple[Criterion, ...]) -> Html:
    items = []
    for criterion in criteria:
        sign, word, style = SIGNS[criterion.passed]
        mark = element("span", f"{sign} {word}", class_=style)
        items.append(element("li", mark, " ", criterion.text, f" ({criterion.detail})" if criterion.detail else ""))
    return element("ul", *items, class_="criteria") if items else Html("")


def _against(view: PageView) -> Html:
    """Changes of the recommended controller against the others; of the others, where it is the one compared with."""
    own, others = view.recommended, [c for c in view.data.controllers if c is not view.recommended]
    if own is view.compared:
        found = [(c.key, view.comparison(c.key, own.key)) for c in others]
        words = f"The others against {own.name}, {view.judged_words}: change of cost J"
    else:
        found = [(c.key, view.comparison(own.key, c.key)) for c in others]
        words = f"Against each of the others, {view.judged_words}: change of cost J of {own.name}"
    rows = [_row(view, key, comparison) for key, comparison in found]
    shown = tuple(row for row in rows if row is not None)
    if not shown:
        return element("div", element("p", missing("the run compared no controllers")), class_="against")
    title = element("h3", words)
    hollow = any(m.hollow for row in shown for m in row.marks)
    kinds = "; filled dots: at equal actuator travel, hollow: at another" if hollow else ""
    unproven = f"; {UNPROVEN}" if any(row.note.startswith("≈") for row in shown) else ""
    note = f"Left of 0 is better{kinds}{unproven}."
    pitch = max(17.0, min(24.0, 144.0 / len(shown)))  # the first screen is only so high
    chart = interval_chart(shown, note, zero=0.0, as_percent=True, pitch=pitch, axis="change of J")
    return element("div", title, chart, element("small", note), class_="against")


def _row(view: PageView, key: str, comparison: VerdictComparison | None) -> IntervalRow | None:
    if comparison is None:
        return None
    label, estimate = view.data.controller(key).name, comparison.change
    name = f"{label}: {percent(estimate.value)}, {_travel(comparison)}, {interval(estimate)}"
    hollow, near = not comparison.equal_travel, estimate.value <= _FAR
    mark = Mark(estimate.value, name, estimate.low, estimate.high, view.colour(key), hollow, near)
    you = " (present)" if key == view.data.verdict.present else ""
    you += ", named situations" if comparison.group != view.data.verdict.group else ""
    return IntervalRow(label + you, (mark,), *short_mark(estimate))


def _warning_line(view: PageView) -> Html:
    graves = [w for w in view.data.warnings if w.severity == "warning"]
    if not graves:
        return Html("")
    more = f" (and {len(graves) - 1} more)" if len(graves) > 1 else ""
    link = element("a", f"all warnings{more}", href="#warnings")
    return element("p", element("b", "⚠ Warning: "), graves[0].text, " ", link, class_="alert")
