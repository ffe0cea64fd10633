"""What to type: gains in standard and in parallel form, a schedule as a table over its variables."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.report.answer import what_to_type, without_present
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import missing, number, shown
from experiments.report.gain_nodes import gain_nodes, lasting_errors
from experiments.report.records.gains import NAN
from experiments.report.records.results import ControllerResult, NotAvailable
from experiments.report.sections.view import PageView, table

if TYPE_CHECKING:
    from experiments.report.records.gains import ChannelGains

    Cells = list[tuple[object, ...]]

_MOST_NODES = 6  # of a schedule, that the first screen has room for; more of them fold
_MOST_OPEN = 9  # of the recommended schedule: what is to be typed in is seen at once
_HEAD = ("K", "Ti [s]", "Td [s]", "N", "kp", "ki", "kd", "b")
_NONE: tuple[object, ...] = (element("span", "–", title="no such form", class_="missing"),)


def gains_table(view: PageView) -> Html:
    """Recommended, compared and present gains; the others follow folded away."""
    verdict = view.data.verdict
    first = dict.fromkeys(k for k in (verdict.recommended, verdict.compared_with, verdict.present) if k)
    rest = [c for c in view.data.controllers if c.key not in first]
    shown_first = [row for key in first for row in _rows(view, view.data.controller(key), _MOST_NODES)]
    schedules = [one for key in first for one in _schedules(view, view.data.controller(key))]
    folded = ""
    if rest:
        rows = [row for controller in rest for row in _rows(view, controller)]
        summary = element("summary", f"Gains of the other {len(rest)} controllers")
        folded = element("details", summary, _table(view, rows))
    formula, *settings = what_to_type(view.data)
    if not verdict.present:
        settings.append(without_present(view.data))
    title = join((element("h3", f"What to type: {formula}"), element("p", "; ".join(settings), ".", class_="formula")))
    notes = [
        element("p", element("b", "⚠ "), text, ".", class_="alert") for text in lasting_errors(view.data, finer=True)
    ]
    return element("div", title, _table(view, shown_first), *notes, *schedules, folded, class_="gains")


def _table(view: PageView, rows: list[Html]) -> Html:
    return table(("Controller", *_head(view)), rows)


def _head(view: PageView) -> tuple[str, ...]:
    units = view.data.channels[0].gain_units if len(view.data.channels) == 1 else ()
    written = {n: f"{n} [{u}]" for n, u in zip(("kp", "ki", "kd"), units, strict=False) if u}
    gain = f"K [{units[0]}]" if units and units[0] else "K"
    return (
        *(gain if name == "K" else written.get(name, name) for name in _HEAD),
        "Ms",
        view.with_unit("travel", "total_variation"),
    )


def _rows(view: PageView, controller: ControllerResult, most: float = math.inf) -> list[Html]:
    """A row for each channel and, where a schedule has so many at most, for each node."""
    tail = _ms_and_travel(controller)
    if isinstance(controller.gains, NotAvailable):
        cell = element("td", missing(controller.gains.reason), colspan="8", class_="words wide")
        ends = [element("td", *content, data_name=n) for n, content in zip(_head(view)[-2:], tail, strict=True)]
        return [element("tr", _name(view, controller, ""), cell, *ends)]
    many = len(controller.gains) > 1
    rows = []
    for i, (channel, gains) in enumerate(zip(view.data.channels, controller.gains, strict=False)):
        units = dict(zip(("kp", "ki", "kd"), channel.gain_units, strict=False)) if many else {}
        told = [", ".join(f"{n} [{u}]" for n, u in units.items() if u), gains.at]
        nodes, _ = _nodes(view, controller, i, gains)
        told += ["points to type in: below"] if gains.ruled and nodes else []
        name = _name(view, controller, f", {channel.output}" if many else "", "; ".join(filter(None, told)))
        rows.append(_row(view, name, [*_cells(gains), *tail]))
        rows += [_node(view, node) for node in nodes] if len(nodes) <= most else []
    return rows


def _schedules(view: PageView, controller: ControllerResult) -> list[Html]:
    """The schedules that have more nodes, folded."""
    if isinstance(controller.gains, NotAvailable):
        return []
    found = []
    for i, (channel, gains) in enumerate(zip(view.data.channels, controller.gains, strict=False)):
        nodes, between = _nodes(view, controller, i, gains)
        if len(nodes) > _MOST_NODES:
            of = f", {channel.output}" if len(view.data.channels) > 1 else ""
            summary = element("summary", f"{controller.name}{of}: gains to type in at {len(nodes)} points")
            note = element("p", f"{between[:1].upper()}{between[1:]}.") if between else ""
            few = controller is view.recommended and len(nodes) <= _MOST_OPEN
            rows = _table(view, [_node(view, node) for node in nodes])
            found.append(element("details", summary, note, rows, open=few or None))
    return found


def _row(view: PageView, name: Html, cells: Cells) -> Html:
    """A row whose cells know their headings: on a narrow screen the head of the table is not there."""
    named = zip(_head(view), cells, strict=False)
    return element(
        "tr", name, *(element("td", *content, data_name=head if any(content) else None) for head, content in named)
    )


def _node(view: PageView, gains: ChannelGains) -> Html:
    """A further node of a schedule, under the first."""
    return _row(view, element("th", element("small", gains.at), scope="row"), [*_cells(gains), ("",), ("",)])


def _nodes(
    view: PageView, controller: ControllerResult, channel: int, gains: ChannelGains
) -> tuple[list[ChannelGains], str]:
    """The further nodes of a table, or the gains of the recommended knowledge base over its scheduling variables.

    With what is said of the gains between them.
    """
    known = view.data.knowledge
    if known is None or controller is not view.recommended or controller.key != known.controller:
        return list(gains.nodes), ""
    nodes = gain_nodes(known.kb, channel, finer=True)
    rows = [replace(gains, kp=kp, ki=ki, kd=kd, low=None, high=None, at=at) for at, (kp, ki, kd) in nodes.rows]
    return rows, nodes.between


def _name(view: PageView, controller: ControllerResult, suffix: str, at: str = "") -> Html:
    roles = {view.compared.key: "compared with", view.recommended.key: "recommended"}
    role = roles.get(controller.key) or ("present" if controller.key == view.data.verdict.present else "")
    tag = element("span", role, class_="tag") if role else ""
    where = element("small", at) if at else ""
    return view.row_head(controller, suffix, " ", tag, where)


def _cells(gains: ChannelGains) -> Cells:
    if gains.ruled:  # one number would be taken for what is to be typed in
        return [_NONE] * 4 + _ranges(gains) + [(shown(gains.set_point_weight, digits=3),)]
    k, ti, td, n = gains.standard
    times = [("none",) if time in {0.0, math.inf} else _number(time) for time in (ti, td)]
    parallel: Cells = [(shown(value),) for value in (gains.kp, gains.ki, gains.kd)]
    return [_number(k), *times, _number(n), *parallel, (shown(gains.set_point_weight, digits=3),)]


def _ranges(gains: ChannelGains) -> Cells:
    """From the least to the largest gains of a schedule."""
    ends = zip(gains.low or (), gains.high or (), strict=True)
    return [(number(low) if low == high else f"{number(low, 3)} … {number(high, 3)}",) for low, high in ends]


def _number(value: float, digits: int = 4) -> tuple[object, ...]:
    """A number, or a dash: K = 0 has no standard form, no derivative action no N; no filter gives an infinite N."""
    return _NONE if math.isnan(value) else (number(value, digits),)


def _ms_and_travel(controller: ControllerResult) -> Cells:
    margins = controller.margins
    peak = NAN if isinstance(margins, NotAvailable) else margins.sensitivity_peak
    return [_number(peak, 3), _number(controller.travel)]
