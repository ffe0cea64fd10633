"""The hand-made fuzzy PID: the published tables, ranges and formula, and its four scaling factors."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from controllers import PID, pid_form
from controllers.probes import gains_at
from flcs import FuzzyController, Inference, KnowledgeBase
from flcs.refinement.hand_made import (
    ALPHA,
    DERIVATIVE,
    PROPORTIONAL,
    WIDEST,
    from_gains,
    from_ultimate,
    rule_base,
    rule_gains,
    scaled,
    written,
)

RANGES = from_ultimate(5.0, 2.0)
BOX = ((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))
SMALL, BIG = exp(-4.0), 1.0 - exp(-4.0)


def knowledge_base(widest=1.0, box=BOX):
    law = pid_form.describe(PID(sample_time=0.01))
    base = rule_base("y", (2.0, 6.0), RANGES, box, units=("m", "m/s"), widest=widest, law=law)
    return KnowledgeBase("van_der_pol", (base,), Inference(fade=1e9), tick=0.04)


@pytest.mark.parametrize("table", [PROPORTIONAL, DERIVATIVE, ALPHA], ids=["kp", "kd", "alpha"])
def test_tables_are_seven_by_seven_and_know_no_direction(table):
    """The same for an error and its mirror image, whichever way it moves."""
    words = np.array([list(row) for row in table])
    assert words.shape == (7, 7)
    np.testing.assert_array_equal(words, words[::-1])
    np.testing.assert_array_equal(words, words[:, ::-1])


def test_tables_are_the_published_ones():
    """Tables I-III of the paper, from the outer error to none, for rates NB to ZO; the rest is symmetry."""
    assert [row[:4] for row in PROPORTIONAL[:4]] == ["BBBB", "SBBB", "SSBB", "SSSB"]
    assert [row[:4] for row in DERIVATIVE[:4]] == ["SSSS", "BBSS", "BBBS", "BBBB"]
    assert [row[:4] for row in ALPHA[:4]] == ["2222", "3322", "4332", "5433"]


def test_ranges_are_the_published_shares_of_the_ultimate_gain():
    assert RANGES.kp == pytest.approx((1.6, 3.0))
    assert RANGES.kd == pytest.approx((0.8, 1.5))


def test_gains_of_ziegler_and_nichols_stand_for_the_ultimate_gain():
    """kp = 0.6 Ku, kd = 0.075 Ku Tu: from them the same ranges follow, also without kd, from ki = 1.2 Ku / Tu."""
    for kd in (0.075 * 5.0 * 2.0, 0.0):
        found = from_gains((3.0, 1.2 * 5.0 / 2.0, kd), 10.0)
        assert found.kp == pytest.approx(RANGES.kp)
        assert found.kd == pytest.approx(RANGES.kd)
    assert from_gains((3.0, 0.0, 0.0), 10.0) is None
    assert "no derivative action" in from_gains((3.0, 3.0, 0.0), 10.0).text


def test_a_rules_gains():
    """In the outer corner kp is big and kd small, alpha 2; at rest both are big, alpha 3."""
    kp, ki, kd = np.moveaxis(rule_gains(RANGES.kp, RANGES.kd), -1, 0)
    big, small = 1.6 + BIG * 1.4, 0.8 + SMALL * 0.7
    assert (kp[0], kd[0], ki[0]) == pytest.approx((big, small, big**2 / (2.0 * small)))
    rest_kd = 0.8 + BIG * 0.7
    assert (kp[24], kd[24], ki[24]) == pytest.approx((big, rest_kd, big**2 / (3.0 * rest_kd)))
    assert kp[3 * 7] == pytest.approx(1.6 + SMALL * 1.4)  # no error, fast: small kp, alpha 5
    assert ki[3 * 7] == pytest.approx(kp[3 * 7] ** 2 / (5.0 * rest_kd))


def test_the_knowledge_base_gives_the_rules_gains_at_their_places_and_beyond():
    kb = knowledge_base()
    assert kb.n_rules == 49
    gains = rule_gains(RANGES.kp, RANGES.kd).reshape(7, 7, 3)
    e, rate = np.linspace(-2.0, 2.0, 7), np.linspace(-6.0, 6.0, 7)
    grid = np.stack(np.meshgrid(e, rate, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(kb.gains(grid), gains.reshape(-1, 3), rtol=1e-12)
    np.testing.assert_allclose(kb.gains(np.array([[20.0, 60.0]])), gains[:1, 0], rtol=1e-6)  # fade is 1e9 ranges
    middle = kb.gains(np.array([[1.0 / 3.0, 0.0]]))[0]
    np.testing.assert_allclose(middle, 0.5 * (gains[3, 3] + gains[4, 3]), rtol=1e-12)


def test_rules_are_cut_off_at_the_box():
    kb = knowledge_base(box=((0.0, 0.0, 1.0), (2.5, 1.0, 10.0)))
    values = np.array([rule.gains for rule in kb.channels[0].rules])
    assert values.max(axis=0)[:2].tolist() == [2.5, 1.0]
    assert values[:, 2].min() == 1.0


# --------------------------------------------------------------------------------------------------- scaling factors


@pytest.fixture(scope="module")
def candidate():
    return scaled(knowledge_base(WIDEST), (RANGES,), (PID(sample_time=0.01),), "scaled", "scaled")


def test_the_search_starts_from_the_published_rules(candidate):
    np.testing.assert_array_equal(candidate.start, 1.0)
    np.testing.assert_allclose(candidate.decode(candidate.start)[0], candidate.controller.theta, rtol=1e-12)


@pytest.mark.parametrize("factors", [(2.0, 0.5, 1.5, 0.8), (1.0 / WIDEST,) * 4, (WIDEST,) * 4])
def test_factors_scale_ranges_and_gains(candidate, factors):
    """The decoded knowledge base is the hand-made one with other ranges; ki follows from the scaled kp and kd."""
    of_e, of_rate, of_kp, of_kd = factors
    kb = candidate.controller.with_theta(candidate.decode(np.array([factors]))[0])
    kp, kd = (np.array(pair) * factor for pair, factor in ((RANGES.kp, of_kp), (RANGES.kd, of_kd)))
    gains = np.clip(rule_gains(kp, kd), *BOX).reshape(7, 7, 3)
    e, rate = np.linspace(-2.0, 2.0, 7) * of_e, np.linspace(-6.0, 6.0, 7) * of_rate
    grid = np.stack(np.meshgrid(e, rate, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(kb.gains(grid), gains.reshape(-1, 3), rtol=1e-9)


def test_two_channels_have_factors_of_their_own():
    law = pid_form.describe(PID(sample_time=0.01))
    bases = tuple(rule_base(name, (1.0, 1.0), RANGES, BOX, widest=WIDEST, law=law) for name in ("a", "b"))
    two = scaled(KnowledgeBase("x", bases, tick=0.04), (RANGES, RANGES), (PID(sample_time=0.01),) * 2, "two", "two")
    kb = two.controller.with_theta(two.decode(np.array([[1, 1, 1, 1, 1, 1, 0.5, 1.0]]))[0])
    first, second = (np.array([rule.gains for rule in base.rules]) for base in kb.channels)
    np.testing.assert_allclose(second[:, 0], 0.5 * first[:, 0])
    np.testing.assert_allclose(second[:, 1], 0.25 * first[:, 1])  # ki goes with the square of kp
    schedule, theta = two.controller.schedule, two.decode(np.array([[1, 1, 1, 1, 1, 1, 0.5, 1.0]]))
    rest = gains_at(schedule, theta, schedule.at_rest(theta, []))[0]
    np.testing.assert_allclose(rest, [[*first[24], *second[24]]])
    better = written(two, two.decode(np.array([[1, 1, 1, 1, 1, 1, 0.5, 1.0]]))[0])
    assert [base.reference for base in better.channels] == [tuple(first[24]), tuple(second[24])]


def test_margins_are_asked_of_the_scaled_rules_alone():
    """The terms cover the ranges wholly, and gains hardly fade outside: reference gains, which are not scaled, never act."""
    base = rule_base("y", (2.0, 6.0), RANGES, BOX, widest=WIDEST, law=pid_form.describe(PID(sample_time=0.01)))
    kb = KnowledgeBase("van_der_pol", (base,), Inference(fade=1e9), tick=0.04)
    one = scaled(kb, (RANGES,), (PID(sample_time=0.01),), "one", "one")
    theta = one.decode(np.array([[2.0, 0.5, 0.3, 0.4]]))
    schedule = one.controller.schedule
    rules = np.array([rule.gains for rule in one.controller.with_theta(theta[0]).channels[0].rules])
    found = gains_at(schedule, theta, schedule.probes(theta, {}, 100))[0]
    assert (base.reference > rules.max(axis=0)).all()
    np.testing.assert_allclose(found[:49], rules, rtol=1e-12)
    assert (found >= rules.min(axis=0) - 1e-6).all()
    assert (found <= rules.max(axis=0) + 1e-6).all()


def test_other_rules_are_refused():
    kb = knowledge_base(WIDEST)
    fewer = KnowledgeBase(kb.plant, (kb.channels[0].switched([True] * 48 + [False]).compact(),), kb.inference, kb.tick)
    with pytest.raises(ValueError, match="the rules must be the 49"):
        scaled(fewer, (RANGES,), FuzzyController(fewer).laws, "fewer", "fewer")
