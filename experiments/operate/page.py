"""The page of `sscq operate`: what changed, what the supervisor decided and why, and what it gained.

Of several seeds the first is drawn; the table of contenders is of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.operate import told
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, document, element, join
from experiments.report.drawing.numbers import number, shown
from experiments.report.sections.view import multiples, section, swatch, table, words_head
from sscq.operation.contest import CONTENDERS
from sscq.operation.course import read_course
from sscq.operation.supervisor import RENEWED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Timeline = Sequence[Mapping[str, Any]]

_STYLES = {"knowledge_base": "k0 strong", "never": "k1", "fixed": "k2", "renewed": "k3", "oracle": "k4"}
_SUPERVISED = ("knowledge_base", "renewed")
_WIDE, _POINTS = 940.0, 200


def page(given: Mapping[str, Any]) -> str:
    """Return the page."""
    run = given["runs"][0]
    shown_ones = [name for name in _SUPERVISED if name in run["timelines"]]
    parts = [
        _contenders(given),
        section("course", "What changed", multiples(_courses(given, run)), lead=_course_lead(given), folded=False),
        section("windows", "Error of every window", *_windows(given, run), folded=False),
        *(_decisions(name, run["timelines"][name]) for name in shown_ones),
    ]
    subtitle = f"{given['plant']}, {given['windows']} windows of {given['window']:g} s"
    return document("In operation:", subtitle, *parts)


def _contenders(given: Mapping[str, Any]) -> Html:
    seeds = len(given["runs"])
    of = "" if seeds == 1 else f" Means of IAE and travel over {seeds} seeds, sums of what is counted."
    lead = (
        f"The same course, noise and budget for all. Searches may use a mean travel of {given['travel']:.4g} in a "
        f"situation, or what the knowledge base never renewed uses there.{of}"
    )
    rows = [
        element("tr", element("th", title, scope="row"), *(element("td", cell) for cell in cells))
        for title, *cells in told.rows(given)
    ]
    return section("contenders", "The contenders", table(told.HEAD, rows), lead=lead, folded=False)


def _course_lead(given: Mapping[str, Any]) -> str:
    return f"Declared: {given['drift']}. Crosses: what was told at the end of a window, 5 to 95 %."


def _courses(given: Mapping[str, Any], run: Mapping[str, Any]) -> list[Html]:
    """A chart for each parameter: its course and what the supervisor of the knowledge base believed."""
    course, end = read_course(given["drift"]), given["windows"] * given["window"]
    time = np.linspace(0.0, end, _POINTS)
    timeline = run["timelines"].get("knowledge_base", ())
    charts = []
    for name in course.names:
        truth = np.array([course.at(float(t))[name] for t in time])
        curves = [Curve(time, truth, "course", "reference")]
        for one in timeline:
            if name in one["estimate"]:
                low, middle, high = one["estimate"][name]
                at, wide = one["time"], 0.008 * end
                x = np.array([at, at, np.nan, at - wide, at + wide])
                curves.append(Curve(x, np.array([low, high, np.nan, middle, middle]), "estimate", "k0"))
        unit = given["units"][name]
        chart = LineChart(name, tuple(curves), unit="" if unit == "1" else unit, height=190.0)
        charts.append(element("figure", line_chart(chart)))
    return charts


def _windows(given: Mapping[str, Any], run: Mapping[str, Any]) -> list[Html]:
    """IAE of every window and contender as steps; handovers are named above."""
    names = [name for name in CONTENDERS if name in run["timelines"]]
    edges = np.arange(given["windows"] + 1) * given["window"]
    steps = np.repeat(edges, 2)[1:-1]
    curves = []
    for name in reversed(names):
        values = np.repeat([one["iae"] for one in run["timelines"][name]], 2)
        curves.append(Curve(steps, values, CONTENDERS[name], _STYLES[name]))
    renewed = [one for one in run["timelines"].get("knowledge_base", ()) if one["decision"] == RENEWED]
    notes = tuple((one["time"], "renewed") for one in renewed)
    chart = LineChart("IAE of a window", tuple(curves), width=_WIDE, height=260.0, notes=notes, log=True)
    keys = [element("span", swatch(_STYLES[name]), CONTENDERS[name], class_="chip") for name in names]
    return [element("div", *keys, class_="legend"), element("figure", line_chart(chart))]


def _decisions(name: str, timeline: Timeline) -> Html:
    """What was decided after every window."""
    rows = []
    for before, one in zip((None, *timeline), timeline, strict=False):
        back = "" if one["rolled_back_at"] is None else f"rolled back at {one['rolled_back_at']:g} s"
        lost = "" if one["lost_at"] is None else f"lost by {one['lost_at']:g} s"
        change = "" if before is None else _percent(one["iae"] / before["iae"] - 1.0)
        rows.append(
            element(
                "tr",
                element("td", f"{one['time']:g}"),
                element(
                    "td", "; ".join(f"{key} {number(value)}" for key, value in one["truth"].items()), class_="words"
                ),
                element("td", _estimated(one), class_="words"),
                element("td", element("b", one["decision"]) if one["decision"] == RENEWED else one["decision"]),
                element("td", one["words"], class_="words"),
                element("td", number(one["iae"])),
                element("td", change),
                element("td", _bump(one)),
                element("td", ", ".join(filter(None, (lost, back)))),
            )
        )
    words = [words_head(name) for name in ("true", "told (5, 50, 95 %)")]
    head = ("t [s]", *words, "decision", words_head("why"), "IAE", "to the window before", "bump", "events")
    title = f"What was decided: {CONTENDERS[name]}"
    lead = "After each window. The bump is by how much the commands jumped when new numbers took over."
    return section(f"decided_{name}", title, table(head, rows), lead=lead, folded=False)


def _percent(relative: float) -> str:
    return f"{100.0 * relative:+.1f} %"


def _estimated(one: Mapping[str, Any]) -> Html:
    told_values = (
        f"{name} {', '.join(number(value, 3) for value in values)}" for name, values in one["estimate"].items()
    )
    return join(told_values, "; ")


def _bump(one: Mapping[str, Any]) -> Html:
    bump = one["numbers"].get("bump")
    return join("") if bump is None else shown(max(map(abs, bump)))
