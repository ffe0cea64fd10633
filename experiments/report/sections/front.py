"""Trade-off fronts: tracking error against what it costs, or what else a plant trades off, the ladder beside them.

Tables hold the named points, and what each front offers at no more of the second objective.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.html import Html, element
from experiments.report.drawing.numbers import number, percent, shown
from experiments.report.drawing.scatter import Dots, Scatter, scatter
from experiments.report.records.learning import FrontSeries, FrontView, by_place
from experiments.report.sections.view import PageView, change, section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.records.results import Array


def front_table(view: PageView, given: FrontView, series: FrontSeries) -> Html:
    """Return named points of a front, then the ladder's controllers, each against the least first objective."""
    least = series.values[int(np.argmin(series.values[:, 0]))]
    head = [words_head(series.name), *series.gain_names]
    head += [cell for k in range(len(given.labels)) for cell in (given.head(k), "against it")]
    colour = swatch(view.styles[series.controller]) if series.controller else ""
    rows = [
        _row(element("th", colour, ", ".join(names), scope="row"), series.gains[i] if series.gain_names else (),
             series.values[i], least, "chosen" if "chosen" in names else None)
        for i, names in by_place(series).items()
    ]  # fmt: skip
    for key, values in () if series.own_points else given.marks:
        name = view.row_head(view.data.controller(key))
        rows.append(_row(name, [None] * len(series.gain_names), values, least, None))
    return Html(table(head, rows, caption=series.text))


def _row(name: Html, gains: object, values: Array, least: Array, style: str | None) -> Html:
    cells = [element("td", shown(None if g is None else float(g)) if g is not None else "") for g in gains]  # type: ignore[attr-defined]
    for value, base in zip(values, least, strict=True):
        cells += [element("td", shown(float(value))), element("td", percent(change(float(value), float(base))))]
    return element("tr", name, *cells, class_=style)


def equal_table(view: PageView, given: FrontView) -> Html:
    """Return what each front of two objectives offers at no more of the second than a controller has; else nothing."""
    if len(given.labels) != 2 or not given.marks:
        return Html("")
    first, second = given.labels
    head = ["no worse than", given.head(1), given.head(0)]
    head += [cell for s in given.series for cell in (s.name, "against it")]
    rows = []
    for key, values in given.marks:
        name = view.row_head(view.data.controller(key))
        cells = [element("td", shown(float(v))) for v in values[::-1]]
        for s in given.series:
            least = least_within(s.values, float(values[1]))
            cells.append(element("td", "-" if least is None else shown(least)))
            cells.append(element("td", "" if least is None else percent(change(least, float(values[0])))))
        rows.append(element("tr", name, *cells))
    text = f"Least {first} of each front at no more {second} than each controller has, in the taught situations."
    return Html(table(head, rows, caption=text))


def least_within(values: Array, limit: float) -> float | None:
    """Return the least first objective of a front [n, 2] where the second is at most a limit; None where none is."""
    allowed = values[
        values[:, 1] <= limit * (1.0 + 1e-9), 0
    ]  # a front's own point keeps its own limit, however rounded
    return float(allowed.min()) if allowed.size else None


_SMALL = 0.4  # of a chart's side: fronts that fill less are drawn from near too
_FEW = 2  # fronts, of which least first objective and knee are named in the drawing too; of more the chosen point alone
SMALL, LARGE = 2.5, 7.5  # radii of the dots with the least and the most of the third objective [pixels]


def front(view: PageView) -> Html:
    """Chart and table, or nothing where no front was searched."""
    shown_one = view.data.front
    if shown_one is None:
        return Html("")
    legend = element("p", *_keys(view, shown_one), class_="keys")
    charts = [element("figure", scatter(chart), class_="single") for chart in _charts(view, shown_one)]
    tables = [
        part
        for s in shown_one.series
        for part in (element("h3", s.name[:1].upper() + s.name[1:]), front_table(view, shown_one, s))
    ]
    equal = equal_table(view, shown_one)
    return section("front", "Trade-off front", legend, *charts, equal, *tables, lead=shown_one.text)


def _keys(view: PageView, given: FrontView) -> list[Html]:
    """Colours of the fronts; the controllers' stand by their names in the drawing and in the tables."""
    keys = [element("span", swatch(view.styles[s.controller]) if s.controller else "", s.name) for s in given.series]
    return [*keys, element("span", "dots: the front; diamonds: controllers that were judged")]


def _charts(view: PageView, given: FrontView) -> list[Scatter]:
    """All controllers in one chart where that is wished for, the fronts again from near where they are small in it."""
    near = _chart(view, given, whole=False)
    if not given.whole:
        return [near]
    fronts, marks = (np.vstack(rows)[:, :2] for rows in ([s.values for s in given.series], [v for _, v in given.marks]))
    small = np.ptp(fronts, axis=0) < _SMALL * np.ptp(np.vstack((fronts, marks)), axis=0)
    whole = _chart(view, given, whole=True)
    if not small.any():
        return [whole]
    return [replace(whole, rings=()), replace(near, remark=f"{near.remark}, the fronts from near", height=380.0)]


def _chart(view: PageView, given: FrontView, *, whole: bool) -> Scatter:
    third = [s.values[:, 2] for s in given.series if s.values.shape[1] > 2]
    sizes = (float(np.min(np.concatenate(third))), float(np.max(np.concatenate(third)))) if third else (0.0, 0.0)
    dots = [_front_dots(view, given, series, sizes) for series in given.series]
    marks = [
        Dots(
            values[:1], values[1:2], np.array([6.0]), _style(view, key),
            (f"{view.data.controller(key).name}: {_values(given, values)}",), diamonds=True, sets_range=whole,
        )
        for key, values in given.marks
    ]  # fmt: skip
    names = tuple((float(v[0]), float(v[1]), view.data.controller(key).name) for key, v in given.marks)
    size = f"; larger dots: more {given.labels[2]}" if third else ""
    return Scatter(
        given.labels[0], given.labels[1], (*dots, *marks), names, _rings(given), size, given.units[0], given.units[1],
        height=480.0 if len(names) > 6 else 380.0,
    )  # fmt: skip


def _rings(given: FrontView) -> tuple[tuple[float, float, str], ...]:
    """Points of the fronts that are named in the drawing: least first objective, knee and the chosen one."""
    found = []
    few = len(given.series) <= _FEW
    for k, s in enumerate(given.series):
        drawn = {"chosen"} | ({"knee"} if few else set()) | ({s.points[0][0]} if few and not k else set())
        for i, several in by_place(s).items():
            if named := [name for name in several if name in drawn]:
                found.append((float(s.values[i, 0]), float(s.values[i, 1]), ", ".join(named)))
    return tuple(found)


def _style(view: PageView, key: str) -> str:
    """Colour of a controller; hollow, its front's line broken, where another one has the same."""
    return view.styles[key] + (" hollow" if "broken" in view.styles[key] else "")


def _front_dots(view: PageView, given: FrontView, series: FrontSeries, sizes: tuple[float, float]) -> Dots:
    style = _style(view, series.controller) if series.controller else ""
    titles = tuple(f"{series.name}: {_values(given, row)}{_gains(series, i)}" for i, row in enumerate(series.values))
    radius = np.full(len(series.values), 3.5)
    if series.values.shape[1] > 2 and sizes[1] > sizes[0]:
        # The area tells, as the eye compares areas.
        part = (series.values[:, 2] - sizes[0]) / (sizes[1] - sizes[0])
        radius = np.sqrt(SMALL**2 + np.clip(part, 0.0, 1.0) * (LARGE**2 - SMALL**2))
    joined = series.values.shape[1] == 2
    return Dots(series.values[:, 0], series.values[:, 1], radius, style, titles, joined=joined)


def _values(given: FrontView, values: Array) -> str:
    told = zip(given.labels, values, given.units, strict=True)
    return ", ".join(f"{label} {number(float(v))} {unit}".rstrip() for label, v, unit in told)


def _gains(series: FrontSeries, i: int) -> str:
    found = [f"{name} {number(float(v), 3)}" for name, v in zip(series.gain_names, series.gains[i], strict=False)]
    return f"; {', '.join(found)}" if series.gain_names else ""
