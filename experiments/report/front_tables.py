"""Tables of the trade-off fronts: their named points, and what each offers at no more of the second objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.front_view import by_place
from experiments.report.markup import Html, element
from experiments.report.numbers import percent, shown
from experiments.report.view import change, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.front_view import FrontSeries, FrontView
    from experiments.report.situations import Array
    from experiments.report.view import View


def front_table(view: View, given: FrontView, series: FrontSeries) -> Html:
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
        name = element("th", swatch(view.styles[key]), view.data.controller(key).name, scope="row")
        rows.append(_row(name, [None] * len(series.gain_names), values, least, None))
    return Html(table(head, rows, caption=series.text))


def _row(name: Html, gains: object, values: Array, least: Array, style: str | None) -> Html:
    cells = [element("td", shown(None if g is None else float(g)) if g is not None else "") for g in gains]  # type: ignore[attr-defined]
    for value, base in zip(values, least, strict=True):
        cells += [element("td", shown(float(value))), element("td", percent(change(float(value), float(base))))]
    return element("tr", name, *cells, class_=style)


def equal_table(view: View, given: FrontView) -> Html:
    """Return what each front of two objectives offers at no more of the second than a controller has; else nothing."""
    if len(given.labels) != 2 or not given.marks:
        return Html("")
    first, second = given.labels
    head = ["no worse than", given.head(1), given.head(0)]
    head += [cell for s in given.series for cell in (s.name, "against it")]
    rows = []
    for key, values in given.marks:
        name = element("th", swatch(view.styles[key]), view.data.controller(key).name, scope="row")
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
