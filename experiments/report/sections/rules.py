"""The knowledge base as a reader sees it: terms, rules as table and sentences, gain surfaces, the rules at one moment.

At one moment: the inputs among their terms, how strongly each rule fires, what is said about each gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.heat_map import heat_map
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import missing, number, percent, share
from experiments.report.records.situations import NotAvailable, Response
from experiments.report.sections.view import finite, multiples, section, table, words_head

if TYPE_CHECKING:
    from experiments.report.records.rule_base import (
        ActivationView,
        ConclusionView,
        GainLine,
        GainSurface,
        LinguisticVariable,
        Rule,
        RuleBaseView,
    )
    from experiments.report.records.situations import Array
    from experiments.report.sections.view import View


_BESIDE_INPUTS, _BESIDE_RULES = 2, 12  # a larger table leaves no room for sentences beside it
_TERM_LINES = 3  # kinds of line: neighbouring terms differ; colours belong to the controllers


def knowledge_base(view: View) -> Html:
    """Membership functions, rules and surfaces of every channel."""
    lead = (
        "Knowledge base: a rule-based gain schedule. Terms (fuzzy sets) say where a rule holds, rules which gains hold."
    )
    bases = view.data.rule_bases
    if isinstance(bases, NotAvailable):
        return section("rules", "Knowledge base", element("p", missing(bases.reason)), lead=lead)
    return section("rules", "Knowledge base", *[_channel(view, b, len(bases) > 1) for b in bases], lead=lead)


def _channel(view: View, base: RuleBaseView, named: bool) -> Html:
    title = element("h3", f"Channel {view.data.channels[base.channel].output}") if named else ""
    user = element("p", "Used by ", element("b", view.data.controller(base.controller).name), ". ", base.text)
    terms = multiples(_membership(v) for v in base.inputs)
    counted = f"Rules ({len(base.rules)})"
    sentences = [element("li", base.sentence(r), value=str(r.number)) for r in base.rules]
    words = element("div", element("p", "The same rules as sentences:"), element("ol", *sentences))
    beside = len(base.inputs) <= _BESIDE_INPUTS and len(base.rules) <= _BESIDE_RULES
    rules = element("div", _rule_table(base), words if base.rules else "", class_="two" if beside else "below")
    parts = [title, user, element("h3", "Membership functions"), terms, element("h3", counted), rules]
    return join((*parts, element("h3", "Gain surfaces"), _surfaces(view, base), activation(base)))


def _membership(variable: LinguisticVariable) -> Html:
    curves = tuple(
        Curve(variable.grid, t.membership, t.label, f"term t{i % _TERM_LINES}") for i, t in enumerate(variable.terms)
    )
    chart = LineChart(
        "membership",
        curves,
        x_label=variable.name,
        x_unit=variable.unit,
        height=140.0,
        y_range=(0.0, 1.03),
        notes=_peaks(variable),
    )
    keys = [element("span", _line(f"term t{i % _TERM_LINES}"), t.label) for i, t in enumerate(variable.terms)]
    caption = element("figcaption", element("b", variable.name), " ", element("span", *keys, class_="keys"))
    return element("figure", caption, line_chart(chart))


def _peaks(variable: LinguisticVariable) -> tuple[tuple[float, str], ...]:
    """Labels over the terms' peaks, none where they would run into one another."""
    if sum(len(t.label) for t in variable.terms) > 46:
        return ()
    tops = [variable.grid[t.membership >= np.max(t.membership) - 1e-9] for t in variable.terms]
    return tuple((float(top.mean()), t.label) for top, t in zip(tops, variable.terms, strict=True))


def _line(style: str) -> Html:
    return element("svg", element("path", d="M1 6h18", class_=f"curve {style}"), viewBox="0 0 20 12", class_="swatch")


def _rule_table(base: RuleBaseView) -> Html:
    if not base.rules:
        return element("p", missing("no rule is left"))
    head: list[object] = [
        "rule",
        *[words_head(f"if {v.name} is") for v in base.inputs],
        *[f"then {g}" for g in base.gain_names],
        "firing share",
        *(["J without it"] if _valued(base) else []),
    ]
    columns = np.array([r.consequents for r in base.rules], dtype=float)
    low, high = columns.min(axis=0), columns.max(axis=0)
    return table(head, [_rule_row(r, low, high, _valued(base)) for r in base.rules], style="rules")


def _valued(base: RuleBaseView) -> bool:
    """Whether the closed loop said what the rules are worth."""
    return any(finite(rule.importance) for rule in base.rules)


def _rule_row(rule: Rule, low: Array, high: Array, valued: bool) -> Html:
    given = [
        element("td", term or element("span", "any", class_="missing"), class_="words") for term in rule.antecedents
    ]
    then = [_bar_cell(v, a, b) for v, a, b in zip(rule.consequents, low.tolist(), high.tolist(), strict=True)]
    firing = element("td", share(rule.firing) if finite(rule.firing) else missing())
    worth = [element("td", percent(rule.importance) if finite(rule.importance) else missing())] if valued else []
    return element("tr", element("th", rule.number, scope="row"), *given, *then, firing, *worth)


def _bar_cell(value: float, low: float, high: float) -> Html:
    """A number over a bar that shows where it lies between the smallest and largest of its column."""
    part = 100.0 * (value - low) / (high - low) if high > low else 100.0
    return element("td", number(value), class_="part", style=f"--part:{part:.0f}%")


def _surfaces(view: View, base: RuleBaseView) -> Html:
    if base.lines:
        return multiples(_gain_line(line) for line in base.lines)
    if not base.surfaces:
        return element("p", missing("no surface was computed"))
    figures = []
    for surface in base.surfaces:
        caption = element("figcaption", element("b", surface.gain), " ", element("small", surface.text))
        figures.append(element("figure", caption, heat_map(surface, _visited(view, base, surface))))
    note = (
        "White lines: where the loop went in the unforeseen situations; elsewhere the surface was not tried. "
        "Dashed: the taught range."
    )
    return join((element("p", note), multiples(figures)))


def _gain_line(line: GainLine) -> Html:
    curve = Curve(line.x, line.values, line.gain, "term")
    return element("figure", line_chart(LineChart(line.gain, (curve,), line.gain_unit, (), line.x_name, line.x_unit)))


def _visited(view: View, base: RuleBaseView, surface: GainSurface) -> tuple[tuple[Array, Array], ...]:
    """Curves (e, e_rate) of the schedule in the unforeseen situations, if the surface is over these two."""
    if (surface.x_name, surface.y_name) != tuple(v.name for v in base.inputs[:2]):
        return ()
    curves = []
    for result in view.results(view.data.controller(base.controller), "unforeseen"):
        response = result.response
        if isinstance(response, Response) and response.error is not None and response.error_rate is not None:
            picks = np.linspace(0, len(response.time) - 1, min(len(response.time), 400)).astype(int)
            curves.append((response.error[picks, base.channel], response.error_rate[picks, base.channel]))
    return tuple(curves)


def activation(base: RuleBaseView) -> Html:
    """Memberships, firing strengths and output sets at one moment; nothing where the run has none."""
    view = base.activation
    if view is None:
        return Html("")
    inputs = multiples(
        _input(variable, value, grades)
        for variable, value, grades in zip(base.inputs, view.point, view.memberships, strict=True)
    )
    said = multiples(_conclusion(c, view) for c in view.conclusions)
    return join((element("h3", "Activation at one moment"), element("p", view.text), inputs, _firing(base, view), said))


def _input(variable: LinguisticVariable, value: float, grades: Array) -> Html:
    """The terms, and a line where the input is."""
    curves = [
        Curve(variable.grid, t.membership, t.label, f"term t{i % _TERM_LINES}") for i, t in enumerate(variable.terms)
    ]
    inside = min(max(value, float(variable.grid[0])), float(variable.grid[-1]))
    curves.append(_upright(inside, 1.0, variable.name))
    chart = LineChart(
        "membership", tuple(curves), x_label=variable.name, x_unit=variable.unit, height=140.0, y_range=(0.0, 1.03)
    )
    shown = ", ".join(
        f"{t.label} {number(float(g), 3)}" for t, g in zip(variable.terms, grades, strict=True) if g >= 0.0005
    )
    unit = f" {variable.unit}" if variable.unit else ""
    unit += "" if inside == value else " (beyond the taught range)"
    caption = element("figcaption", element("b", f"{variable.name} = {number(value, 3)}{unit}"), f": {shown}")
    return element("figure", caption, line_chart(chart))


def _firing(base: RuleBaseView, view: ActivationView) -> Html:
    """A bar for every rule, the strongest first; rules that do not fire are counted."""
    ordered = sorted(zip(base.rules, view.firing, strict=True), key=lambda pair: (-pair[1], pair[0].number))
    rows = []
    for rule, strength in ordered:
        if strength < 0.0005:
            continue
        cells = [element("td", term, class_="words") for term in rule.antecedents]
        bar = element("td", number(strength, 3), class_="part", style=f"--part:{100.0 * strength:.0f}%")
        rows.append(element("tr", element("th", rule.number, scope="row"), *cells, bar))
    silent = len(view.firing) - len(rows)
    head: list[object] = ["rule", *[words_head(f"if {v.name} is") for v in base.inputs], "firing strength"]
    rest = element("p", f"{silent} of {len(view.firing)} rules shown above do not fire here.") if silent else ""
    if not rows:
        return element("p", "No rule fires here: the reference gains hold.")
    return join((table(head, rows, style="rules"), rest))


def _conclusion(said: ConclusionView, view: ActivationView) -> Html:
    """Sets of the rules that fire, the aggregated one, and lines at their centroid and at the gain."""
    curves = [
        Curve(x, y, f"rule set {k + 1}", f"term t{k % _TERM_LINES}")
        for k, (x, y) in enumerate(said.sets)
        if float(np.max(y)) >= 0.0005
    ]
    top = max([float(np.max(c.y)) for c in curves], default=1.0)
    if said.joined is not None:
        curves.append(Curve(*said.joined, "joined", "term strong"))
        top = max(top, float(np.max(said.joined[1])))
    notes = []
    if finite(said.mean):
        curves.append(_upright(said.mean, top, view.mean_word))
        notes.append((said.mean, view.mean_word))
    chart = LineChart(
        "membership", tuple(curves), x_label=said.gain, x_unit=said.unit, height=140.0, y_range=(0.0, 1.05 * top),
        notes=tuple(notes),
    )  # fmt: skip
    caption = element(
        "figcaption", element("b", said.gain), f": {view.mean_word} {number(said.mean)}, gain {number(said.value)}"
    )
    return element("figure", caption, line_chart(chart)) if curves else Html("")


def _upright(place: float, top: float, name: str) -> Curve:
    return Curve(np.array([place, place]), np.array([0.0, top]), name, "here")
