"""Margins of every controller at every operating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element
from experiments.report.numbers import missing, number, shown
from experiments.report.situations import NotAvailable
from experiments.report.view import section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.results import ControllerResult, MarginPoint
    from experiments.report.verdict import Verdict
    from experiments.report.view import View


def margins_table(view: View) -> Html:
    """Controllers down, operating points across."""
    known = [c.margins for c in view.data.controllers if not isinstance(c.margins, NotAvailable)]
    points = list(dict.fromkeys(p.operating_point for m in known for p in m.points))
    lead = (
        "Linearised loop at the plant's operating points. Large: Ms, the peak of the sensitivity function (1.2 to 2 is "
        "usual). Small: delay margin, phase margin, gain margin."
    )
    rows = [_row(view, c, points) for c in view.data.controllers]
    body = (
        table(("Controller", *points, words_head("taken over")), rows)
        if points
        else element("p", missing(_reason(view)))
    )
    return section("margins", "Robustness margins", body, lead=lead)


def _reason(view: View) -> str:
    margins = view.recommended.margins
    return margins.reason if isinstance(margins, NotAvailable) else "no operating point was looked at"


def _row(view: View, controller: ControllerResult, points: list[str]) -> Html:
    margins = controller.margins
    name = element("th", swatch(view.styles[controller.key]), controller.name, scope="row")
    if isinstance(margins, NotAvailable):
        return element("tr", name, element("td", missing(margins.reason), colspan=len(points) + 1, class_="words"))
    found = {p.operating_point: p for p in margins.points}
    cells = [_cell(found.get(point), view.data.verdict) for point in points]
    return element(
        "tr", name, *cells, element("td", element("small", margins.text or "constant gains"), class_="words")
    )


def _cell(point: MarginPoint | None, verdict: Verdict) -> Html:
    if point is None:
        return element("td", missing())
    peak = point.sensitivity_peak
    held = verdict.peak_held(peak)
    value = shown(peak, digits=3) if held else element("span", f"▲ {number(peak, 3)} above limit", class_="loss")
    parts = ((point.delay_margin, " s"), (point.phase_margin, "°"), (point.gain_margin, " ×"))
    small = ", ".join(f"{number(v, 3)}{unit}" for v, unit in parts if v == v)  # noqa: PLR0124 - infinite is a value
    return element("td", value, element("small", small))
