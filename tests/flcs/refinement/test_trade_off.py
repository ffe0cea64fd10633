"""Number of rules against fitness: the way down, what is kept, and how it is stored and told."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import FuzzyController, KnowledgeBase
from flcs.refinement.rule_count import TradeOff, TradeOffPoint, choose, prune
from sscq.baselines.objective import Objective, Task
from sscq.fitness import Fitness
from tests.flcs.rule_bases import nine_rules, value_in_loop
from tests.reference.closed_loop_twin import uncompiled

VDP = plants.get("van_der_pol")
LAWS = (PID(sample_time=0.02),)
STEP = 0.01
SITUATIONS = (
    sscq.Situation("up", 1.5, initial=(0.1, 0.0), t_end=4.0), sscq.Situation("back", 0.0, initial=(2.0, 0.5), t_end=4.0)
)  # fmt: skip


def base(gains):
    return nine_rules(gains, (0.0, 0.0, 0.0))


RANDOM = np.random.default_rng(4).uniform((1.0, 0.1, 1.0), (8.0, 2.0, 6.0), (9, 3))
SOME = KnowledgeBase("van_der_pol", (base(RANDOM),), tick=0.04)


def value_of(kb, task):
    return value_in_loop(kb, task, LAWS)


TRACKING = Fitness(entropy_weight=0.0)
BOTH = Task(VDP, SITUATIONS, TRACKING, STEP, threads=1)
UP = BOTH.on(SITUATIONS[:1])
NAMES = [f"on[{e},{rate}]" for e in "NZP" for rate in "NZP"]
# Nine equal rules over reference gains of 0: a rule is missed only where what is left fires too little.
EQUAL = KnowledgeBase("van_der_pol", (base((5.0, 1.5, 4.0)),), tick=0.04)


def masks(kb):
    return [rule.on for rule in kb.channels[0].rules]


def without(kb, number):
    return kb.with_channel(0, kb.channels[0].switched([on and k != number for k, on in enumerate(masks(kb))]))


def test_useless_rules_go_and_important_ones_stay():
    """Error rates stay within a half of their range, so the rules of rate zero alone fire enough everywhere."""
    pruned, curve = prune(BOTH, EQUAL, laws=LAWS)
    assert sorted(curve.dropped) == sorted(name for name in NAMES if not name.endswith(",Z]"))
    assert masks(pruned) == [name.endswith(",Z]") for name in NAMES]
    before, after = value_of(EQUAL, BOTH), value_of(pruned, BOTH)
    assert after == pytest.approx(before, rel=1e-9)  # nothing but rounding
    assert after == pytest.approx(curve.kept.taught, rel=1e-12)
    for number in (1, 4, 7):
        assert value_of(without(pruned, number), BOTH) > 1.02 * before
    assert [rule.gains for rule in pruned.channels[0].rules] == [rule.gains for rule in EQUAL.channels[0].rules]


def test_a_rule_for_what_never_happens_is_useless():
    """From 0.1 up to 1.5 the error is never negative: there the rule of e negative, rate zero goes as well."""
    with uncompiled():
        run = sscq.record(VDP, FuzzyController(EQUAL, laws=LAWS), None, UP.situations[0], STEP)
    assert run["error position"].min() > -0.1
    pruned, _ = prune(UP, EQUAL, laws=LAWS)
    assert masks(pruned) == [name in {"on[Z,Z]", "on[P,Z]"} for name in NAMES]


def test_the_least_important_goes_first():
    _, curve = prune(BOTH, SOME, laws=LAWS, loss=10.0)
    assert len(curve.dropped) == 8  # with such a loss allowed, all but one
    controller = FuzzyController(SOME, laws=LAWS)
    trials = np.tile(controller.theta, (9, 1))
    places = [controller.theta_names.index(name) for name in NAMES]
    trials[np.arange(9), places] = 0.0
    each = Objective(BOTH, controller)(trials)
    assert (curve.points[1].dropped, curve.points[1].taught) == (NAMES[int(np.argmin(each))], each.min())
    whole = value_of(SOME, BOTH)
    kept = curve.points[curve.chosen - 1].dropped  # went before: its worth is that against all rules
    assert curve.importance[kept] == pytest.approx(each[NAMES.index(kept)] - whole, abs=1e-12)


def test_the_loss_is_one_of_all_rules_together():
    counts = []
    for loss in (0.0, 0.02, 0.3, 3.0):
        pruned, _ = prune(BOTH, SOME, laws=LAWS, loss=loss)
        assert value_of(pruned, BOTH) <= (1.0 + loss) * value_of(SOME, BOTH) * (1.0 + 1e-12)
        counts.append(pruned.n_rules)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


class NeedsACorner:
    """Margins that nothing keeps without the rule of e negative, rate negative, which the loop does not miss."""

    def tightened(self, share):
        return self

    def violation_of(self, controller, theta, threads=1):
        return 1.0 - theta[:, controller.theta_names.index(NAMES[0])]


def test_a_rule_that_margins_need_stays():
    assert NAMES[0] in prune(BOTH, EQUAL, laws=LAWS)[1].dropped
    pruned, curve = prune(BOTH, EQUAL, laws=LAWS, margins=NeedsACorner())
    assert masks(pruned) == [name == NAMES[0] or name.endswith(",Z]") for name in NAMES]
    assert curve.points[0].taught == pytest.approx(value_of(EQUAL, BOTH), rel=1e-12)


def test_no_more_rules_than_allowed_whatever_they_cost():
    pruned, curve = prune(BOTH, EQUAL, laws=LAWS, loss=0.0, most=2)
    assert pruned.n_rules == 2
    assert len(curve.dropped) == 7
    assert value_of(pruned, BOTH) > 1.02 * value_of(EQUAL, BOTH)


def test_rules_that_are_off_are_not_asked_again():
    kb = EQUAL.with_channel(0, EQUAL.channels[0].switched([k != 8 for k in range(9)]))
    _, curve = prune(BOTH, kb, laws=LAWS)
    assert sorted(curve.dropped) == ["on[N,N]", "on[N,P]", "on[P,N]", "on[Z,N]", "on[Z,P]"]


# ------------------------------------------------------------------------------------------------------ the way down


def test_the_way_down_is_greedy_and_ends_at_one_rule():
    """Each step recomputed rule by rule, with one base compiled in at a time."""
    _, curve = prune(BOTH, SOME, laws=LAWS)
    assert [point.rules for point in curve.points] == list(range(9, 0, -1))
    kb = SOME
    for point in curve.points[1:3]:
        on = [k for k, rule in enumerate(kb.channels[0].rules) if rule.on]
        values = {NAMES[k]: value_of(without(kb, k), BOTH) for k in on}
        assert point.dropped == min(values, key=values.__getitem__)
        # The same numbers in another order of operations: rounding of the loop's few hundred samples.
        assert point.taught == pytest.approx(values[point.dropped], rel=1e-9)
        kb = without(kb, NAMES.index(point.dropped))


def test_kept_rules_are_worth_what_the_loop_loses_without_them():
    pruned, curve = prune(BOTH, EQUAL, laws=LAWS)
    for number in (1, 4, 7):
        worth = value_of(without(pruned, number), BOTH) - curve.kept.taught
        assert curve.importance[NAMES[number]] == pytest.approx(worth, rel=1e-9)
        assert curve.share_of(NAMES[number]) == pytest.approx(worth / curve.points[0].taught, rel=1e-9)
    assert np.isnan(curve.share_of("on[far,away]"))


def test_validation_situations_have_a_veto():
    """Taught only upwards, the rules of negative errors are not missed; coming back from 2, they are."""
    back = BOTH.on(SITUATIONS[1:])
    alone, _ = prune(UP, EQUAL, laws=LAWS)
    judged, curve = prune(UP, EQUAL, laws=LAWS, validation=back)
    assert not masks(alone)[1]
    assert masks(judged)[1]
    assert curve.kept.validation <= 1.005 * curve.points[0].validation
    assert curve.kept.validation == pytest.approx(value_of(judged, back), rel=1e-12)


def points(*values):
    return tuple(TradeOffPoint(len(values) - k, "", *value) for k, value in enumerate(values))


@pytest.mark.parametrize(
    ("way", "loss", "most", "rules"),
    [
        (points((1.0,), (1.0,), (1.004,), (1.2,)), 0.005, 25, 2),
        (points((1.0,), (1.0,), (1.006,), (1.004,), (1.2,)), 0.005, 25, 2),  # worse on the way, good again
        (points((1.0,), (0.9,), (0.9,), (0.99,)), 0.005, 25, 2),  # from the best, not from all rules
        (points((1.0, 2.0), (1.0, 2.02), (1.0, 2.0), (1.0, 2.02)), 0.005, 25, 2),
        (points((1.0, 2.0), (0.9, 1.8), (0.9, 1.99)), 0.005, 25, 1),  # validation only has a veto
        (points((-1.0,), (-0.996,), (-0.9,)), 0.005, 25, 2),  # signed fitness
        (points((1.0,), (1.1,), (1.2,), (1.3,)), 0.005, 2, 2),  # none is good: the least bad of those allowed
        (points((1.0, 1.0), (1.1, 1.3), (1.2, 1.2), (1.3, 1.9)), 0.005, 3, 2),
        (points((1.0,), (1.0,)), 0.0, 25, 1),
    ],
)
def test_the_fewest_rules_within_the_loss(way, loss, most, rules):
    assert way[choose(way, loss, most)].rules == rules


def test_a_trade_off_is_plain_data_and_a_sentence():
    curve = TradeOff(points((2.0, 3.0), (2.0, 2.97), (2.008, 3.0)), 2, 0.005, {"on[N,Z]": 0.25})
    stored = json.loads(json.dumps(curve.document()))
    assert TradeOff.of(stored) == curve
    assert curve.sentence() == "1 rule of 3 at +0.4 % (validation +0.0 %)"
    assert curve.losses(curve.points[1]) == (0.0, pytest.approx(-0.01))
    assert "validation" not in TradeOff(points((2.0,), (2.1,)), 1, 0.1, {}).sentence()


def test_without_rules_or_with_a_loop_that_fails_there_is_no_way_down(monkeypatch):
    with pytest.raises(ValueError, match="no rule that is on"):
        prune(BOTH, EQUAL.with_channel(0, EQUAL.channels[0].switched([False] * 9)), laws=LAWS)
    monkeypatch.setattr(Objective, "__call__", lambda _, genomes: np.full(len(genomes), np.inf))
    with pytest.raises(ValueError, match="finite fitness, got inf"):
        prune(BOTH, EQUAL, laws=LAWS)
