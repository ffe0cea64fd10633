"""Blended knowledge bases: shares, the planted gate that is found again, and the loop under a blend."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import FuzzyController
from flcs.blend import BlendedController, BlendedSchedule, per_situation
from flcs.gate import Gate, fit_gate
from flcs.teaching_rows import TeachingRows
from sscq.closed_loop import ClosedLoop
from tests.reference.closed_loop_twin import uncompiled

PLANTED = Gate((0.2, -0.5), (1.0, 2.0), ((0.5, 2.0, -1.0), (-0.5, -2.0, 1.0)))


def constant(kb, gains):
    """The knowledge base with the same gains in all rules and as reference."""
    base = kb.channels[0]
    rules = tuple(replace(rule, gains=gains, slopes=()) for rule in base.rules)
    return kb.with_channel(0, replace(base, rules=rules, reference=gains))


@pytest.fixture
def pair(builders):
    kb = builders["kb"](tick=0.02)
    low, high = np.array(kb.channels[0].low), np.array(kb.channels[0].high)
    return tuple(constant(kb, tuple((low + part * (high - low)).tolist())) for part in (0.2, 0.7))


def signals(n=600):
    return np.random.default_rng(5).uniform((-1.5, -4.0), (1.5, 4.0), (n, 2))


def rows_of(pair, s):
    """A teaching signal that the planted gate makes of two constant bases."""
    shares = np.array(PLANTED.shares((s[:, 0], s[:, 1]))).T
    gains = shares @ np.array([kb.channels[0].reference for kb in pair])
    return TeachingRows(
        s, gains, np.ones(len(s)), np.arange(len(s)) % 3, ("e", "e_rate"), pair[0].gain_names
    )  # fmt: skip


def test_shares_are_positive_and_sum_up_to_1():
    shares = np.array(PLANTED.shares((signals()[:, 0] * 100.0, signals()[:, 1])))
    assert (shares > 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-15)


def test_shares_by_hand():
    """Two bases: the odds are those of a logistic function; far out the gate sees the edge, 3 scales away."""
    first = PLANTED.shares((0.7, 0.5))[0]
    assert first == pytest.approx(1.0 / (1.0 + np.exp(-2.0 * (0.5 + 2.0 * 0.5 - 0.5))), rel=1e-14)
    assert PLANTED.shares((1e9, -0.5))[0] == PLANTED.shares((3.2, -0.5))[0]


def test_a_planted_gate_is_found_again(pair):
    """What it makes of the bases, to 1e-4 of the box: its numbers have another centre and scale."""
    s = signals()
    rows = rows_of(pair, s)
    gate = fit_gate(pair, rows, ridge=0.0)
    schedule = BlendedSchedule(pair, gate)
    found = np.array([schedule.gains(0.0, tuple(row), (), ())[0] for row in s.tolist()])
    span = np.array(pair[0].channels[0].high) - np.array(pair[0].channels[0].low)
    assert np.abs((found - rows.gains) / span).max() < 1e-4


def test_a_ridge_holds_the_slopes_down(pair):
    rows = rows_of(pair, signals())
    free, held = (np.array(fit_gate(pair, rows, ridge=ridge).weights) for ridge in (0.0, 1e3))
    assert np.abs(held[:, 1:]).max() < 1e-3 < np.abs(free[:, 1:]).max()


def test_a_blend_of_equal_bases_is_the_base(builders):
    """In closed loop, in plain Python: the same run but for the rounding of shares that sum up to 1."""
    kb = builders["kb"](tick=0.02)
    vdp, law = plants.get("van_der_pol"), PID(sample_time=0.02)
    blend = BlendedController((kb, kb), PLANTED, (law,))
    situation = (sscq.Situation("step", 1.0, t_end=1.0),)
    with uncompiled():
        one, other = (
            ClosedLoop(vdp, controller, situation, 0.02, measures=("iae", "effort"), lanes=1).evaluate(theta[None])
            for controller, theta in ((blend, np.zeros(0)), (FuzzyController(kb, free=(), laws=law), np.zeros(0)))
        )
    for name in ("iae", "effort"):
        np.testing.assert_allclose(one.values[name], other.values[name], rtol=1e-11)


def test_one_base_for_each_situation(pair):
    rows = rows_of(pair, signals(9))
    found = per_situation(lambda part: part, rows)
    assert [part.situation.tolist() for part in found] == [[0] * 3, [1] * 3, [2] * 3]
    np.testing.assert_array_equal(found[1].inputs, rows.inputs[1::3])


def test_bases_that_do_not_fit_are_refused(pair):
    with pytest.raises(ValueError, match="a gate of 2 shares needs as many bases, got 1"):
        BlendedSchedule(pair[:1], PLANTED)
    with pytest.raises(ValueError, match="same gains and tick"):
        BlendedSchedule((pair[0], replace(pair[1], tick=0.04)), PLANTED)
