"""Tables of all controllers: the conditions of the verdict, margins at every operating point, every measure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import missing, number, percent, share, short_mark, shown
from experiments.report.records.results import (
    GROUPS,
    ControllerResult,
    Estimate,
    NotAvailable,
    SituationInfo,
    SituationResult,
)
from experiments.report.sections.view import GROUP_NAMES, PageView, change, finite, section, table, words_head

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.report.records.gains import MarginPoint
    from experiments.report.records.verdict import Criterion, JudgedText, VerdictText


SIGNS = {True: ("✓", "held", "gain"), False: ("✗", "failed", "loss"), None: ("?", "not judged", "even")}
"""Sign, word and style of a condition that held, failed, or could not be judged."""


def conditions(view: PageView) -> Html:
    """One row per controller, one column per condition."""
    lead = (
        f"Every controller against {view.compared.name}, run by run in the same {view.judged_words}. One that "
        "replaces it must hold all conditions; of those that do and lose no more loops than another beyond chance, the "
        "simplest within 3 % of the best is recommended. J is compared where both survive; one that loses fewer loops "
        "beyond chance (sign test, 5 %) need only get no worse there. In brackets: 95 % intervals."
    )
    judged = view.data.verdict.judgements
    if not judged:
        return section(
            "conditions", "Conditions of the verdict", element("p", missing("nothing was judged")), lead=lead
        )
    asked = list(dict.fromkeys(c.text for one in judged for c in one.criteria))  # some are asked of a few alone
    head = (words_head("Controller: outcome"), *asked, "better in")
    rows = [_condition_row(view, one, asked) for one in judged]
    return section("conditions", "Conditions of the verdict", table(head, rows, style="conditions"), lead=lead)


def _condition_row(view: PageView, judged: JudgedText, asked: list[str]) -> Html:
    controller = view.data.controller(judged.controller)
    name = view.row_head(controller, element("small", judged.outcome))
    cells = [_condition_cell([c for c in judged.criteria if c.text == text]) for text in asked]
    chance = f", rank test p {number(judged.p_value, 2)}" if finite(judged.p_value) else ""
    wins = share(judged.wins) if finite(judged.wins) else missing()
    cells.append(element("td", wins, element("small", f"of the runs{chance}")))
    return element("tr", name, *cells, class_="chosen" if controller is view.recommended else None)


def _condition_cell(criteria: list[Criterion]) -> Html:
    """One condition of one controller, which may have failed it for several reasons; empty: it was not asked."""
    if not criteria:
        return element("td", "–")
    sign, word, style = SIGNS[criteria[0].passed]
    details = "; ".join(c.detail for c in criteria)
    return element("td", element("span", f"{sign} {word}", class_=style), element("small", details))


def margins_table(view: PageView) -> Html:
    """Controllers down, operating points across."""
    known = [c.margins for c in view.data.controllers if not isinstance(c.margins, NotAvailable)]
    points = list(dict.fromkeys(p.operating_point for m in known for p in m.points))
    lead = (
        "Linearised loop at the plant's operating points, with the gains that stand there at rest. Large: Ms, the peak "
        "of the sensitivity function (1.2 to 2 is usual). Small: delay margin, phase margin, gain margin. In passing: "
        "the largest Ms with gains that are given about these points while errors and their rates are on their way."
    )
    rows = [_margins_row(view, c, points) for c in view.data.controllers]
    body = (
        table(("Controller", *points, "in passing", words_head("taken over")), rows)
        if points
        else element("p", missing(_reason(view)))
    )
    return section("margins", "Robustness margins", body, lead=lead)


def _reason(view: PageView) -> str:
    margins = view.recommended.margins
    return margins.reason if isinstance(margins, NotAvailable) else "no operating point was looked at"


def _margins_row(view: PageView, controller: ControllerResult, points: list[str]) -> Html:
    margins = controller.margins
    name = view.row_head(controller)
    if isinstance(margins, NotAvailable):
        return element("tr", name, element("td", missing(margins.reason), colspan=len(points) + 2, class_="words"))
    found = {p.operating_point: p for p in margins.points}
    cells = [_margin_cell(found.get(point), view.data.verdict) for point in points]
    cells.append(_passing_cell(margins.passing_peak, view.data.verdict))
    return element(
        "tr", name, *cells, element("td", element("small", margins.text or "constant gains"), class_="words")
    )


def _margin_cell(point: MarginPoint | None, verdict: VerdictText) -> Html:
    if point is None:
        return element("td", missing())
    peak = point.sensitivity_peak
    value = _peak(peak, held=verdict.peak_held(peak))
    parts = ((point.delay_margin, " s"), (point.phase_margin, "°"), (point.gain_margin, " ×"))
    small = ", ".join(f"{number(v, 3)}{unit}" for v, unit in parts if v == v)  # noqa: PLR0124 - infinite is a value
    return element("td", value, element("small", small))


def _passing_cell(peak: float, verdict: VerdictText) -> Html:
    if math.isnan(peak):
        return element("td", "–", element("small", "gains stand"))
    return element("td", _peak(peak, held=verdict.passing_held(peak)))


def _peak(peak: float, *, held: bool) -> object:
    return shown(peak, digits=3) if held else element("span", f"▲ {number(peak, 3)} above limit", class_="loss")


# Measure, heading, whether less is better (None: neither, no mark).
_MEASURES = (
    ("iae", "IAE ∫|e| dt", True),
    ("ise", "ISE ∫e² dt", True),
    ("itae", "ITAE ∫t|e| dt", True),
    ("overshoot", "over­shoot", True),
    ("settling_time", "settling time", True),
    ("effort", "effort ∫u² dt", True),
    ("total_variation", "travel (TV of u)", True),
    ("entropy_plant", "entropy of plant", None),
    ("entropy_controller", "entropy of controller", None),
    ("entropy_difference", "∫ΔṠ dt", None),
    ("entropy_difference_abs", "∫|ΔṠ| dt", True),
)
_TOLERANCE = 0.005


def all_numbers(view: PageView) -> Html:
    """One table per group of situations."""
    titles = [
        *(view.with_unit(title, name) for name, title, _ in _MEASURES),
        *(own.heading for own in view.data.own_measures),
    ]
    head = ("Controller", "cost J", *titles, "u from … to", "time at a limit", "end")
    parts: list[Html] = []
    for group in GROUPS:
        situations = view.data.group(group)
        if situations:
            rows = [row for s in situations for row in _block(view, s, len(head))]
            parts += [element("h3", GROUP_NAMES[group]), table(head, rows, style="all")]
    lead = join(
        (
            f"Small figures: change against {view.compared.name}; ",
            element("span", "▲ … loss", class_="loss"),
            " marks every measure that is worse. Entropies and their difference ΔṠ (plant less controller) carry none.",
            " Cost J of a run whose loop is lost is its penalty.",
            view.named_note,
        )
    )
    return section("numbers", "All numbers", *parts, lead=lead)


def _block(view: PageView, situation: SituationInfo, width: int) -> list[Html]:
    seeds = f", mean of {situation.seeds} seeds" if situation.seeds > 1 else ""
    title = element("b", situation.name)
    head = element(
        "tr", element("th", title, f" {situation.text}{seeds}", colspan=width, scope="rowgroup"), class_="band"
    )
    reference = view.compared.result(situation.name)
    return [head, *[_row(view, c, c.result(situation.name), reference) for c in view.data.controllers]]


def _row(
    view: PageView,
    controller: ControllerResult,
    result: SituationResult,
    reference: SituationResult,
) -> Html:
    name = view.row_head(controller)
    other = None if controller is view.compared else reference
    cells = [_cost(result, None if other is None else view.change_in(result.situation, controller, view.compared))]
    for measure, _, less in _MEASURES:
        against = other.measure(measure) if other else None
        form = share if measure == "overshoot" else number
        cells.append(_cell(result.measure(measure), against, less, form=form))
    for one in view.data.own_measures:
        against = other.measure(one.name) if other else None
        cells.append(_cell(result.measure(one.name), against, one.less_is_better))
    style = "chosen" if controller is view.recommended else None
    return element("tr", name, *cells, *_command(result), _end(result), class_=style)


def _bounds(estimate: Estimate) -> str | None:
    known = finite(estimate.low) and finite(estimate.high)
    return f"{number(estimate.low)} … {number(estimate.high)}" if known else None


def _cost(result: SituationResult, against: Estimate | None) -> Html:
    """The cost with its change; one whose interval holds 0 is no loss."""
    value = result.cost.value
    if against is None or not finite(against.value) or not finite(value):
        return _cell(value, None, True, _bounds(result.cost))
    text, style = short_mark(against, _TOLERANCE)
    mark = element("small", text.replace("worse", "loss"), class_="loss" if style == "loss" else None)
    return element("td", number(value), mark, title=_bounds(result.cost))


def _cell(
    value: float,
    reference: float | None,
    less_is_better: bool | None,
    title: str | None = None,
    form: Callable[[float], str] = number,
) -> Html:
    if not finite(value):
        return element(
            "td", "∞" if value == float("inf") else element("span", "n/a", class_="missing", title="not available")
        )
    ratio = change(value, reference) if reference is not None and less_is_better is not None else float("nan")
    mark: object = ""
    worse = ratio if less_is_better else -ratio
    if finite(ratio) and worse > _TOLERANCE:
        mark = element("small", f"▲ {percent(ratio)} loss", class_="loss")
    elif finite(ratio):
        mark = element("small", percent(ratio))
    return element("td", form(value), mark, title=title)


def _command(result: SituationResult) -> tuple[Html, Html]:
    uses = result.actuator
    if not uses:
        gap = element("span", "n/a", class_="missing", title="not available")
        return element("td", gap), element("td", gap)
    spans = [f"{number(u.lowest, 3)} … {number(u.highest, 3)}" for u in uses]
    times = [share(u.saturated) for u in uses]
    return element("td", "; ".join(spans), class_="span"), element("td", "; ".join(times))


def _end(result: SituationResult) -> Html:
    if not result.failed:
        return element("td", "not lost")
    at = f" at {number(result.diverged_at, 3)} s" if finite(result.diverged_at) else ""
    count = f" ({result.failures} seeds)" if result.failures > 1 else ""
    return element("td", element("span", f"▲ diverged{at}{count}", class_="loss"))
