"""The knowledge base as a reader sees it: terms, rules as table and sentences, gain surfaces, the rules at one moment.

At one moment: the inputs among their terms, how strongly each rule fires, what is said about each gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.heat_map import Surface, heat_map
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.numbers import missing, number, percent, plain, share, with_unit
from experiments.report.records.results import Array, Response
from experiments.report.sections.view import PageView, finite, multiples, section, swatch, table, words_head
from flcs.inference.rule_base import rule_number
from flcs.knowledge_base.activation import Activation, Conclusion
from flcs.knowledge_base.activation import activation as activation_of
from flcs.knowledge_base.sentences import sentence
from flcs.knowledge_base.theta import rule_label

if TYPE_CHECKING:
    from experiments.report.records.learning import Knowledge
    from flcs import Inference, KnowledgeBase
    from flcs.inference.rule_base import RuleBase
    from flcs.inference.variable import Variable


_BESIDE_INPUTS, _BESIDE_RULES = 2, 12  # a larger table leaves no room for sentences beside it
_TERM_LINES = 3  # kinds of line: neighbouring terms differ; colours belong to the controllers
_GRID, _SURFACE = 161, 41  # points of a membership function, of an axis of a surface
_ROOM = 0.15  # of the taught range, at each side of a surface: there the gains return to the reference gains


def knowledge_base(view: PageView) -> Html:
    """Membership functions, rules and surfaces of every channel."""
    lead = (
        "Knowledge base: a rule-based gain schedule. Terms (fuzzy sets) say where a rule holds, rules which gains hold."
    )
    known = view.data.knowledge
    if known is None:
        return section("rules", "Knowledge base", element("p", missing("the run built no knowledge base")), lead=lead)
    return section(
        "rules", "Knowledge base", *[_channel(view, known, i) for i in range(len(known.kb.channels))], lead=lead
    )


def _channel(view: PageView, known: Knowledge, channel: int) -> Html:
    base, name = known.kb.channels[channel], view.data.channels[channel].output
    title = element("h3", f"Channel {name}") if len(known.kb.channels) > 1 else ""
    user = view.data.controller(known.controller).name
    used = element("p", "Used by ", element("b", user), ". ", _text(known, channel))
    terms = multiples(_membership(v) for v in base.inputs)
    said = [
        element("li", sentence(base, base.rules[k], known.kb.inference.form), value=str(rule_number(k)))
        for k in base.active
    ]
    words = element("div", element("p", "The same rules as sentences:"), element("ol", *said))
    beside = len(base.inputs) <= _BESIDE_INPUTS and len(base.active) <= _BESIDE_RULES
    rules = element("div", _rule_table(known, channel), words if said else "", class_="two" if beside else "below")
    parts = [title, used, element("h3", "Membership functions"), terms, element("h3", f"Rules ({len(said)})"), rules]
    return join(
        (*parts, element("h3", "Gain surfaces"), _gains(view, known, channel), activation(view, known, channel))
    )


def _text(known: Knowledge, channel: int) -> str:
    kb, base = known.kb, known.kb.channels[channel]
    how, kind = kb.inference, base.inputs[0].shape.name.capitalize()
    reference = ", ".join(f"{n} = {number(v)}" for n, v in zip(base.gain_names, base.reference, strict=True))
    by_rules = float(known.shares_of(channel).sum())
    parts = [
        f"{kind} terms, t-norm {how.t_norm}, {words_of_form(how)}",
        f"{len(base.active)} of the grid's {int(np.prod(base.counts))} rules are kept",
        f"reference gains {reference}, with {share(1.0 - by_rules)} of the weight in the taught situations",
    ]
    if known.by_two is not None and finite(float(known.by_two[channel])):
        parts.append(
            f"the two strongest rules of each moment tell {share(float(known.by_two[channel]))} of what rules say"
        )
    if how.authority < 1.0:
        parts.append(f"authority {number(how.authority, 3)}: so far from the reference gains the margins hold")
    if kb.tick is not None:
        parts.append(f"the gains are renewed every {plain(kb.tick)} s")
    ranges = ", ".join(
        f"{v.words} {number(v.low, 3)} … {with_unit(float(f'{v.high:.3g}'), v.unit)}" for v in base.inputs
    )
    few = (
        f" and where the kept rules fire with less than {how.fallback:g} together"
        if len(base.active) < int(np.prod(base.counts))
        else ""
    )
    parts.append(f"taught for {ranges}; outside{few}, the gains return to the reference gains, in proportion")
    return "; ".join(parts) + "."


def words_of_form(how: Inference) -> str:
    """Return how firing strengths become gains."""
    if how.form == "tsukamoto":
        return "Tsukamoto's form: weighted mean of what sets that rise from the reference gains say"
    if how.output is None:
        return f"weighted mean of {'constant gains' if how.order == 0 else 'gains linear in the inputs'}"
    sets = how.output
    means = {"centroid": f"centroid of their {sets.aggregation}", "centre_average": "mean of their centres"}
    cut = "cut off" if sets.implication == "minimum" else "scaled"
    return f"Mamdani's form: output sets {cut} at the firing strength, {means[sets.defuzzifier]}"


def _unit(variable: Variable) -> str:
    return {"1": "", "1/s": "1/s", "1 s": "s"}.get(variable.unit, variable.unit)


def _labels(variable: Variable) -> list[str]:
    return [variable.term_words(term) for term in range(variable.n_terms)]


def _terms_of(variable: Variable) -> tuple[Array, list[Array]]:
    """A grid over the taught range and the membership of every term on it."""
    grid = np.linspace(variable.low, variable.high, _GRID)
    values = [np.broadcast_to(np.asarray(m, dtype=float), grid.shape) for m in variable.memberships(grid)]
    return grid, values


def _curves(variable: Variable) -> list[Curve]:
    grid, values = _terms_of(variable)
    named = enumerate(zip(_labels(variable), values, strict=True))
    return [Curve(grid, m, label, f"term t{i % _TERM_LINES}") for i, (label, m) in named]


def _membership(variable: Variable) -> Html:
    labels = _labels(variable)
    chart = LineChart(
        "membership",
        tuple(_curves(variable)),
        x_label=variable.words,
        x_unit=_unit(variable),
        height=140.0,
        y_range=(0.0, 1.03),
        notes=_peaks(variable),
    )
    keys = [element("span", swatch(f"term t{i % _TERM_LINES}", 18, None), label) for i, label in enumerate(labels)]
    caption = element("figcaption", element("b", variable.words), " ", element("span", *keys, class_="keys"))
    return element("figure", caption, line_chart(chart))


def _peaks(variable: Variable) -> tuple[tuple[float, str], ...]:
    """Labels over the terms' peaks, none where they would run into one another."""
    labels = _labels(variable)
    if sum(map(len, labels)) > 46:
        return ()
    grid, values = _terms_of(variable)
    tops = [grid[m >= np.max(m) - 1e-9] for m in values]
    return tuple((float(top.mean()), label) for top, label in zip(tops, labels, strict=True))


# --------------------------------------------------------------------------------------------------------------- rules


def _rule_table(known: Knowledge, channel: int) -> Html:
    base = known.kb.channels[channel]
    if not base.active:
        return element("p", missing("no rule is left"))
    worth = {k: _worth(known, channel, k) for k in base.active}
    valued = any(map(finite, worth.values()))  # the closed loop said what the rules are worth
    head: list[object] = [
        "rule",
        *[words_head(f"if {v.words} is") for v in base.inputs],
        *[f"then {g}" for g in base.gain_names],
        "firing share",
        *(["J without it"] if valued else []),
    ]
    columns = np.array([base.rules[k].gains for k in base.active], dtype=float)
    low, high, shares = columns.min(axis=0).tolist(), columns.max(axis=0).tolist(), known.shares_of(channel)
    rows = []
    for k in base.active:
        given = [element("td", term, class_="words") for term in _antecedents(base, k)]
        then = [_bar_cell(v, a, b) for v, a, b in zip(base.rules[k].gains, low, high, strict=True)]
        firing = element("td", share(float(shares[k])) if finite(float(shares[k])) else missing())
        missed = [element("td", percent(worth[k]) if finite(worth[k]) else missing())] if valued else []
        rows.append(element("tr", element("th", rule_number(k), scope="row"), *given, *then, firing, *missed))
    return table(head, rows, style="rules")


def _antecedents(base: RuleBase, k: int) -> list[str]:
    return [v.term_words(t) for v, t in zip(base.inputs, base.rules[k].terms, strict=True)]


def _worth(known: Knowledge, channel: int, k: int) -> float:
    """Relative change of the cost in the taught situations without this rule; NaN: unknown."""
    if known.curve is None:
        return float("nan")
    base = known.kb.channels[channel]
    return known.curve.share_of(f"{known.kb.suffixed('on', channel)}[{rule_label(base, base.rules[k])}]")


def _bar_cell(value: float, low: float, high: float) -> Html:
    """A number over a bar that shows where it lies between the smallest and largest of its column."""
    part = 100.0 * (value - low) / (high - low) if high > low else 100.0
    return element("td", number(value), class_="part", style=f"--part:{part:.0f}%")


# --------------------------------------------------------------------------------------------------------------- gains


def _gains(view: PageView, known: Knowledge, channel: int) -> Html:
    """Each gain over the first two inputs, or the only one."""
    base = known.kb.channels[channel]
    units = view.data.channels[channel].gain_units or ("",) * len(base.gain_names)
    if len(base.inputs) < 2:
        return multiples(_gain_lines(known.kb, channel, units))
    (one, two), others = base.inputs[:2], base.inputs[2:]
    x, y = _around(one), _around(two)
    grid_x, grid_y = np.meshgrid(x, y)
    gains = gains_over(known.kb, channel, grid_x.ravel(), grid_y.ravel())
    held = ", ".join(f"{v.words} at {'0' if v.name == 'z' else 'the middle of its range'}" for v in others)
    visited, figures = _visited(view, known, channel), []
    for gain, unit, values in zip(base.gain_names, units, gains.T, strict=False):
        surface = Surface(
            gain, one.words, two.words, x, y, values.reshape(grid_x.shape), unit, _unit(one), _unit(two),
            taught=(one.low, one.high, two.low, two.high),
        )  # fmt: skip
        caption = element("figcaption", element("b", gain), " ", element("small", held))
        figures.append(element("figure", caption, heat_map(surface, visited)))
    lines = "White lines: where the loop went in the named unforeseen situations; elsewhere the surface was not tried. "
    note = f"{lines if visited else ''}Dashed: the taught range."
    return join((element("p", note), multiples(figures)))


def _gain_lines(kb: KnowledgeBase, channel: int, units: tuple[str, ...]) -> list[Html]:
    base = kb.channels[channel]
    (one,) = base.inputs
    x, figures = _around(one), []
    for gain, unit, values in zip(base.gain_names, units, gains_over(kb, channel, x).T, strict=False):
        chart = LineChart(gain, (Curve(x, values, gain, "term"),), unit, (), one.words, _unit(one))
        figures.append(element("figure", line_chart(chart)))
    return figures


def gains_over(kb: KnowledgeBase, channel: int, *inputs: Array) -> Array:
    """Return the gains of a channel [n, n_gains] over its first inputs; the error integral at 0, others mid-range."""
    places = kb.columns(channel)
    columns = np.zeros((len(inputs[0]), len(kb.input_names)))
    for place, variable in zip(places, kb.channels[channel].inputs, strict=True):
        columns[:, place] = 0.5 * (variable.low + variable.high) if variable.name != "z" else 0.0
    for place, values in zip(places, inputs, strict=False):
        columns[:, place] = values
    first = sum(len(other.gain_names) for other in kb.channels[:channel])
    return np.asarray(kb.gains(columns))[:, first : first + len(kb.channels[channel].gain_names)]


def _around(variable: Variable) -> Array:
    room = _ROOM * (variable.high - variable.low)
    return np.linspace(variable.low - room, variable.high + room, _SURFACE)


def _visited(view: PageView, known: Knowledge, channel: int) -> tuple[tuple[Array, Array], ...]:
    """Curves of the first two inputs in the unforeseen situations; none for an error's integral, which is no signal."""
    kb, curves = known.kb, []
    first = 2 * len(kb.channels)
    places = {"e": 2 * channel, "e_rate": 2 * channel + 1} | {name: first + k for k, name in enumerate(kb.signals)}
    columns = [places.get(variable.name) for variable in kb.channels[channel].inputs[:2]]
    if None in columns:
        return ()
    for result in view.results(view.data.controller(known.controller), "unforeseen"):
        response = result.response
        if isinstance(response, Response):
            picks = np.linspace(0, len(response.time) - 1, min(len(response.time), 400)).astype(int)
            one, two = (response.seen[picks, column] for column in columns)
            curves.append((one, two))
    return tuple(curves)


# ------------------------------------------------------------------------------------------------------- at one moment


def activation(view: PageView, known: Knowledge, channel: int) -> Html:
    """Memberships, firing strengths and output sets at one moment; nothing where the run has none."""
    if known.moment is None:
        return Html("")
    kb, base = known.kb, known.kb.channels[channel]
    time, seen = float(known.moment[0]), known.moment[1:]
    found = activation_of(kb, [float(seen[k]) for k in kb.columns(channel)], channel)
    values = ", ".join(
        f"{v.words} = {with_unit(float(f'{value:.3g}'), v.unit)}"
        for v, value in zip(base.inputs, found.point, strict=True)
    )
    text = f"At t = {number(time, 3)} s in “{known.place}”, where the rules have most to settle: {values}. "
    inputs = multiples(
        _input(variable, value, grades)
        for variable, value, grades in zip(base.inputs, found.point, found.memberships, strict=True)
    )
    units, word = view.data.channels[channel].gain_units or ("",) * len(found.conclusions), _mean_word(kb.inference)
    said = multiples(_conclusion(c, unit, word) for c, unit in zip(found.conclusions, units, strict=False))
    heading = element("h3", "Activation at one moment")
    return join((heading, element("p", text + _how_it_says(kb.inference)), inputs, _firing(base, found), said))


def _mean_word(how: Inference) -> str:
    on_area = how.output is not None and how.output.defuzzifier == "centroid"
    return "centroid" if on_area else "mean"


def _how_it_says(how: Inference) -> str:
    if how.form == "tsukamoto":
        return "Each rule's set rises from the reference gain; it says the value at which it reaches its strength."
    if how.output is None:
        return "Each rule says one value, as strongly as it fires."
    cut = "cut off at" if how.output.implication == "minimum" else "scaled by"
    return f"Each rule's output set is {cut} its strength; the strong line is the sets' {how.output.aggregation}."


def _input(variable: Variable, value: float, grades: Array) -> Html:
    """The terms, and a line where the input is."""
    inside = min(max(value, float(variable.low)), float(variable.high))
    curves = [*_curves(variable), _upright(inside, 1.0, variable.words)]
    chart = LineChart(
        "membership", tuple(curves), x_label=variable.words, x_unit=_unit(variable), height=140.0, y_range=(0.0, 1.03)
    )
    shown = ", ".join(
        f"{label} {number(float(g), 3)}" for label, g in zip(_labels(variable), grades, strict=True) if g >= 0.0005
    )
    unit = f" {_unit(variable)}" if _unit(variable) else ""
    unit += "" if inside == value else " (beyond the taught range)"
    caption = element("figcaption", element("b", f"{variable.words} = {number(value, 3)}{unit}"), f": {shown}")
    return element("figure", caption, line_chart(chart))


def _firing(base: RuleBase, found: Activation) -> Html:
    """A bar for every rule, the strongest first; rules that do not fire are counted."""
    strengths = found.firing.tolist()
    ordered = sorted(zip(found.rules, strengths, strict=True), key=lambda pair: (-pair[1], pair[0]))
    rows = []
    for k, strength in ordered:
        if strength < 0.0005:
            continue
        cells = [element("td", term, class_="words") for term in _antecedents(base, k)]
        bar = element("td", number(strength, 3), class_="part", style=f"--part:{100.0 * strength:.0f}%")
        rows.append(element("tr", element("th", rule_number(k), scope="row"), *cells, bar))
    silent = len(strengths) - len(rows)
    head: list[object] = ["rule", *[words_head(f"if {v.words} is") for v in base.inputs], "firing strength"]
    rest = element("p", f"{silent} of {len(strengths)} rules shown above do not fire here.") if silent else ""
    if not rows:
        return element("p", "No rule fires here: the reference gains hold.")
    return join((table(head, rows, style="rules"), rest))


def _conclusion(said: Conclusion, unit: str, mean_word: str) -> Html:
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
        curves.append(_upright(said.mean, top, mean_word))
        notes.append((said.mean, mean_word))
    chart = LineChart(
        "membership", tuple(curves), x_label=said.gain, x_unit=unit, height=140.0, y_range=(0.0, 1.05 * top),
        notes=tuple(notes),
    )  # fmt: skip
    caption = element(
        "figcaption", element("b", said.gain), f": {mean_word} {number(said.mean)}, gain {number(said.value)}"
    )
    return element("figure", caption, line_chart(chart)) if curves else Html("")


def _upright(place: float, top: float, name: str) -> Curve:
    return Curve(np.array([place, place]), np.array([0.0, top]), name, "here")
