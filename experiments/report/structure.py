"""How the structure of the knowledge base was found: which inputs, how many rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element, join
from experiments.report.numbers import missing, number, percent
from experiments.report.view import finite, section, table, words_head

if TYPE_CHECKING:
    from experiments.report.structure_data import InputRow, TradeOffView
    from experiments.report.view import View


def structure(view: View) -> Html:
    """Inputs, terms and the number of rules."""
    lead = "What the knowledge base looks at and how many rules it needs, as measured in closed loop."
    found = view.data.structure
    parts = [element("p", found.terms)] if found.terms else []
    if found.inputs:
        parts += [element("h3", "Inputs"), _inputs(found.inputs)]
    if found.trade_off is not None:
        parts += [element("h3", "Number of rules"), _trade_off(found.trade_off)]
    if not parts:
        parts = [element("p", missing("the run searched no structure"))]
    return section("structure", "Structure of the knowledge base", *parts, lead=lead)


def _inputs(rows: tuple[InputRow, ...]) -> Html:
    head = ("input", "information [nat]", "by chance [nat]", "J without it, taught", "validation", words_head("choice"))
    return table(head, [_input(row) for row in rows])


def _input(row: InputRow) -> Html:
    cells = [element("td", number(v) if finite(v) else missing()) for v in (row.information, row.threshold)]
    cells += [element("td", percent(v) if finite(v) else missing()) for v in (row.taught, row.validation)]
    return element("tr", element("th", row.name, scope="row"), *cells, element("td", row.text, class_="words"))


def _allowed(found: TradeOffView) -> float:
    """Largest cost in the taught situations: from the best base on the way down."""
    best = float(np.min(found.taught))
    return best + found.loss * abs(best)


def _trade_off(found: TradeOffView) -> Html:
    rules = np.asarray(found.rules, dtype=float)[::-1]
    curves = [Curve(rules, found.taught[::-1], "J taught", "term t0")]
    if found.validation is not None:
        curves.append(Curve(rules, found.validation[::-1], "J validation", "term t1"))
    kept, values = float(found.rules[found.chosen]), np.concatenate([c.y[np.isfinite(c.y)] for c in curves])
    ends = np.array([values.min(), values.max()])
    curves.append(Curve(np.array([kept, kept]), ends, "kept", "term t2", sets_range=False))
    log = bool(ends[0] > 0.0 and ends[1] > 8.0 * ends[0])
    chart = LineChart(
        "cost J", tuple(curves), limits=(_allowed(found),), x_label="rules left", x_unit="",
        width=820.0, height=260.0, log=log, remark=f"; kept: {kept:g} rules",
    )  # fmt: skip
    keys = (
        "Rules went one after the other, each time the one that the taught situations miss least. Solid: taught "
        "situations; long dashes: validation; dots: what is kept; across: the loss allowed when taught, from the best."
    )
    words = element("p", element("b", found.text), ". ", keys)
    return join((words, element("figure", line_chart(chart), class_="single")))
