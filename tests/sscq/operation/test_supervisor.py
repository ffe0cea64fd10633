"""The supervisor: when it does nothing, when it renews, when it refuses a model, when it rolls back."""

import json

import numpy as np
import pytest

from sscq.operation.contest import plain, totals
from sscq.operation.course import read_course
from sscq.operation.estimate import DeclaredMeasurement, IdentifiedEnsemble, PlantEstimate

LIMITS = {"mu": (0.0, 10.0)}
DRIFT = "mu:[0=1,16=1,20=5]"


def test_where_nothing_changes_it_does_nothing(contest):
    told = contest("mu:[0=1]").run("knowledge_base")
    assert [one.decision for one in told] == ["unchanged", "unchanged", ""]
    assert np.array_equal(told[-1].theta, told[0].theta)


def test_after_a_change_it_renews_and_the_next_window_is_better(contest):
    made = contest(DRIFT)
    renewed, never = plain(made.run("knowledge_base")), plain(made.run("never"))
    assert [one["decision"] for one in renewed] == ["unchanged", "renewed", ""]
    assert renewed[1]["iae"] == never[1]["iae"]
    assert renewed[2]["iae"] < 0.9 * never[2]["iae"]
    assert max(map(abs, renewed[1]["numbers"]["bump"])) <= 1e-12
    counted = totals(renewed)
    assert (counted["handovers"], counted["unstable"], counted["lost"]) == (1, 0, 0)


def test_the_same_seed_gives_the_same_run_with_any_number_of_threads(contest):
    one, two = (plain(contest(DRIFT, threads=n).run("knowledge_base")) for n in (1, 2))
    assert json.dumps(one) == json.dumps(two)


def test_a_gain_that_is_not_worth_a_handover_is_left(contest):
    told = contest(DRIFT, gain=0.9).run("knowledge_base")
    assert told[1].decision == "kept"
    assert "it gains less than 90 %" in told[1].words
    assert np.array_equal(told[2].theta, told[0].theta)


def test_an_instrument_that_contradicts_the_window_is_refused(contest):
    wrong = DeclaredMeasurement(read_course("mu:[0=1]"), 0.02, LIMITS, wrong={"mu": 9.0})
    told = contest("mu:[0=1]", windows=2, estimator=wrong).run("knowledge_base")
    assert told[0].decision == "model refused"
    assert "does not explain the window" in told[0].words


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (10.0, "does not explain the window"),  # some members are a plant's, the others are taken to lie at its limit
        (20.0, "the instrument tells mu = 20"),
    ],
)
def test_an_instrument_that_tells_what_the_plant_cannot_have_is_refused(contest, factor, words):
    wrong = DeclaredMeasurement(read_course("mu:[0=1]"), 0.02, LIMITS, wrong={"mu": factor})
    estimate = wrong.estimate(0, 0.0, (), 1)
    assert estimate.members.max() <= 10.0
    told = contest("mu:[0=1]", windows=2, estimator=wrong).run("knowledge_base")
    assert told[0].decision == "model refused"
    assert words in told[0].words


def test_what_takes_over_is_rolled_back_when_it_does_worse_than_its_replays(contest):
    """The plant goes on to where no gains hold it well; nobody foresaw that."""
    told = contest("mu:[0=1,16=1,20=4,33=4,33=10]").run("knowledge_base")
    assert told[1].decision == "renewed"
    assert told[2].rolled_back_at is not None
    assert 33.0 < told[2].rolled_back_at <= 48.0
    assert np.array_equal(told[2].theta, told[0].theta)
    assert totals(plain(told))["unstable"] == 1


def test_members_tell_whether_a_value_has_changed():
    estimate = PlantEstimate(("mu",), np.linspace(1.0, 2.0, 101)[:, None])
    assert estimate.holds({"mu": 1.5})
    assert not estimate.holds({"mu": 1.01})
    searched, judged = ({one["mu"] for one in estimate.some(8, first)} for first in (0, 1))
    assert not searched & judged


@pytest.mark.slow
def test_the_log_of_a_window_tells_the_plant(contest):
    made = contest("mu:[0=2]", windows=2)
    plant = made.programme.plant
    estimator = IdentifiedEnsemble(plant, ("mu",), 0.01, 8, "excitation", longest_dead_time=0.2, threads=2)
    told = contest("mu:[0=2]", windows=2, estimator=estimator).run("knowledge_base")[0]
    low, _, high = told.estimate["mu"]
    assert told.decision in {"renewed", "kept"}
    assert 1.4 < low < 2.4 < 1.2 * high
