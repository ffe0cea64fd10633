"""Situations drawn for a design: beside the named ones, in the same real loop; margins where plants can be held."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
from experiments.report.builders import results
from experiments.runtime.errors import UserError
from experiments.settings import assemble, setup
from experiments.settings.ranges import CHOOSING, skipped
from experiments.starting.opening import configured


def job(*words):
    config = configured("design", [*words, "quiet=true"])
    config.step = 0.01
    return setup(config)


def test_drawn_ones_stand_behind_the_named_ones_and_fresh_ones_apart():
    found = job("plant=fopdt", "draws={taught: 3, validation: 2, verdict: 40}")
    names = {kind: [s.name for s in several] for kind, several in found.sets.items()}
    assert names["taught"][-3:] == ["taught draw 1", "taught draw 2", "taught draw 3"]
    assert names["validation"][-2:] == ["validation draw 1", "validation draw 2"]
    assert len(names["drawn"]) == 40
    assert found.judged == "drawn"
    assert not any(name.startswith("drawn") for name in names["unforeseen"])


def test_without_draws_the_named_ones_judge():
    found = job("plant=fopdt", "draws={taught: 0, validation: 0, verdict: 0}")
    assert found.judged == "unforeseen"
    assert set(found.sets) == {"taught", "validation", "unforeseen"}


def test_a_second_look_has_the_first_draws_and_further_ones():
    found = job("plant=fopdt", "draws={taught: 3, validation: 2, verdict: 40}")
    again = found.looking_again()
    assert again.config.draws == found.config.draws  # as the user gave it
    for kind in ("taught", "validation", "unforeseen"):
        assert again.sets[kind] == found.sets[kind]
    fresh, choosing = again.sets["drawn"], again.repetition(CHOOSING, 0)
    assert len(fresh) == len(choosing) == 160
    assert fresh[:40] == found.sets["drawn"] == found.repetition("drawn", 0)
    assert choosing[:40] == found.repetition(CHOOSING, 0)
    assert again.repetition("drawn", 0) == fresh
    assert len({s.seed for s in (*fresh, *choosing)}) == 320


def test_what_was_skipped_is_told_of_all_draws(monkeypatch):
    found = job("plant=fopdt", "draws={taught: 3, validation: 2, verdict: 40}")
    odd = replace(found, warnings=("of something else", "2 of 40"))

    def told(config, _):
        return [f"{config.draws.verdict // 20} of {config.draws.verdict}"]

    monkeypatch.setattr(assemble, "skipped", told)
    assert odd.looking_again().warnings == ("of something else", "8 of 160")


@pytest.mark.parametrize("draws", ["{verdict: 40, again: 1}", "{taught: 0, validation: 0, verdict: 0}"])
def test_where_none_is_asked_for_there_is_no_second_look(draws):
    assert job("plant=fopdt", f"draws={draws}").looking_again() is None


def test_settings_of_all_situations_are_those_of_drawn_ones_too():
    found = job("plant=fopdt", "situations.dropout=0.1")
    assert {s.dropout for several in found.sets.values() for s in several} == {0.1}


def test_ranges_hold_the_situations_that_a_user_gives():
    usual, asked = job("plant=fopdt"), job("plant=fopdt", "situations.taught={far: {reference: 3.0}}")
    assert usual.ranges.reference["output"] == (-1.5, 1.5)
    assert asked.ranges.reference["output"] == (-1.5, 3.0)
    assert asked.ranges.parameters == usual.ranges.parameters


def test_ranges_may_be_given():
    found = job("plant=fopdt", "envelope.usual=false", "envelope.parameters={K: [2.0, 2.5]}")
    assert all(2.0 <= s.parameters["K"] <= 2.5 for s in found.sets["drawn"])


@pytest.mark.parametrize(("plant", "all_count"), [("fopdt", True), ("magnetic_levitation", False)])
def test_margins_count_drawn_plants_where_gains_keep_all(plant, all_count):
    """No constant gains keep the margins of all drawn levitations: then the named plants alone count."""
    found = job(f"plant={plant}")
    named = len(found.named["taught"])
    assert len(found.margins().spec.situations) == (len(found.sets["taught"]) if all_count else named)


def test_a_drawn_plant_that_nothing_holds_at_a_point_does_not_count_there():
    """Some drawn heaters are not warm enough at full power."""
    found = job("plant=heater")
    asked = found._margins_of(found.sets["taught"], found.limits).channels.outputs
    plants_of = {found.plant.values("parameters", s.parameters) for s in found.sets["taught"]}
    assert len(found.plant.operating_points) < len(asked.values) < len(plants_of) * len(found.plant.operating_points)


def test_margins_are_told_by_operating_point_where_some_plants_are_missing():
    """Of two points one lacks a plant, so that cases cannot be laid out as plants by points."""
    plant, about = plants.get("heater"), np.array([0, 1, 0])
    (one, other), values = plant.operating_points, np.array([[1.2, 1.5, 1.3], [1.1, 1.6, 1.4]])
    margins = SimpleNamespace(sensitivity=values, delay_margin=values, phase_margin=values, gain_margin=values)
    points = results._points(plant, about, margins, "sensor: ")
    assert [(p.operating_point, p.sensitivity_peak, p.delay_margin) for p in points] == [
        (f"sensor: {one.name}", 1.4, 1.1),
        (f"sensor: {other.name}", 1.6, 1.5),
    ]


def test_draws_in_which_the_plant_cannot_begin_are_told_and_too_few_are_refused():
    config = configured("design", ["plant=fopdt", "draws={taught: 3, validation: 2, verdict: 50}"])
    made = job("plant=fopdt", "draws={taught: 3, validation: 2, verdict: 50}")
    drawn, choosing = made.sets, made.repetition("choosing", 0)
    whole = {"taught": drawn["taught"][-3:], "validation": drawn["validation"][-2:], "drawn": drawn["drawn"]}
    whole["choosing"] = choosing
    assert skipped(config, whole) == []
    assert {s.seed for s in choosing}.isdisjoint(s.seed for s in drawn["drawn"])
    (told,) = skipped(config, {**whole, "taught": whole["taught"][:2], "drawn": whole["drawn"][:41]})
    assert (
        "cannot start or rest in 1 of 3 to teach, 9 of 50 to judge in situations that were drawn; they were skipped"
        in told
    )
    with pytest.raises(UserError, match=r"11 of 50 to judge in .* a verdict needs 40; narrow"):
        skipped(config, {**whole, "drawn": whole["drawn"][:39]})
