"""The first screen: what to do, by how much, at what price, and the gains to type in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.actuator import actuator_card
from experiments.report.cards import robustness_card, worst_card
from experiments.report.conditions import SIGNS
from experiments.report.gains_table import gains_table
from experiments.report.interval_chart import Mark, Row, interval_chart
from experiments.report.markup import Html, element, join
from experiments.report.numbers import UNPROVEN, interval, missing, number, percent, proven, short_mark
from experiments.report.view import finite

if TYPE_CHECKING:
    from experiments.report.verdict import Comparison, Criterion
    from experiments.report.view import View

_FAR = 1.0  # a change beyond would press all others together: its mark stands at the edge


def summary(view: View) -> Html:
    """The whole first screen."""
    headline = element("h1", view.data.verdict.headline or join(("Recommend: ", view.recommended.label)))
    verdict = element("div", headline, _statement(view), _against(view), class_="verdict")
    cards = element("div", actuator_card(view), worst_card(view), robustness_card(view), class_="cards")
    return element("section", verdict, _warning_line(view), cards, gains_table(view), id="verdict")


def _statement(view: View) -> Html:
    verdict = view.data.verdict
    reason = element("p", verdict.reason, class_="reason") if verdict.reason else ""
    parts = (_headline_number(view), _against_present(view), reason, _criteria(verdict.criteria))
    return element("div", *parts, class_="statement")


def _against_present(view: View) -> Html:
    """What the user asks first: whether it is better than what is in place."""
    present = view.data.verdict.present
    found = view.comparison(view.recommended.key, present) if present else None
    if found is None or present == view.recommended.key:
        return Html("")
    name, runs = view.data.controller(present).name, view.results(view.data.controller(present), "unforeseen")
    failed = [r.situation for r in runs if r.failed]
    if failed:
        mark = element("span", "▲ diverge", class_="loss")
        return element("p", element("b", name, " ", mark), f" in {len(failed)} of {len(runs)} unforeseen situations")
    bounds = interval(found.change)
    words = f" against {name}, {_travel(found)}" + (f"; {bounds}" if bounds else "")
    return element("p", element("b", proven(found.change)), words, class_="reason")


def _headline_number(view: View) -> Html:
    subject, compared = view.subject, view.compared
    if subject is compared:
        return element("p", missing("no other controller was compared with it"), class_="by")
    found = view.comparison(subject.key, compared.key)
    if found is None:
        reason = f"no comparison of {subject.name} with {compared.name} on unforeseen situations"
        return element("p", missing(reason), class_="by")
    words = f"cost J on unforeseen situations (test scenarios), {_travel(found)}, against {compared.name}"
    bounds, freely = interval(found.change), _free(view, found)
    details = (words, f"; {bounds}" if bounds else "", f". {freely}" if freely else "")
    turned_down = "" if subject is view.recommended else element("p", "Turned down: ", element("b", subject.name))
    number_line = element("span", proven(found.change), class_="big" if subject is view.recommended else "big small")
    return join((turned_down, element("p", number_line, element("span", *details, class_="of"), class_="by")))


def _free(view: View, equal: Comparison) -> str:
    """The same comparison with free travel, where both were made."""
    key = (equal.controller, equal.against, equal.group)
    same = [
        c for c in view.data.verdict.comparisons if (c.controller, c.against, c.group) == key and not c.equal_travel
    ]
    if not equal.equal_travel or not same or not finite(same[0].change.value):
        return ""
    times = f" and {number(same[0].travel_ratio, 3)} times the travel" if finite(same[0].travel_ratio) else ""
    return f"With free travel {percent(same[0].change.value)}{times}"


def _travel(comparison: Comparison) -> str:
    if comparison.equal_travel:
        times = f"; {number(comparison.travel_ratio, 3)} times" if finite(comparison.travel_ratio) else ""
        return f"at equal actuator travel (total variation of u{times})"
    if finite(comparison.travel_ratio):
        return f"at {number(comparison.travel_ratio, 3)} times the actuator travel (total variation of u)"
    return "with free actuator travel (total variation of u)"


def _criteria(criteria: tuple[Criterion, ...]) -> Html:
    items = []
    for criterion in criteria:
        sign, word, style = SIGNS[criterion.passed]
        mark = element("span", f"{sign} {word}", class_=style)
        items.append(element("li", mark, " ", criterion.text, f" ({criterion.detail})" if criterion.detail else ""))
    return element("ul", *items, class_="criteria") if items else Html("")


def _against(view: View) -> Html:
    """Changes of the recommended controller against the others; of the others, where it is the one compared with."""
    own, others = view.recommended, [c for c in view.data.controllers if c is not view.recommended]
    if own is view.compared:
        found = [(c.key, view.comparison(c.key, own.key)) for c in others]
        words = f"The others against {own.name}, unforeseen situations: change of cost J"
    else:
        found = [(c.key, view.comparison(own.key, c.key)) for c in others]
        words = f"Against each of the others, unforeseen situations: change of cost J of {own.name}"
    rows = [_row(view, key, comparison) for key, comparison in found]
    shown = tuple(row for row in rows if row is not None)
    if not shown:
        return element("div", element("p", missing("the run compared no controllers")), class_="against")
    title = element("h3", words)
    hollow = any(m.hollow for row in shown for m in row.marks)
    kinds = "; filled dots: at equal actuator travel, hollow: with free travel" if hollow else ""
    unproven = f"; {UNPROVEN}" if any(row.note.startswith("≈") for row in shown) else ""
    note = f"Left of 0 is better{kinds}{unproven}."
    pitch = max(17.0, min(24.0, 144.0 / len(shown)))  # the first screen is only so high
    chart = interval_chart(shown, note, zero=0.0, as_percent=True, pitch=pitch)
    return element("div", title, chart, element("small", note), class_="against")


def _row(view: View, key: str, comparison: Comparison | None) -> Row | None:
    if comparison is None:
        return None
    label, estimate = view.data.controller(key).name, comparison.change
    name = f"{label}: {percent(estimate.value)}, {_travel(comparison)}, {interval(estimate)}"
    hollow, near = not comparison.equal_travel, estimate.value <= _FAR
    mark = Mark(estimate.value, name, estimate.low, estimate.high, view.colour(key), hollow, near)
    you = " (present)" if key == view.data.verdict.present else ""
    return Row(label + you, (mark,), *short_mark(estimate))


def _warning_line(view: View) -> Html:
    graves = [w for w in view.data.warnings if w.severity == "warning"]
    if not graves:
        return Html("")
    more = f" (and {len(graves) - 1} more)" if len(graves) > 1 else ""
    link = element("a", f"all warnings{more}", href="#warnings")
    return element("p", element("b", "⚠ Warning: "), graves[0].text, " ", link, class_="alert")
