"""The rules at one moment of a recorded response, for the page: what each input is, which rules fire, what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.numbers import number
from experiments.report.rule_base import ActivationView, ConclusionView
from experiments.reporting import words
from flcs.activation import activation

if TYPE_CHECKING:
    from experiments.reporting.case import Case
    from experiments.reporting.recording import Recordings
    from flcs import Inference, KnowledgeBase

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
