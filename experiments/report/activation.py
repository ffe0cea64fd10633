"""The rules at one moment: the inputs among their terms, how strongly each rule fires, what is said about each gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element, join
from experiments.report.numbers import number
from experiments.report.view import finite, multiples, table, words_head

if TYPE_CHECKING:
    from experiments.report.rule_base import ActivationView, ConclusionView, LinguisticVariable, RuleBaseView
    from experiments.report.situations import Array

_TERM_LINES = 3  # as the membership functions above


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
