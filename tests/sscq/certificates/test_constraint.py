"""A Lyapunov function as a constraint of a search: who pays nothing is certified, and slopes lead back inside."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID
from flcs import FuzzyController, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import Rule
from sscq.certificates.certificate import decays
from sscq.certificates.certify import frozen_family
from sscq.certificates.constraint import CertifiedMargins, LyapunovSet, roomiest
from sscq.certificates.gain_hull import GainHull
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.situations.situation import Situation

VDP = plants.get("van_der_pol")
SETS = np.array([[3.0, 1.0, 3.0], [5.0, 2.0, 4.0], [4.0, 1.0, 5.0]])
REFERENCE = np.array([4.0, 1.5, 4.0])

pytest.importorskip("clarabel")


@pytest.fixture(scope="module", params=["continuous", "sampled"])
def inside(request):
    """Family, Lyapunov function and the set of gains that it allows."""
    law = PID(sample_time=0.01 if request.param == "sampled" else None)
    hull = GainHull(("a", "b", "c"), SETS)
    family = frozen_family(VDP, law, hull)
    found = roomiest(family, REFERENCE)
    return family, found.P, LyapunovSet.of(family, found.P, REFERENCE)


def matrices(family, gains):
    return replace(family, hull=GainHull(tuple(map(str, range(len(gains)))), gains)).members()[1]


def test_who_pays_nothing_decays_in_the_given_function(inside):
    family, P, allowed = inside
    drawn = np.random.default_rng(3).uniform([1.0, 0.5, 1.0], [8.0, 4.0, 8.0], (400, 3))
    paid = allowed.violation(drawn[:, None])[0]
    decay = np.array([decays(matrices(family, row[None]), P, family.sample_time).min() for row in drawn])
    assert 20 < (paid == 0.0).sum() < 380  # both kinds are there
    assert (decay[paid == 0.0] > 0.0).all()
    assert (paid[decay <= 0.0] > 0.0).all()


def test_the_hull_and_room_around_it_are_allowed(inside):
    _, _, allowed = inside
    assert not allowed.violation(SETS[None])[0].any()
    wider = REFERENCE + 1.1 * (SETS - REFERENCE)
    assert not allowed.violation(wider[None])[0].any()


def test_slopes_are_those_of_small_differences(inside):
    _, _, allowed = inside
    gains = np.random.default_rng(4).uniform([0.0, 3.0, 0.0], [6.0, 9.0, 2.0], (5, 4, 3))  # too little damping
    paid, slopes = allowed.violation(gains)
    assert (paid > 0.0).all()
    step = 1e-6  # truncation about step^2, rounding about 1e-16 / step
    for place in np.ndindex(4, 3):
        moved = np.zeros((4, 3))
        moved[place] = step
        ahead, behind = (allowed.violation(gains + sign * moved)[0] for sign in (1.0, -1.0))
        np.testing.assert_allclose(slopes[:, *place], (ahead - behind) / (2.0 * step), rtol=1e-5, atol=1e-6)


def test_no_function_is_found_where_a_member_is_unstable():
    bad = GainHull(("a", "b"), np.array([[4.0, 1.5, 4.0], [4.0, 1.0, 0.3]]))
    assert roomiest(frozen_family(VDP, PID(sample_time=0.01), bad), REFERENCE) is None


@pytest.fixture(scope="module")
def searched(inside):
    """A knowledge base whose terms and gains a search moves, with and without margins beside the function."""
    _, _, allowed = inside
    e = Variable("e", "m", -1.5, 1.5, (-1.0, 0.0, 1.0))
    rules = tuple(Rule((i,), tuple(row)) for i, row in enumerate(((4.0, 8.0, 0.5), *SETS[:2])))
    base = RuleBase("position", (e,), rules, (0.0,) * 3, (20.0,) * 3, tuple(REFERENCE), law={"sample_time": 0.01})
    controller = FuzzyController(KnowledgeBase("van_der_pol", (base,)), free=("consequents", "terms"))
    limits = MarginLimits(1.3)
    margins = OperatingMargins(VDP, controller, (Situation(),), VDP.step, (0.0,) * 3, (20.0,) * 3, limits)
    return controller, allowed, margins


@pytest.mark.parametrize("with_margins", [False, True])
def test_slopes_of_margins_and_function_add_up(searched, with_margins):
    controller, allowed, margins = searched
    asked = CertifiedMargins(allowed, margins if with_margins else None)
    theta = controller.theta[None]
    paid = asked.violation_of(controller, theta)
    own = allowed.violation(controller.schedule.vertices(theta))[0]
    assert own > 0.0
    assert paid == own + (margins.violation_of(controller, theta) if with_margins else 0.0)
    assert not asked.keeps_of(controller, theta[0])
    size = theta.shape[1]
    ahead = theta[:, None] + 1e-6 * np.eye(size)
    slopes = asked.violation_slopes(controller, theta, ahead, np.full((1, size), 1e-6))
    margin_slopes = margins.violation_slopes(controller, theta, ahead, np.full((1, size), 1e-6))
    rest = slopes - margin_slopes if with_margins else slopes
    by_hand = (asked.inside.violation(controller.schedule.vertices(ahead[0]))[0] - own) / 1e-6
    np.testing.assert_allclose(rest[0], by_hand, rtol=1e-3, atol=1e-4)  # one-sided: an error of about the step


def test_what_keeps_the_function_and_no_margins_is_kept(searched):
    controller, allowed, margins = searched
    theta = controller.theta.copy()
    theta[:3] = REFERENCE
    assert CertifiedMargins(allowed).keeps_of(controller, theta)
    strict = margins.with_limits(MarginLimits(1.001))
    assert not CertifiedMargins(allowed, strict).keeps_of(controller, theta)
    loose = CertifiedMargins(allowed, strict).tightened(-1e4)
    assert loose.keeps_of(controller, theta)
