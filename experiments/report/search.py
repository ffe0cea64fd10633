"""Fitness history: how every search converged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element
from experiments.report.numbers import count, missing, shown
from experiments.report.view import section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.data import SearchHistory
    from experiments.report.view import View


def searches(view: View) -> Html:
    """One chart of all searches, one row each."""
    lead = "Best cost so far over the closed-loop evaluations spent, taught situations; thin: mean of a generation."
    found = [s for s in view.data.searches if len(s.evaluations)]
    if not found:
        return section("search", "Fitness history", element("p", missing("the run made no search")), lead=lead)
    curves = [_curve(view, s, s.mean, "mean of ", " thin") for s in found if s.mean is not None]
    curves += [_curve(view, s, s.best, "", "") for s in found]
    positive = np.concatenate([c.y[np.isfinite(c.y)] for c in curves if c.sets_range])
    log = bool(positive.size and positive.min() > 0.0 and positive.max() > 8.0 * positive.min())
    chart = LineChart("cost J", tuple(curves), x_label="evaluations", x_unit="", width=820.0, height=300.0, log=log)
    figure = element("figure", line_chart(chart), class_="single")
    head = (
        "Search",
        "evaluations",
        "first best J",
        "final best J",
        "last improvement at",
        words_head("settings and end"),
    )
    used = {s.controller for s in found}
    legend = view.legend([c for c in view.data.controllers if c.key in used])
    return section("search", "Fitness history", legend, figure, table(head, [_row(view, s) for s in found]), lead=lead)


def _curve(view: View, search: SearchHistory, y: np.ndarray, prefix: str, style: str) -> Curve:
    known = view.curve_style(search.controller) if search.controller else "other"
    values = np.asarray(y, dtype=float)
    # A generation with a loop that diverged has a huge mean: means may leave the chart.
    return Curve(search.evaluations, values, prefix + search.name, known + style, sets_range=not style)


def _row(view: View, search: SearchHistory) -> Html:
    best = search.best
    changed = np.flatnonzero(np.diff(best) < 0.0)
    last = search.evaluations[changed[-1] + 1] if changed.size else search.evaluations[0]
    mark = swatch(view.styles[search.controller]) if search.controller else ""
    cells = [float(search.evaluations[-1]), float(best[0]), float(best[-1]), float(last)]
    numbers = [element("td", count(v) if i in {0, 3} else shown(v)) for i, v in enumerate(cells)]
    name = element("th", mark, search.name, scope="row")
    return element("tr", name, *numbers, element("td", search.text, class_="words"))
