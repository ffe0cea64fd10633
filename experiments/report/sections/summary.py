"""The first screen: what to do, by how much, at what price, and the gains to type in.

Gains are told in standard and in parallel form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.report.answer import FORMS, gain_nodes, measure_name, peak_change
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from experiments.report.drawing.numbers import UNPROVEN, interval, missing, number, percent, proven, short_mark, shown
from experiments.report.records.results import ChannelGains, ControllerResult, NotAvailable
from experiments.report.sections.cards import actuator_card, robustness_card, worst_card
from experiments.report.sections.certainty import certainty_card, plant_card, untested_card
from experiments.report.sections.tables import SIGNS
from experiments.report.sections.view import PageView, finite, table

if TYPE_CHECKING:
    from experiments.report.records.report_data import Criterion, MeasureChange, VerdictComparison


_HEAD = ("Controller", "K", "Ti [s]", "Td [s]", "N", "kp", "ki", "kd", "b")


def gains_table(view: PageView) -> Html:
    """Recommended, compared and present gains; the others follow folded away."""
    verdict = view.data.verdict
    first = dict.fromkeys(k for k in (verdict.recommended, verdict.compared_with, verdict.present) if k)
    rest = [c for c in view.data.controllers if c.key not in first]
    shown_first = [row for key in first for row in _rows(view, view.data.controller(key))]
    if not verdict.present:
        note = missing("none were given; the compared controller stands for it")
        shown_first.append(
            element("tr", element("th", "your present gains", scope="row"), element("td", note, colspan="9"))
        )
    folded = ""
    if rest:
        rows = [row for controller in rest for row in _rows(view, controller)]
        summary = element("summary", f"Gains of the other {len(rest)} controllers")
        folded = element("details", summary, table(_head(view), rows))
    title = element("h3", f"What to type: {FORMS}")
    return element("div", title, table(_head(view), shown_first), folded, class_="gains")


def _head(view: PageView) -> tuple[str, ...]:
    units = view.data.channels[0].gain_units if len(view.data.channels) == 1 else ()
    written = {n: f"{n} [{u}]" for n, u in zip(("kp", "ki", "kd"), units, strict=False) if u}
    gain = f"K [{units[0]}]" if units and units[0] else "K"
    return (
        *(gain if name == "K" else written.get(name, name) for name in _HEAD),
        f"{view.recommended.name} against it",
    )


def _rows(view: PageView, controller: ControllerResult) -> list[Html]:
    change = _change(view, controller)
    if isinstance(controller.gains, NotAvailable):
        cell = element("td", missing(controller.gains.reason), colspan="8", class_="words")
        return [element("tr", _name(view, controller, ""), cell, element("td", change))]
    many = len(controller.gains) > 1
    rows = []
    for i, (channel, gains) in enumerate(zip(view.data.channels, controller.gains, strict=False)):
        units = dict(zip(("kp", "ki", "kd"), channel.gain_units, strict=False)) if many else {}
        told = [", ".join(f"{n} [{u}]" for n, u in units.items() if u), gains.at]
        name = _name(view, controller, f", {channel.output}" if many else "", "; ".join(filter(None, told)))
        rows.append(element("tr", name, *_cells(gains), element("td", change)))
        rows += [_node(node) for node in gains.nodes]
        rows += _of_rules(view, controller, i, gains)
    return rows


def _of_rules(view: PageView, controller: ControllerResult, channel: int, gains: ChannelGains) -> list[Html]:
    """The gains of the recommended knowledge base over its scheduling variables."""
    known = view.data.knowledge
    if known is None or controller is not view.recommended or controller.key != known.controller:
        return []
    nodes = gain_nodes(known.kb, channel)
    return [_node(replace(gains, kp=kp, ki=ki, kd=kd, low=None, high=None, at=at)) for at, (kp, ki, kd) in nodes]


def _node(gains: ChannelGains) -> Html:
    """A further node of a gain table, under the first."""
    return element("tr", element("th", element("small", gains.at), scope="row"), *_cells(gains), element("td"))


def _name(view: PageView, controller: ControllerResult, suffix: str, at: str = "") -> Html:
    roles = {view.compared.key: "compared with", view.recommended.key: "recommended"}
    role = roles.get(controller.key) or ("present" if controller.key == view.data.verdict.present else "")
    tag = element("span", role, class_="tag") if role else ""
    where = element("small", at) if at else ""
    return view.row_head(controller, suffix, " ", tag, where)


def _cells(gains: ChannelGains) -> list[Html]:
    k, ti, td, n = gains.standard
    standard = [_standard(v) for v in (k, ti, td, n)]
    parallel = []
    for i, value in enumerate((gains.kp, gains.ki, gains.kd)):
        span = ""
        if gains.low is not None and gains.high is not None and not gains.nodes:
            fixed = gains.low[i] == gains.high[i]
            span = element("small", "constant" if fixed else f"{number(gains.low[i], 3)} … {number(gains.high[i], 3)}")
        parallel.append(element("td", shown(value), span))
    return [*standard, *parallel, element("td", shown(gains.set_point_weight, digits=3))]


def _standard(value: float) -> Html:
    """K = 0 has no standard form; no filter gives an infinite N; both are said shortly."""
    return element(
        "td",
        number(value) if value == value else element("span", "–", title="no such form", class_="missing"),  # noqa: PLR0124
    )


def _change(view: PageView, controller: ControllerResult) -> Html:
    if controller is view.recommended:
        return join(("–",))
    found = view.comparison(view.recommended.key, controller.key)
    if found is None or not finite(found.change.value):
        return missing()
    return join((proven(found.change), element("small", "equal travel" if found.equal_travel else "free travel")))


_FAR = 1.0  # a change beyond would press all others together: its mark stands at the edge


def summary(view: PageView) -> Html:
    """The whole first screen: what to do and type, by how much, at what price, how sure; what else folds."""
    headline = element("h1", "Recommend: ", view.recommended.label)
    verdict = element("div", headline, _statement(view), measures_table(view), class_="verdict")
    cards = (plant_card, actuator_card, worst_card, robustness_card, certainty_card, untested_card)
    boxes = element("div", *(card(view) for card in cards), class_="cards")
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
    heads = [h for key in against for h in (f"against {view.data.controller(key).name}", "95 % interval")]
    rows = []
    for measure in dict.fromkeys(c.measure for c in found):
        of = {c.against: c for c in found if c.measure == measure}
        less = {own.name: own.less_is_better for own in view.data.own_measures}.get(measure, True)
        cells = [cell for key in against for cell in _measure_cells(of.get(key), less)]
        rows.append(element("tr", element("th", measure_name(view.data, next(iter(of.values()))), scope="row"), *cells))
    both = [peak_change(view.data, found[0].controller, key) or missing() for key in against]
    peaks = [element("td", ms, colspan="2", class_="words") for ms in both]
    rows.append(element("tr", element("th", "Ms", scope="row"), *peaks))
    title = element("h3", f"{name}: change of every measure, {view.judged_words}")
    return element("div", title, table(("mean of", *heads), rows, style="measures"))


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
    name, runs = view.data.controller(present).name, view.results(view.data.controller(present), "unforeseen")
    failed = [r.situation for r in runs if r.failed]
    if failed:
        mark = element("span", "▲ diverge", class_="loss")
        return element("p", element("b", name, " ", mark), f" in {len(failed)} of {len(runs)} unforeseen situations")
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
    words = f"cost J in {view.judged_words}, {_travel(found)}, against {compared.name}"
    bounds, freely = interval(found.change), _free(view, found)
    details = (words, f"; {bounds}" if bounds else "", f". {freely}" if freely else "")
    if subject is not view.recommended:  # a number in large green would recommend what is not
        start = element("b", f"Not recommended: {subject.name}")
        return element("p", start, f" ({percent(found.change.value)} ", *details, ").", class_="reason")
    number_line = element("span", proven(found.change), class_="big")
    return element("p", number_line, element("span", *details, class_="of"), class_="by")


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
    kinds = "; filled dots: at equal actuator travel, hollow: with free travel" if hollow else ""
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
    return IntervalRow(label + you, (mark,), *short_mark(estimate))


def _warning_line(view: PageView) -> Html:
    graves = [w for w in view.data.warnings if w.severity == "warning"]
    if not graves:
        return Html("")
    more = f" (and {len(graves) - 1} more)" if len(graves) > 1 else ""
    link = element("a", f"all warnings{more}", href="#warnings")
    return element("p", element("b", "⚠ Warning: "), graves[0].text, " ", link, class_="alert")
