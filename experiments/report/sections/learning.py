"""How the controllers were found: how every search converged, the teaching signal, the structure of the knowledge base.

The teaching signal is shown with how much each window knew and what was learned; the structure as which inputs, how
many rules; a design prints it in lines, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import count, missing, number, percent, shown
from experiments.report.recorded import MOST, method_words
from experiments.report.records.gains import NAN
from experiments.report.records.results import Array, NotAvailable
from experiments.report.sections.view import PageView, finite, multiples, section, swatch, table, words_head
from sscq.search.descent import COST, GradientDescent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.pipeline.knowledge import Refined
    from experiments.report.records.learning import SearchHistory, TeachingView
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from flcs.refinement.rule_count import TradeOff
    from sscq.teaching.teaching_signal import TeachingSignal


def searches(view: PageView) -> Html:
    """One chart of all searches, one row each."""
    lead = (
        "Best cost so far over the closed-loop evaluations spent, taught situations; thin: mean of a generation. A row "
        "counts one search. The ladder counts all that a controller needed beside the fixed PID, from which all begin: "
        "teaching signal, what it grew from, searches not chosen (other inputs, other starts), of which gain tables "
        "alone are drawn, in grey."
    )
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
    rows = table(head, [_row(view, s) for s in found])
    return section("search", "Fitness history", legend, figure, rows, *_shares(found), lead=lead)


_GRADIENT = method_words(GradientDescent.__name__)


def _shares(found: Sequence[SearchHistory]) -> list[Html]:
    """What part of all evaluations each method had."""
    spent: dict[str, float] = {}
    for method, evaluations in (pair for search in found for pair in search.spent):
        spent[method] = spent.get(method, 0.0) + evaluations
    total = sum(spent.values())
    if not total:
        return []
    parts = ", ".join(f"{method} {count(100.0 * n / total)} %" for method, n in spent.items())
    slopes = f" A genome with its slopes counts {COST}." if _GRADIENT in spent else ""
    text = f"Of {count(total)} evaluations: {parts}.{slopes}"
    return [element("p", text)]


def _curve(view: PageView, search: SearchHistory, y: np.ndarray, prefix: str, style: str) -> Curve:
    known = view.curve_style(search.controller) if search.controller else "other"
    values = np.asarray(y, dtype=float)
    # A generation with a loop that diverged has a huge mean: means may leave the chart.
    return Curve(search.evaluations, values, prefix + search.name, known + style, sets_range=not style)


def _row(view: PageView, search: SearchHistory) -> Html:
    best = search.best
    changed = np.flatnonzero(np.diff(best) < 0.0)
    last = search.evaluations[changed[-1] + 1] if changed.size else search.evaluations[0]
    mark = swatch(view.styles[search.controller]) if search.controller else ""
    cells = [float(search.evaluations[-1]), float(best[0]), float(best[-1]), float(last)]
    numbers = [element("td", count(v) if i in {0, 3} else shown(v)) for i, v in enumerate(cells)]
    name = element("th", mark, search.name, scope="row")
    return element("tr", name, *numbers, element("td", search.text, class_="words"))


_GAIN_HEIGHT, _WEIGHT_HEIGHT = 105.0, 90.0


def teaching_signal(view: PageView) -> Html:
    """One figure per taught situation: gains, and their weight."""
    lead = (
        "Best gains over time that a search found, window after window; the knowledge base learned from these rows, "
        "each with its weight. A weight near 0: the gains hardly matter there, so the best ones are an accident."
    )
    data = view.data.teaching
    if isinstance(data, NotAvailable):
        return section("teaching", "Teaching signal", element("p", missing(data.reason)), lead=lead)
    signal = data.signal
    assert signal is not None  # noqa: S101 - the files are read before anything is drawn
    figures = multiples(_figure(view, data, signal, i) for i in np.unique(signal.situation).tolist()[:MOST])
    return section("teaching", "Teaching signal", element("p", data.text), _keys(view, data), figures, lead=lead)


def _keys(view: PageView, data: TeachingView) -> Html:
    """What each line is; colours of controllers are those of the whole page."""
    found = [("taught", "teaching signal")]
    if data.learned is not None:
        found.append((_style(view, data.learner), "knowledge base that learned it, for the same inputs"))
    found.append((_style(view, data.start), "start: fixed gains"))
    keys = [element("span", swatch(style, hidden=None), text) for style, text in found]
    return element("p", *keys, class_="keys")


def _style(view: PageView, key: str) -> str:
    return view.colour(key) if key else "other"


def _figure(view: PageView, data: TeachingView, signal: TeachingSignal, situation: int) -> Html:
    rows = signal.situation == situation
    time = np.append(signal.time[rows], signal.time[rows][-1] + data.window)
    charts = [_gain_chart(view, data, signal, rows, k, time) for k in range(len(signal.gain_names))]
    weight = _held(time, signal.weight[rows], "weight", "taught")
    charts.append(line_chart(LineChart("weight", (weight,), y_range=(-0.03, 1.05), height=_WEIGHT_HEIGHT)))
    return element("figure", element("figcaption", element("b", data.labels[situation])), *charts)


def _gain_chart(view: PageView, data: TeachingView, signal: TeachingSignal, rows: Array, k: int, time: Array) -> Html:
    start = np.full(2, float(data.start_gains[k]))
    curves = [Curve(time[[0, -1]], start, "start", _style(view, data.start))]
    if data.learned is not None:
        curves.append(_held(time, data.learned[rows, k], "learned", _style(view, data.learner)))
    curves.append(_held(time, signal.gains[rows, k], "taught", "taught"))
    name = signal.gain_names[k]
    return line_chart(LineChart(name, tuple(curves), view.gain_unit(name), x_label="", height=_GAIN_HEIGHT))


def _held(time: Array, values: Array, name: str, style: str) -> Curve:
    """A curve that keeps each value through its window."""
    return Curve(np.repeat(time, 2)[1:-1], np.repeat(values, 2), name, style)


def structure(view: PageView) -> Html:
    """Inputs, terms and the number of rules."""
    lead = "What the knowledge base looks at and how many rules it needs, as measured in closed loop."
    known = view.data.knowledge
    training = {} if known is None else known.kb.training
    terms, inputs = terms_text(training), input_rows(training)
    parts = [element("p", terms)] if terms else []
    if inputs:
        parts += [element("h3", "Inputs"), _inputs(inputs)]
    if known is not None and known.curve is not None:
        parts += [element("h3", "Number of rules"), _trade_off(known.curve)]
    if not parts:
        parts = [element("p", missing("the run searched no structure") if known is None else _shape(known.kb))]
    return section("structure", "Structure of the knowledge base", *parts, lead=lead)


def _shape(kb: KnowledgeBase) -> str:
    """Inputs, terms and rules of a knowledge base whose structure was taken as it is."""
    looked_at = ", ".join(kb.input_names)
    counts = ", ".join(f"{len(base.active)} of {len(base.rules)} rules" for base in kb.channels)
    return f"It looks at {looked_at} and has {counts}. No search for fewer rules or inputs was made for it."


def _inputs(rows: tuple[InputRow, ...]) -> Html:
    head = ("input", "information [nat]", "by chance [nat]", "J without it, taught", "validation", words_head("choice"))
    return table(head, [_input(row) for row in rows])


def _input(row: InputRow) -> Html:
    cells = [element("td", number(v) if finite(v) else missing()) for v in (row.information, row.threshold)]
    cells += [element("td", percent(v) if finite(v) else missing()) for v in (row.taught, row.validation)]
    return element("tr", element("th", row.name, scope="row"), *cells, element("td", row.text, class_="words"))


_WHOSE_COST = (
    "This J is the search's own: the taught situations, and a price wherever the loop falls short of the margins that "
    "are asked for. So it differs from the J taught of the tables, which judge the finished controller by its tasks "
    "alone, after its gains were held to what the last rules can prove."
)


def _trade_off(found: TradeOff) -> Html:
    rules = np.array([float(p.rules) for p in found.points])
    taught, validation = np.array([p.taught for p in found.points]), [p.validation for p in found.points]
    curves = [Curve(rules[::-1], taught[::-1], "J taught", "term t0")]
    if None not in validation:
        curves.append(Curve(rules[::-1], np.array(validation, dtype=float)[::-1], "J validation", "term t1"))
    kept, values = float(found.kept.rules), np.concatenate([c.y[np.isfinite(c.y)] for c in curves])
    ends = np.array([values.min(), values.max()])
    curves.append(Curve(np.array([kept, kept]), ends, "kept", "term t2", sets_range=False))
    log = bool(ends[0] > 0.0 and ends[1] > 8.0 * ends[0])
    best = float(np.min(taught))  # on the way down; the loss is allowed from there
    chart = LineChart(
        "cost J", tuple(curves), limits=(best + found.loss * abs(best),), x_label="rules left", x_unit="",
        width=820.0, height=260.0, log=log, remark=f"; kept: {kept:g} rules",
    )  # fmt: skip
    keys = (
        "Rules went one after the other, each time the one that the taught situations miss least. Solid: taught "
        "situations; long dashes: validation; dots: what is kept; across: the loss allowed when taught, from the best."
    )
    text = f"{found.sentence()}; allowed {100.0 * found.loss:g} %"
    words = element("p", element("b", text), ". ", keys, " ", _WHOSE_COST)
    return join((words, element("figure", line_chart(chart), class_="single")))


@dataclass(frozen=True)
class InputRow:
    """What one input is worth.

    Attributes
    ----------
    name : str
        With the channel, where there are several.
    kept : bool
    information, threshold : float
        Mutual information with the gains and what shifted copies reach by chance [nat].
    taught, validation : float
        Relative change of the cost without it; NaN: not tried.
    text : str
        Why it stays or went.
    """

    name: str
    kept: bool
    information: float = NAN
    threshold: float = NAN
    taught: float = NAN
    validation: float = NAN
    text: str = ""


def input_rows(training: Mapping[str, Any]) -> tuple[InputRow, ...]:
    """Return a row for every input that was a candidate, from a knowledge base's record of its training."""
    found, rows = training.get("structure", {}), []
    for channel, record in found.items():
        told, valued = record.get("information", {}), record.get("inputs", {})
        for name in dict.fromkeys([*told, *valued]):
            one, value = told.get(name, {}), valued.get(name)
            rows.append(
                InputRow(
                    name=name if len(found) == 1 else f"{name} of {channel}",
                    kept=one.get("kept", True) if value is None else value["kept"],
                    information=_nat(one.get("information")),
                    threshold=_nat(one.get("threshold")),
                    taught=_nat(value and value["taught"]),
                    validation=_nat(value and value["validation"]),
                    text=_choice(one, value),
                )
            )
    return tuple(rows)


def _nat(value: float | None) -> float:
    return NAN if value is None else float(value)


def _choice(told: Mapping[str, Any], value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "kept" if told["kept"] else "left out: it tells no more about the gains than chance"
    return ": ".join(filter(None, ("kept" if value["kept"] else "left out", value["text"])))


def terms_text(training: Mapping[str, Any]) -> str:
    """Return what the search over linguistic terms found, in a sentence for every channel."""
    found, parts = training.get("structure", {}), []
    for channel, record in found.items():
        if "terms" in record:
            terms = record["terms"]
            counts = ", ".join(f"{name} {one['terms']}" for name, one in terms["inputs"].items())
            where = "" if len(found) == 1 else f" of {channel}"
            parts.append(
                f"Terms{where} by genetic search: {counts}; {terms['shape']}; the rules tell "
                f"{terms['information']:.3g} nat about the gains, less what as many would tell by chance."
            )
    return " ".join(parts)


def sentences(refined: Mapping[str, Refined]) -> list[str]:
    """Return the structure in lines, and one line for every refined knowledge base."""
    titles = {"equal": "knowledge base", "free": "knowledge base, free actuator travel"}
    training: Mapping[str, Any] = next((one.kb.training for one in refined.values()), {})
    lines = [line for line in (terms_text(training), *map(_input_line, input_rows(training))) if line]
    return lines + [f"{titles[kind]}: {one.curve.sentence()}" for kind, one in refined.items() if one.curve is not None]


def _input_line(row: InputRow) -> str:
    """One input as text: what it tells, what the loop loses without it, and the choice."""
    told = "" if math.isnan(row.information) else f" tells {row.information:.3g} nat (by chance {row.threshold:.3g});"
    lost = (
        ""
        if math.isnan(row.taught)
        else f" without it {100.0 * row.taught:+.1f} % (validation {100.0 * row.validation:+.1f} %);"
    )
    return f"input {row.name}:{told}{lost} {row.text}"
