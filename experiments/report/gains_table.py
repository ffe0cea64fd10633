"""The gains of the controllers in standard and parallel form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element, join
from experiments.report.numbers import missing, number, proven, shown
from experiments.report.situations import NotAvailable
from experiments.report.view import finite, swatch, table

if TYPE_CHECKING:
    from experiments.report.results import ChannelGains, ControllerResult
    from experiments.report.view import View

_HEAD = ("Controller", "K", "Ti [s]", "Td [s]", "N", "kp", "ki", "kd", "b")


def gains_table(view: View) -> Html:
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
    title = element("h3", "Gains: standard form K (1 + 1/(Ti s) + Td s/(1 + s Td/N)), parallel form kp + ki/s + kd s")
    return element("div", title, table(_head(view), shown_first), folded, class_="gains")


def _head(view: View) -> tuple[str, ...]:
    units = view.data.channels[0].gain_units if len(view.data.channels) == 1 else ()
    written = {n: f"{n} [{u}]" for n, u in zip(("kp", "ki", "kd"), units, strict=False) if u}
    gain = f"K [{units[0]}]" if units and units[0] else "K"
    return (
        *(gain if name == "K" else written.get(name, name) for name in _HEAD),
        f"{view.recommended.name} against it",
    )


def _rows(view: View, controller: ControllerResult) -> list[Html]:
    change = _change(view, controller)
    if isinstance(controller.gains, NotAvailable):
        cell = element("td", missing(controller.gains.reason), colspan="8", class_="words")
        return [element("tr", _name(view, controller, ""), cell, element("td", change))]
    many = len(controller.gains) > 1
    rows = []
    for channel, gains in zip(view.data.channels, controller.gains, strict=False):
        name = _name(view, controller, f", {channel.output}" if many else "", gains.at)
        rows.append(element("tr", name, *_cells(gains), element("td", change)))
        rows += [_node(node) for node in gains.nodes]
    return rows


def _node(gains: ChannelGains) -> Html:
    """A further node of a gain table, under the first."""
    return element("tr", element("th", element("small", gains.at), scope="row"), *_cells(gains), element("td"))


def _name(view: View, controller: ControllerResult, suffix: str, at: str = "") -> Html:
    roles = {view.compared.key: "compared with", view.recommended.key: "recommended"}
    role = roles.get(controller.key) or ("present" if controller.key == view.data.verdict.present else "")
    tag = element("span", role, class_="tag") if role else ""
    where = element("small", at) if at else ""
    return element("th", swatch(view.styles[controller.key]), controller.name, suffix, " ", tag, where, scope="row")


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


def _change(view: View, controller: ControllerResult) -> Html:
    if controller is view.recommended:
        return join(("–",))
    found = view.comparison(view.recommended.key, controller.key)
    if found is None or not finite(found.change.value):
        return missing()
    return join((proven(found.change), element("small", "equal travel" if found.equal_travel else "free travel")))
