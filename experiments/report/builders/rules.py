"""The knowledge base as the page shows it: terms on a grid, rules with their shares, gain surfaces, one moment.

At one moment of a recorded response: what each input is, which rules fire, what they say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.report import GainLine, GainSurface, LinguisticVariable, NotAvailable, Rule, RuleBaseView, Term
from experiments.report.builders import words
from experiments.report.drawing.numbers import number, plain, share
from experiments.report.records.rule_base import ActivationView, ConclusionView
from flcs.inference.variable import term_words
from flcs.knowledge_base.activation import activation
from flcs.knowledge_base.sentences import sentence
from flcs.knowledge_base.theta import rule_label

if TYPE_CHECKING:
    from experiments.report.builders.case import Array, Case
    from experiments.report.recorded import Recordings
    from flcs import FuzzyController, Inference, KnowledgeBase
    from flcs.inference.rule_base import RuleBase
    from flcs.inference.variable import Variable


_KEY = "knowledge_base"


def at_a_moment(case: Case, recorded: Recordings, kb: KnowledgeBase, channel: int) -> ActivationView | None:
    """Return the rules of a channel at the busiest moment of the first recorded situation, unforeseen ones first."""
    kinds = ("unforeseen", "validation", "taught")
    named = [(p, f"{_KEY}.{p.overall}.moment") for kind in kinds for p in case.places if p.kind == kind]
    place, name = next(((p, n) for p, n in named if n in recorded), (None, ""))
    if place is None:
        return None
    time, inputs = float(recorded[name][0]), recorded[name][1:]
    point = [float(inputs[k]) for k in kb.columns(channel)]
    found, base = activation(kb, point, channel), kb.channels[channel]
    units = words.gain_units(words.command_unit(case.plant, channel), words.output_unit(case.plant, channel))
    seen = ", ".join(
        f"{v.words} = {words.with_unit(float(f'{value:.3g}'), v.unit)}"
        for v, value in zip(base.inputs, point, strict=True)
    )
    return ActivationView(
        text=f"At t = {number(time, 3)} s in “{place.label}”, where the rules have most to settle: {seen}. "
        f"{_told(kb.inference)}",
        mean_word=_mean_word(kb.inference),
        point=found.point,
        memberships=found.memberships,
        firing=tuple(found.firing.tolist()),
        conclusions=tuple(
            ConclusionView(c.gain, unit, c.sets, c.joined, c.mean, c.value)
            for c, unit in zip(found.conclusions, units, strict=False)
        ),
    )


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


def _mean_word(how: Inference) -> str:
    on_area = how.output is not None and how.output.defuzzifier == "centroid"
    return "centroid" if on_area else "mean"


def _told(how: Inference) -> str:
    if how.form == "tsukamoto":
        return "Each rule's set rises from the reference gain; it says the value at which it reaches its strength."
    if how.output is None:
        return "Each rule says one value, as strongly as it fires."
    cut = "cut off at" if how.output.implication == "minimum" else "scaled by"
    return f"Each rule's output set is {cut} its strength; the strong line is the sets' {how.output.aggregation}."


KEY = "knowledge_base"
_GRID, _SURFACE = 161, 41
_ROOM = 0.15  # of the taught range, at each side of a surface: there the gains return to the reference gains


def rule_bases(case: Case, recorded: Recordings) -> tuple[RuleBaseView, ...] | NotAvailable:
    """Return the rule base of every channel of the refined knowledge base."""
    if KEY not in case.contenders:
        return NotAvailable("the run built no knowledge base")
    controller: FuzzyController = case.contenders[KEY].controller
    shares, first, views = _shares(case, recorded), 0, []
    for i, base in enumerate(controller.kb.channels):
        view = _view(case, controller.kb, i, shares[first : first + len(base.rules)])
        views.append(replace(view, activation=at_a_moment(case, recorded, controller.kb, i)))
        first += len(base.rules)
    return tuple(views)


def _shares(case: Case, recorded: Recordings) -> Array:
    """Mean share of every rule in the gains over the recorded taught situations, of all channels."""
    taught = [f"{KEY}.{p.overall}.shares" for p in case.places if p.kind == "taught"]
    return np.mean([recorded[name] for name in taught if name in recorded], axis=0)


def _view(case: Case, kb: KnowledgeBase, channel: int, shares: Array) -> RuleBaseView:
    base = kb.channels[channel]
    curve = case.refined["equal"].curve

    def worth(number: int) -> float:
        name = kb.suffixed("on", channel) + f"[{rule_label(base, base.rules[number])}]"
        return float("nan") if curve is None else curve.share_of(name)

    return RuleBaseView(
        channel=channel,
        controller=KEY,
        inputs=tuple(_variable(v) for v in base.inputs),
        gain_names=base.gain_names,
        rules=tuple(_rule(kb, base, number, float(shares[number]), worth(number)) for number in base.active),
        surfaces=tuple(_surfaces(case, kb, channel)),
        lines=tuple(_lines(case, kb, channel)),
        text=_text(kb, base, float(shares.sum())),
    )


def _variable(variable: Variable) -> LinguisticVariable:
    grid = np.linspace(variable.low, variable.high, _GRID)
    values = [np.broadcast_to(np.asarray(m, dtype=float), grid.shape) for m in variable.memberships(grid)]
    terms = tuple(Term(term_words(label), m) for label, m in zip(variable.labels, values, strict=True))
    return LinguisticVariable(variable.words, _unit(variable), grid, terms)


def _unit(variable: Variable) -> str:
    return {"1": "", "1/s": "1/s", "1 s": "s"}.get(variable.unit, variable.unit)


def _rule(kb: KnowledgeBase, base: RuleBase, number: int, firing: float, importance: float) -> Rule:
    rule = base.rules[number]
    named = tuple(term_words(v.labels[t]) for v, t in zip(base.inputs, rule.terms, strict=True))
    return Rule(number + 1, named, rule.gains, sentence(base, rule, kb.inference.form), firing, importance)


def _text(kb: KnowledgeBase, base: RuleBase, by_rules: float) -> str:
    how, kind = kb.inference, base.inputs[0].shape.name.capitalize()
    reference = ", ".join(f"{n} = {number(v)}" for n, v in zip(base.gain_names, base.reference, strict=True))
    parts = [
        f"{kind} terms, t-norm {how.t_norm}, {words_of_form(how)}",
        f"{len(base.active)} of the grid's {int(np.prod(base.counts))} rules are kept",
        f"reference gains {reference}: they have the other {share(1.0 - by_rules)} in the taught situations",
    ]
    if how.authority < 1.0:
        parts.append(f"authority {number(how.authority, 3)}: so far from the reference gains the margins hold")
    if kb.tick is not None:
        parts.append(f"the gains are renewed every {plain(kb.tick)} s")
    ranges = ", ".join(
        f"{v.words} {number(v.low, 3)} … {words.with_unit(float(f'{v.high:.3g}'), v.unit)}" for v in base.inputs
    )
    parts.append(f"taught for {ranges}; outside, the gains return to the reference gains")
    return "; ".join(parts) + "."


def _surfaces(case: Case, kb: KnowledgeBase, channel: int) -> list[GainSurface]:
    """Each gain over the first two inputs, the others in the middle of their ranges."""
    base = kb.channels[channel]
    if len(base.inputs) < 2:
        return []
    x, y = (_around(v) for v in base.inputs[:2])
    grid_x, grid_y = np.meshgrid(x, y)
    gains = _gains_over(kb, channel, grid_x.ravel(), grid_y.ravel())
    held = ", ".join(f"{v.words} at {'0' if v.name == 'z' else 'the middle of its range'}" for v in base.inputs[2:])
    one, two = base.inputs[:2]
    return [
        GainSurface(
            gain, one.words, two.words, x, y, values.reshape(grid_x.shape), unit, _unit(one), _unit(two), held,
            taught=(one.low, one.high, two.low, two.high),
        )
        for gain, unit, values in zip(base.gain_names, _units(case, channel), gains.T, strict=False)
    ]  # fmt: skip


def _lines(case: Case, kb: KnowledgeBase, channel: int) -> list[GainLine]:
    """Each gain over the only input."""
    base = kb.channels[channel]
    if len(base.inputs) > 1:
        return []
    (one,) = base.inputs
    x = _around(one)
    return [
        GainLine(gain, one.words, x, values, unit, _unit(one))
        for gain, unit, values in zip(
            base.gain_names, _units(case, channel), _gains_over(kb, channel, x).T, strict=False
        )
    ]


def _units(case: Case, channel: int) -> tuple[str, str, str]:
    return words.gain_units(words.command_unit(case.plant, channel), words.output_unit(case.plant, channel))


def _gains_over(kb: KnowledgeBase, channel: int, *inputs: Array) -> Array:
    """Gains of a channel [n, n_gains] over its first inputs; the error integral at 0, others mid-range."""
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
