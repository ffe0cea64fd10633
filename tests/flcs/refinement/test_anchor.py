"""Reference gains inside the margins: what a start costs whose gains lie on the limit, and rules that are drawn in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import FuzzyController, Inference, KnowledgeBase
from flcs.refinement.genome import with_reference
from flcs.refinement.refinement import anchored, certified, repaired
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from tests.flcs.rule_bases import nine_rules

LAWS = (PID(sample_time=0.02),)
CALM, WILD = (3.62, 0.59, 3.17), (1.0, 9.0, 1.5)


@pytest.fixture(scope="module")
def margins():
    """Limits that the calm gains keep, and that the edge gains keep with next to nothing left."""
    situation = sscq.Situation("up", 1.5, initial=(0.1, 0.0), t_end=4.0)
    limits = MarginLimits(1.6, 0.05)
    return OperatingMargins(plants.get("van_der_pol"), LAWS, (situation,), 0.01, [0.0] * 3, [10.0] * 3, limits)


@pytest.fixture(scope="module")
def edge(margins):
    """Gains on the way from the calm to the wild ones, on the limit itself."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        gains = (1.0 - middle) * np.array(CALM) + middle * np.array(WILD)
        low, high = (middle, high) if margins.keeps(gains) else (low, middle)
    return tuple(((1.0 - low) * np.array(CALM) + low * np.array(WILD)).tolist())


def kb_of(gains, reference, order=0):
    return KnowledgeBase("van_der_pol", (nine_rules(gains, reference, order=order),), Inference(order=order), 0.04)


def cost(kb, margins):
    """What the search sees: the violation of its limits at its few places."""
    controller = FuzzyController(kb, laws=LAWS)
    return float(margins.violation_of(controller, controller.theta[None])[0])


def keeps(kb, margins):
    controller = FuzzyController(kb, laws=LAWS)
    return margins.keeps_of(controller, controller.theta)


def test_a_start_at_reference_gains_on_the_limit_pays_where_they_stand_at_rest(margins, edge):
    """A rule at rest inside the limits takes that away; reference gains beyond the limit in passing no rule does."""
    assert margins.keeps(np.array(edge))
    assert cost(kb_of(edge, edge), margins) > 0.005
    assert cost(kb_of(CALM, edge), margins) == 0.0
    assert cost(with_reference(anchored(kb_of(edge, edge), CALM)), margins) == 0.0
    floor = cost(kb_of(CALM, WILD), margins)
    assert floor > 2.0  # unstable
    assert cost(anchored(kb_of(CALM, WILD), CALM), margins) == 0.0


def test_anchored_changes_the_reference_and_nothing_else(edge):
    kb = kb_of(CALM, CALM)
    other = anchored(kb, edge)
    assert other.channels[0].reference == edge
    assert replace(other, channels=kb.channels) == kb
    assert replace(other.channels[0], reference=CALM) == kb.channels[0]
    far = np.array([[50.0, 0.0]])  # so far outside that the reference gains rule
    np.testing.assert_allclose(other.gains(far), [edge], rtol=0.0, atol=1e-12)


def test_two_channels_take_their_own_gains(edge):
    kb = kb_of(CALM, CALM)
    both = replace(kb, channels=(kb.channels[0], replace(kb.channels[0], name="other")))
    assert [base.reference for base in anchored(both, [*CALM, *edge]).channels] == [CALM, edge]


def test_repaired_draws_the_rules_in_until_they_keep_the_limits(margins):
    rows = np.array(CALM) + np.linspace(0.0, 1.0, 9)[:, None] * (np.array(WILD) - CALM)
    kb = kb_of(rows, CALM)
    assert not keeps(kb, margins)
    better = repaired(kb, margins, LAWS)
    assert keeps(better, margins)
    assert better.inference.authority == 1.0
    moved = np.array([rule.gains for rule in better.channels[0].rules]) - CALM
    share = moved[-1] / (np.array(WILD) - CALM)
    assert 0.05 < share[0] < 0.95
    np.testing.assert_allclose(moved, share[0] * (rows - CALM), rtol=0.0, atol=1e-12)
    # It is what authority would make of it.
    weak = certified(kb, margins, LAWS)
    points = np.random.default_rng(0).uniform((-2.0, -4.0), (2.0, 4.0), (40, 2))
    np.testing.assert_allclose(better.gains(points), weak.gains(points), rtol=0.0, atol=1e-12)


def test_slopes_are_drawn_in_with_the_gains(margins):
    kb = kb_of(CALM, CALM, order=1)
    steep = tuple(replace(rule, slopes=((4.0, 0.0), (4.0, 2.0), (-3.0, 0.0))) for rule in kb.channels[0].rules)
    kb = replace(kb, channels=(replace(kb.channels[0], rules=steep),))
    assert not keeps(kb, margins)
    better = repaired(kb, margins, LAWS)
    assert keeps(better, margins)
    share = better.channels[0].rules[0].slopes[0][0] / 4.0
    assert 0.0 < share < 1.0
    assert better.channels[0].rules[0].slopes[1] == pytest.approx((4.0 * share, 2.0 * share), abs=1e-12)


def test_what_keeps_the_limits_or_has_none_stays_as_it_is(margins):
    calm = with_reference(kb_of(CALM, CALM))
    assert repaired(calm, margins, LAWS) is calm
    wild = kb_of(WILD, CALM)
    assert repaired(wild, None, LAWS) is wild
