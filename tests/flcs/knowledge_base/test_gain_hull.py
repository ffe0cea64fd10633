"""Everything a knowledge base can give lies in its hull; a rule that spoils the certificate is named."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import Rule
from flcs.knowledge_base.gain_hull import gain_hull
from flcs.refinement.refinement import with_whole_authority
from tests.flcs.rule_bases import in_hull

VDP = plants.get("van_der_pol")
E = Variable("e", "m", -1.5, 1.5, (-1.0, 0.0, 1.0))
GOOD = ((3.0, 1.0, 3.0), (5.0, 2.0, 4.0), (4.0, 1.0, 5.0))


def scheduled(gains=GOOD, **settings):
    rules = tuple(Rule((i,), row) for i, row in enumerate(gains))
    base = RuleBase("position", (E,), rules, (0.0,) * 3, (20.0,) * 3, (4.0, 1.5, 4.0), law={"sample_time": 0.01})
    return KnowledgeBase("van_der_pol", (base,), **settings)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("authority", [1.0, 0.4])
def test_all_gains_of_a_knowledge_base_are_in_its_hull(builders, order, authority):
    kb = builders["kb"](order=order, authority=authority, seed=4)
    hull = gain_hull(kb).gains
    inputs = np.random.default_rng(0).uniform((-4.0, -9.0), (4.0, 9.0), (60, 2))  # also outside what was taught
    gains = kb.gains(inputs)
    assert all(in_hull(hull, row) for row in gains)
    assert not in_hull(hull, hull.max(axis=0) + 0.1)


def test_a_slew_limit_lets_gains_leave_the_hull_of_the_rules():
    """Two rules on a diagonal; kp arrives before ki does, and the gains are off the diagonal on the way."""
    kb = scheduled(((2.0, 0.5, 3.0), (2.0, 0.5, 3.0), (4.0, 8.0, 3.0)), tick=0.01, slew=10.0)
    kb = kb.with_channel(0, replace(kb.channels[0], reference=(2.0, 0.5, 3.0)))
    schedule = FuzzyController(kb).frozen().schedule
    gains, _ = schedule.gains(0.0, (1.5, 0.0), schedule.initial(), ())
    plain = gain_hull(replace(kb, slew=None)).gains
    assert not in_hull(plain, np.array(gains))
    assert in_hull(gain_hull(kb).gains, np.array(gains))
    assert "low kp, high ki" in " ".join(gain_hull(kb).names)


def test_the_certificate_of_a_slew_limited_schedule_names_the_corner():
    """kp low and ki high at once break ki < (1 + kp) (kd - 1) about rest, which every rule keeps."""
    pytest.importorskip("clarabel")
    kb = scheduled(((1.0, 0.5, 3.0), (1.0, 0.5, 3.0), (4.0, 5.0, 3.0)), tick=0.01)
    kb = kb.with_channel(0, replace(kb.channels[0], reference=(1.0, 0.5, 3.0)))
    free = sscq.certify(VDP, FuzzyController(kb))
    assert free.bound > 0.0
    limited = sscq.certify(VDP, FuzzyController(replace(kb, slew=0.2)))
    assert limited.worst == "corner with low kp, high ki at position 0"
    assert limited.verdict == "unstable member"


def test_a_good_knowledge_base_holds_and_one_bad_rule_is_named():
    pytest.importorskip("clarabel")
    found = sscq.certify(VDP, FuzzyController(scheduled()))
    assert found.holds
    assert found.sample_time == 0.01
    assert found.n_members == 4 * 5
    bad = sscq.certify(VDP, FuzzyController(scheduled((*GOOD[:2], (4.0, 1.0, 0.3)))))
    assert bad.verdict == "unstable member"
    assert bad.worst == "rule [e P] at position 0"
    off = scheduled((*GOOD[:2], (4.0, 1.0, 0.3)))
    off = off.with_channel(0, off.channels[0].switched([True, True, False]))
    assert sscq.certify(VDP, FuzzyController(off)).holds
    # Half way to the reference gains, the rule gives kd = 2.15: enough.
    assert sscq.certify(VDP, FuzzyController(scheduled((*GOOD[:2], (4.0, 1.0, 0.3))), authority=0.5)).holds


def test_rules_beyond_the_box_are_cut_off_after_the_mean():
    """A rule that asks for kp = 60 in a box up to 20: halfway to the reference kp is still cut off, ki is halfway."""
    kb = scheduled(((60.0, 8.0, 3.0), GOOD[1], GOOD[2]))
    gains = kb.gains(np.linspace(-3.0, 1.5, 60)[:, None])
    cut = gain_hull(kb)
    assert all(in_hull(cut.gains, row) for row in gains)
    assert "rules cut off at the box" in cut.text
    rules = cut.gains[: len(GOOD) + 1]  # the hull of the rules, each cut off by itself, does not hold them
    assert not all(in_hull(rules, row) for row in gains)


@pytest.mark.parametrize("authority", [1.0, 0.4])
def test_vertices_of_many_variants_are_those_of_each(authority):
    kb = scheduled()
    controller = FuzzyController(kb, authority=authority)
    theta = np.random.default_rng(1).uniform(controller.theta_low, controller.theta_high, (5, len(controller.theta)))
    found = controller.schedule.vertices(theta)
    for row, sets in zip(theta, found, strict=True):
        each = gain_hull(controller.with_theta(row), authority).gains
        np.testing.assert_allclose(np.unique(sets, axis=0), np.unique(each, axis=0), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("settings", [{"order": 1}, {"slew": 0.2, "tick": 0.01}])
def test_vertices_hold_all_gains_where_these_leave_the_hull_of_the_rules(builders, settings):
    kb = builders["kb"](order=settings.get("order", 0), authority=0.8, seed=4)
    kb = replace(kb, **settings) if "slew" in settings else kb
    controller = FuzzyController(kb)
    (found,) = controller.schedule.vertices(controller.theta[None])
    assert all(in_hull(found, row) for row in gain_hull(kb).gains)


def test_whole_authority_gives_the_same_gains():
    kb = scheduled(inference=Inference(authority=0.4))
    whole = with_whole_authority(kb)
    inputs = np.linspace(-4.0, 4.0, 50)[:, None]
    assert whole.inference.authority == 1.0
    np.testing.assert_allclose(whole.gains(inputs), kb.gains(inputs), rtol=1e-13)
    with pytest.raises(ValueError, match=r"at least the knowledge base's own 0\.4, got 0\.2"):
        with_whole_authority(kb, 0.2)
