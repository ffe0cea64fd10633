"""Situations drawn from declared ranges: inside them, reproducible, one noise path each, even where few have to cover."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from sscq.worst.drawing import drawn_situations
from sscq.worst.envelope import Envelope, usual_envelope
from sscq.worst.genome import EnvelopeGenes, begins

PLANT = plants.get("fopdt")
RANGES = Envelope(
    parameters={"K": (0.7, 1.3)}, reference={"output": (0.5, 1.5)}, load={"load": (-0.5, 0.5)},
    noise={"output": (0.0, 0.05)}, delay=(0.0, 0.2), delay_step=0.05, t_end=8.0,
)  # fmt: skip


def drawn(n=64, seed=0, name="drawn", **more):
    return drawn_situations(PLANT, RANGES, n, seed, name, **more)


@pytest.mark.parametrize("evenly", [False, True])
def test_every_number_lies_in_its_range(evenly):
    several = drawn(200, evenly=evenly)
    assert all(0.7 <= s.parameters["K"] <= 1.3 for s in several)
    assert all(0.0 <= s.noise["output"] <= 0.05 for s in several)
    assert {round(s.delay, 9) for s in several} == {0.0, 0.05, 0.1, 0.15, 0.2}
    assert {s.t_end for s in several} == {8.0}


def test_names_and_noise_paths_are_their_own():
    several = drawn()
    assert [s.name for s in several[:2]] == ["drawn 1", "drawn 2"]
    assert len({s.name for s in several}) == len({s.seed for s in several}) == len(several)


def test_seed_and_name_decide():
    assert drawn() == drawn()
    assert [s.parameters for s in drawn()] != [s.parameters for s in drawn(seed=1)]
    assert [s.parameters for s in drawn()] != [s.parameters for s in drawn(name="taught draw")]


def test_more_draws_begin_with_the_same_ones():
    """So that a larger verdict is the smaller one and more."""
    assert drawn(100)[:64] == drawn(64)


def test_an_even_draw_has_one_in_each_slice_of_every_range():
    values = np.array([s.parameters["K"] for s in drawn(8, evenly=True)])
    assert sorted(np.floor((values - 0.7) / 0.6 * 8).astype(int)) == list(range(8))


def test_none_are_drawn_where_none_are_asked_for():
    assert drawn(0) == ()


def test_ranges_of_given_situations_take_the_place_of_the_usual_ones():
    several, silent = {"taught": drawn(5)}, replace(PLANT, task=replace(PLANT.task, ranges=plants.OperatingRanges()))
    low, high = usual_envelope(silent, sets=several).parameters["K"]
    assert low == min(1.0, *(s.parameters["K"] for s in several["taught"]))
    assert high == max(1.0, *(s.parameters["K"] for s in several["taught"]))


def refusing(x, p, held=()):
    """As a chain does that some parameters do not close."""
    if p[0] > 1.1:
        raise ValueError("no start fulfils the constraints")
    return x


def test_draws_in_which_the_plant_cannot_begin_are_left_out():
    chain = replace(PLANT, constraints=lambda t, x, u, w, p: (), admissible=refusing)
    kept = drawn_situations(chain, RANGES, 64, 0)
    assert [s.name for s in kept] == [s.name for s in drawn() if s.parameters["K"] <= 1.1]
    assert 0 < len(kept) < 64


def test_draws_at_which_the_plant_cannot_rest_are_left_out():
    """A pump too weak for the level: the loss at rest, which measures of entropy production need, is not known there."""
    tanks = plants.get("two_tanks")
    worn = replace(usual_envelope(tanks), parameters={"pump": (2e-6, 3.3e-6), "lower hole": (1.7e-5, 2.6e-5)})
    found = drawn_situations(tanks, worn, 40, 0)
    assert 20 < len(found) < 40
    for anchor in EnvelopeGenes(tanks, worn).anchors():
        assert begins(tanks, anchor)


@pytest.mark.parametrize("name", plants.names())
def test_every_plant_of_the_project_declares_what_it_meets_and_can_begin_in_all_of_it(name):
    """Ranges that its situations merely span would mix extremes that never meet, and vary what is never unsure."""
    plant = plants.get(name)
    given = plant.ranges.given()
    assert {"parameters", "initial", "reference", "noise", "delay"} <= set(given)
    assert given["parameters"]
    assert given["noise"]
    assert given["delay"][1] > 0.0
    assert len(drawn_situations(plant, usual_envelope(plant), 64, 0)) == 64


SETS = tuple({"K": 1.0 + 0.01 * k, "T": 0.5 + 0.1 * k, "L": 0.01 * k} for k in range(20))
TOGETHER = replace(RANGES, parameters={}, together=SETS)


def test_parameter_sets_stay_together():
    several = drawn_situations(PLANT, TOGETHER, 300, 0)
    assert all(dict(s.parameters) in SETS for s in several)
    # Each of twenty sets is missed by 300 draws with chance 2e-7.
    assert {s.parameters["K"] for s in several} == {one["K"] for one in SETS}


def test_what_teaches_never_judges():
    parts = [{one["K"] for one in TOGETHER.shared_out(k, 4).together} for k in range(4)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(SETS)
    assert RANGES.shared_out(1, 4) is RANGES


def test_sets_are_read_again_and_refused_where_they_are_none():
    assert Envelope.from_document(TOGETHER.document()) == TOGETHER
    with pytest.raises(ValueError, match="K must have either a range or sets together"):
        replace(TOGETHER, parameters={"K": (0.5, 1.0)})
    with pytest.raises(ValueError, match="must name the same"):
        replace(TOGETHER, together=({"K": 1.0}, {"T": 1.0}))
    with pytest.raises(ValueError, match="no parameters? 'gain'|gain"):
        replace(TOGETHER, together=({"gain": 1.0},)).check(PLANT)
    with pytest.raises(ValueError, match="list of mappings"):
        Envelope.from_document({**TOGETHER.document(), "together": [3]})
