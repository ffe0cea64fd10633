"""Every measure of every controller in every situation, with losses marked as losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import missing, number, percent, share, short_mark
from experiments.report.records.situations import GROUPS, Estimate
from experiments.report.sections.view import GROUP_NAMES, actuator_use, change, finite, section, swatch, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.report.records.results import ControllerResult
    from experiments.report.records.situations import SituationInfo, SituationResult
    from experiments.report.sections.view import PageView

# Measure, heading, whether less is better (None: neither, no mark).
_MEASURES = (
    ("iae", "IAE ∫|e| dt", True),
    ("ise", "ISE ∫e² dt", True),
    ("itae", "ITAE ∫t|e| dt", True),
    ("overshoot", "over­shoot", True),
    ("settling_time", "settling time [s]", True),
    ("effort", "effort ∫u² dt", True),
    ("total_variation", "travel (TV of u)", True),
    ("entropy_plant", "entropy of plant [J]", None),
    ("entropy_controller", "entropy of controller [J]", None),
    ("entropy_difference", "∫ΔṠ dt", None),
    ("entropy_difference_abs", "∫|ΔṠ| dt", True),
)
_TOLERANCE = 0.005


def all_numbers(view: PageView) -> Html:
    """One table per group of situations."""
    titles = [*(title for _, title, _ in _MEASURES), *(own.heading for own in view.data.own_measures)]
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
    return [head, *[_row(view, c, c.result(situation.name), reference, width) for c in view.data.controllers]]


def _row(
    view: PageView,
    controller: ControllerResult,
    result: SituationResult | None,
    reference: SituationResult | None,
    width: int,
) -> Html:
    name = element("th", swatch(view.styles[controller.key]), controller.name, scope="row")
    if result is None:
        return element("tr", name, element("td", missing("not run here"), colspan=width - 1, class_="words"))
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
    return element("tr", name, *cells, *_command(view, result), _end(result), class_=style)


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


def _command(view: PageView, result: SituationResult) -> tuple[Html, Html]:
    uses = actuator_use(result, view.data.channels)
    if not uses:
        gap = element("span", "n/a", class_="missing", title="not available")
        return element("td", gap), element("td", gap)
    spans = [f"{number(u.lowest, 3)} … {number(u.highest, 3)}" for u in uses]
    times = [share(u.saturated) for u in uses]
    return element("td", "; ".join(spans), class_="span"), element("td", "; ".join(times))


def _end(result: SituationResult) -> Html:
    if not result.failed:
        return element("td", "reached")
    at = f" at {number(result.diverged_at, 3)} s" if finite(result.diverged_at) else ""
    count = f" ({result.failures} seeds)" if result.failures > 1 else ""
    return element("td", element("span", f"▲ diverged{at}{count}", class_="loss"))
