"""The trade-off front: tracking error against what it costs, with the controllers of the ladder beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.markup import Html, element
from experiments.report.numbers import number, percent, shown
from experiments.report.scatter import Dots, Scatter, scatter
from experiments.report.view import change, section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.situations import Array
    from experiments.report.view import View

_DRAWN = ("least error", "knee", "chosen")  # names that stand in the drawing; the others in the table alone
SMALL, LARGE = 2.5, 7.5  # radii of the dots with the least and the most of the third objective [pixels]


@dataclass(frozen=True, eq=False)
class FrontSeries:
    """The front of one kind of controller.

    Attributes
    ----------
    name : str
    controller : str
        Key of the controller whose colour it has; empty: none.
    values : array [n, n_objectives]
    points : tuple of (name, position)
        Points that are named.
    gain_names : tuple of str
        Empty where the parameters are too many to be shown.
    gains : array [n, n_gains]
    text : str
        Evaluations, what the budget buys.
    """

    name: str
    controller: str
    values: Array
    points: tuple[tuple[str, int], ...]
    gain_names: tuple[str, ...]
    gains: Array
    text: str


@dataclass(frozen=True, eq=False)
class FrontView:
    """What the section shows.

    Attributes
    ----------
    labels : tuple of str
        Names of the objectives.
    series : tuple of FrontSeries
    marks : tuple of (controller key, array [n_objectives])
        Where the ladder's controllers lie.
    text : str
        What was searched, how far and how the point was chosen.
    """

    labels: tuple[str, ...]
    series: tuple[FrontSeries, ...]
    marks: tuple[tuple[str, Array], ...]
    text: str


def front(view: View) -> Html:
    """Chart and table, or nothing where no front was searched."""
    shown_one = view.data.front
    if shown_one is None:
        return Html("")
    keys = {s.controller for s in shown_one.series} | {key for key, _ in shown_one.marks}
    legend = view.legend([c for c in view.data.controllers if c.key in keys], "dots: the front; diamonds: the ladder")
    chart = element("figure", scatter(_chart(view, shown_one)), class_="single")
    tables = [
        part
        for s in shown_one.series
        for part in (element("h3", s.name[:1].upper() + s.name[1:]), _table(view, shown_one, s))
    ]
    return section("front", "Trade-off front", legend, chart, *tables, lead=shown_one.text)


def _chart(view: View, given: FrontView) -> Scatter:
    third = [s.values[:, 2] for s in given.series if s.values.shape[1] > 2]
    sizes = (float(np.min(np.concatenate(third))), float(np.max(np.concatenate(third)))) if third else (0.0, 0.0)
    dots = [_front_dots(view, given, series, sizes) for series in given.series]
    marks = [
        Dots(
            values[:1], values[1:2], np.array([6.0]), f"{view.styles[key]} {view.slot(key)}",
            (f"{view.data.controller(key).name}: {_values(given, values)}",), diamonds=True, sets_range=False,
        )
        for key, values in given.marks
    ]  # fmt: skip
    names = tuple(
        (float(s.values[i, 0]), float(s.values[i, 1]), ", ".join(name for name in several if name in _DRAWN))
        for s in given.series
        for i, several in _by_place(s).items()
        if set(_DRAWN) & set(several)
    )
    size = f"; larger dots: more {given.labels[2]}" if third else ""
    return Scatter(given.labels[0], given.labels[1], (*dots, *marks), names, remark=size)


def _front_dots(view: View, given: FrontView, series: FrontSeries, sizes: tuple[float, float]) -> Dots:
    style = f"{view.colour(series.controller)} {view.slot(series.controller)}" if series.controller else ""
    titles = tuple(f"{series.name}: {_values(given, row)}{_gains(series, i)}" for i, row in enumerate(series.values))
    radius = np.full(len(series.values), 3.5)
    if series.values.shape[1] > 2 and sizes[1] > sizes[0]:
        # The area tells, as the eye compares areas.
        part = (series.values[:, 2] - sizes[0]) / (sizes[1] - sizes[0])
        radius = np.sqrt(SMALL**2 + np.clip(part, 0.0, 1.0) * (LARGE**2 - SMALL**2))
    return Dots(series.values[:, 0], series.values[:, 1], radius, style, titles)


def _by_place(series: FrontSeries) -> dict[int, list[str]]:
    """Names of each named point, in order of the tracking error."""
    found: dict[int, list[str]] = {}
    for name, i in series.points:
        found.setdefault(i, []).append(name)
    return dict(sorted(found.items()))


def _values(given: FrontView, values: Array) -> str:
    return ", ".join(f"{label} {number(float(v))}" for label, v in zip(given.labels, values, strict=True))


def _gains(series: FrontSeries, i: int) -> str:
    found = [f"{name} {number(float(v), 3)}" for name, v in zip(series.gain_names, series.gains[i], strict=False)]
    return f"; {', '.join(found)}" if series.gain_names else ""


def _table(view: View, given: FrontView, series: FrontSeries) -> Html:
    """Named points of a front, then the ladder's controllers, each against the least error."""
    least = series.values[int(np.argmin(series.values[:, 0]))]
    head = [words_head(series.name), *series.gain_names]
    head += [cell for label in given.labels for cell in (label, "against it")]
    colour = swatch(view.styles[series.controller]) if series.controller else ""
    rows = [
        _row(element("th", colour, ", ".join(names), scope="row"), series.gains[i] if series.gain_names else (),
             series.values[i], least, "chosen" if "chosen" in names else None)
        for i, names in _by_place(series).items()
    ]  # fmt: skip
    for key, values in given.marks:
        name = element("th", swatch(view.styles[key]), view.data.controller(key).name, scope="row")
        rows.append(_row(name, [None] * len(series.gain_names), values, least, None))
    return Html(table(head, rows, caption=series.text))


def _row(name: Html, gains: object, values: Array, least: Array, style: str | None) -> Html:
    cells = [element("td", shown(None if g is None else float(g)) if g is not None else "") for g in gains]  # type: ignore[attr-defined]
    for value, base in zip(values, least, strict=True):
        cells += [element("td", shown(float(value))), element("td", percent(change(float(value), float(base))))]
    return element("tr", name, *cells, class_=style)
