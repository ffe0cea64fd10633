"""The conditions of the verdict for every controller that was judged, and its margins at every operating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element
from experiments.report.drawing.numbers import missing, number, share, shown
from experiments.report.records.situations import NotAvailable
from experiments.report.sections.view import finite, section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.records.results import ControllerResult, MarginPoint
    from experiments.report.records.verdict import Criterion, JudgedText, VerdictText
    from experiments.report.sections.view import PageView


SIGNS = {True: ("✓", "held", "gain"), False: ("✗", "failed", "loss"), None: ("?", "not judged", "even")}
"""Sign, word and style of a condition that held, failed, or could not be judged."""


def conditions(view: PageView) -> Html:
    """One row per controller, one column per condition."""
    lead = (
        f"Every controller against {view.compared.name}, run by run in the same unforeseen situations. One that "
        "replaces it must hold all conditions; of those that do, the simplest within 3 % of the best is recommended. "
        "In brackets: 95 % intervals."
    )
    judged = view.data.verdict.judgements
    if not judged:
        return section(
            "conditions", "Conditions of the verdict", element("p", missing("nothing was judged")), lead=lead
        )
    head = ("Controller", *(c.text for c in judged[0].criteria), "better in", "rank test p", words_head("outcome"))
    rows = [_row(view, one) for one in judged]
    return section("conditions", "Conditions of the verdict", table(head, rows, style="conditions"), lead=lead)


def _row(view: PageView, judged: JudgedText) -> Html:
    controller = view.data.controller(judged.controller)
    name = element("th", swatch(view.styles[controller.key]), controller.name, scope="row")
    cells = [_cell(criterion) for criterion in judged.criteria]
    cells.append(
        element("td", share(judged.wins) if finite(judged.wins) else missing(), element("small", "of the runs"))
    )
    cells.append(element("td", number(judged.p_value, 2) if finite(judged.p_value) else "–"))
    outcome = element("td", judged.outcome, class_="words")
    return element("tr", name, *cells, outcome, class_="chosen" if controller is view.recommended else None)


def _cell(criterion: Criterion) -> Html:
    sign, word, style = SIGNS[criterion.passed]
    return element("td", element("span", f"{sign} {word}", class_=style), element("small", criterion.detail))


def margins_table(view: PageView) -> Html:
    """Controllers down, operating points across."""
    known = [c.margins for c in view.data.controllers if not isinstance(c.margins, NotAvailable)]
    points = list(dict.fromkeys(p.operating_point for m in known for p in m.points))
    lead = (
        "Linearised loop at the plant's operating points. Large: Ms, the peak of the sensitivity function (1.2 to 2 is "
        "usual). Small: delay margin, phase margin, gain margin."
    )
    rows = [_margins_row(view, c, points) for c in view.data.controllers]
    body = (
        table(("Controller", *points, words_head("taken over")), rows)
        if points
        else element("p", missing(_reason(view)))
    )
    return section("margins", "Robustness margins", body, lead=lead)


def _reason(view: PageView) -> str:
    margins = view.recommended.margins
    return margins.reason if isinstance(margins, NotAvailable) else "no operating point was looked at"


def _margins_row(view: PageView, controller: ControllerResult, points: list[str]) -> Html:
    margins = controller.margins
    name = element("th", swatch(view.styles[controller.key]), controller.name, scope="row")
    if isinstance(margins, NotAvailable):
        return element("tr", name, element("td", missing(margins.reason), colspan=len(points) + 1, class_="words"))
    found = {p.operating_point: p for p in margins.points}
    cells = [_margin_cell(found.get(point), view.data.verdict) for point in points]
    return element(
        "tr", name, *cells, element("td", element("small", margins.text or "constant gains"), class_="words")
    )


def _margin_cell(point: MarginPoint | None, verdict: VerdictText) -> Html:
    if point is None:
        return element("td", missing())
    peak = point.sensitivity_peak
    held = verdict.peak_held(peak)
    value = shown(peak, digits=3) if held else element("span", f"▲ {number(peak, 3)} above limit", class_="loss")
    parts = ((point.delay_margin, " s"), (point.phase_margin, "°"), (point.gain_margin, " ×"))
    small = ", ".join(f"{number(v, 3)}{unit}" for v, unit in parts if v == v)  # noqa: PLR0124 - infinite is a value
    return element("td", value, element("small", small))
