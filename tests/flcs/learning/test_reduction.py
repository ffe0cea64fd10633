"""Fewer rules: what is kept, what it costs, and the closed loop's word on it."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import FuzzyController, NetworkConfig
from flcs.learning.imitation import gain_error, prune, rank_rules
from flcs.refinement.rule_count import prune_by_importance, rule_importance

EXACT = NetworkConfig(prior_weight=0.0, smoothness=0.0, ridge=1e-9)


def corner_rows(builders, kb):
    """Rows in the lower half of the first input only: three of nine rules never fire."""
    rows = builders["rows"](kb, n=800)
    return rows.chosen(rows.inputs[:, 0] < kb.channels[0].inputs[0].centres[1])


def test_ranks_follow_the_firing_strengths(builders, kb):
    rows = builders["rows"](kb)
    rules = rank_rules(kb, rows).channels[0].rules
    total = (rows.weight[:, None] * kb.firing(rows.inputs)).sum(axis=0)
    np.testing.assert_allclose([rule.firing for rule in rules], total, rtol=1e-13)
    assert sorted(rule.rank for rule in rules) == list(range(1, 10))
    assert min(rules, key=lambda rule: rule.rank).firing == max(rule.firing for rule in rules)
    assert all(0.0 < rule.confidence < 1.0 for rule in rules)


def test_pruning_drops_rules_that_never_fire_and_keeps_the_accuracy(builders, kb):
    rows = corner_rows(builders, kb)
    pruned, report = prune(kb, rows, EXACT)
    assert (report.before, report.after) == (9, 6)
    assert all(rule.on == (rule.terms[0] < 2) for rule in pruned.channels[0].rules)
    assert report.error_before < 1e-14
    assert report.error_after < 1e-6
    assert gain_error(pruned, rows) == report.error_after


@pytest.mark.parametrize("firing", ["total", "maximum"])
def test_pruning_keeps_the_smallest_set_that_carries_enough(builders, kb, firing):
    rows = builders["rows"](kb, spread=0.5)
    strengths = kb.firing(rows.inputs)
    share = strengths.sum(axis=0) if firing == "total" else strengths.max(axis=0)
    share /= share.sum()
    config = replace(EXACT, keep_firing=0.8, weakest_firing=0.0, firing=firing)
    kept = np.array([rule.on for rule in prune(kb, rows, config)[0].channels[0].rules])
    assert share[kept].sum() >= 0.8
    assert share[kept].sum() - share[kept].min() < 0.8
    assert share[kept].min() > share[~kept].max()
    strict = prune(kb, rows, replace(config, weakest_firing=float(np.sort(share)[-2])))[1]
    assert strict.after == 2


def test_rare_rules_stay_by_their_maximum(builders, kb):
    rows = builders["rows"](kb, spread=0.05)
    far = [[v.centres[2] for v in kb.channels[0].inputs]]
    rows = replace(
        rows,
        inputs=np.concatenate([rows.inputs, far]),
        gains=np.concatenate([rows.gains, kb.gains(far)]),
        weight=np.ones(401),
        situation=np.append(rows.situation, 9),
    )
    by_total, by_maximum = (prune(kb, rows, replace(EXACT, firing=f))[0].channels[0] for f in ("total", "maximum"))
    assert not by_total.rules[8].on
    assert by_maximum.rules[8].on


def test_at_most_as_many_rules_as_allowed(builders, kb):
    pruned, report = prune(kb, builders["rows"](kb), replace(EXACT, max_rules=4))
    assert report.after == pruned.n_rules == 4
    assert {rule.rank for rule in pruned.channels[0].rules if rule.on} == {1, 2, 3, 4}


def test_without_weight_no_rule_is_kept(builders, kb):
    rows = builders["rows"](kb)
    pruned, report = prune(kb, replace(rows, weight=np.zeros(len(rows.weight))), NetworkConfig())
    assert report.after == 0
    np.testing.assert_array_equal(pruned.compact().gains([[0.3, 0.3]]), [kb.channels[0].reference])


def test_switching_off_is_removing(builders):
    for shape in ("triangular", "gaussian"):
        kb = builders["kb"](shape)
        masked = kb.with_channel(0, kb.channels[0].switched([k not in {1, 4, 8} for k in range(9)]))
        x = np.random.default_rng(0).uniform(-8.0, 8.0, (300, 2))
        np.testing.assert_array_equal(masked.gains(x), masked.compact().gains(x))
        assert masked.compact().n_rules == len(masked.compact().channels[0].rules) == 6


def loop_fitness(controller, costs):
    """A stand-in for the closed loop: every rule that is off costs what it is worth."""
    places = [k for k, name in enumerate(controller.theta_names) if name.startswith("on[")]
    calls = []

    def evaluate(theta):
        calls.append(len(theta))
        return 10.0 + (theta[:, places] < 0.5) @ costs

    return evaluate, calls


def test_importance_is_the_change_of_fitness(kb):
    kb = kb.with_channel(0, kb.channels[0].switched([k != 5 for k in range(9)]))
    controller = FuzzyController(kb)
    costs = np.arange(9.0) - 2.0
    evaluate, calls = loop_fitness(controller, costs)
    fitness, change = rule_importance(controller, evaluate)
    assert calls == [9]
    assert fitness == 10.0 + costs[5]
    expected = np.where(np.arange(9) == 5, 0.0, costs)
    np.testing.assert_allclose(change[0], expected, atol=1e-14)


def test_rules_that_cost_little_are_left_out(kb):
    controller = FuzzyController(kb)
    costs = np.array([5.0, 0.01, 3.0, 0.02, 0.5, 4.0, 0.0, 0.03, 2.0])
    evaluate, _ = loop_fitness(controller, costs)
    sixth = controller.theta_names.index("on[P,N]")

    def diverges_without_the_sixth(theta):
        return np.where(theta[:, sixth] < 0.5, np.nan, evaluate(theta))

    pruned, report = prune_by_importance(controller, diverges_without_the_sixth, tolerance=0.01)
    assert [k for k, rule in enumerate(pruned.channels[0].rules) if not rule.on] == [1, 3, 7]
    assert (report.before, report.after) == (9, 6)
    assert report.error_after == pytest.approx(10.06)


def test_fewest_rules_are_respected(several):
    controller = FuzzyController(several)
    pruned, report = prune_by_importance(controller, lambda theta: np.ones(len(theta)), fewest=34)
    assert report.before == 36
    assert report.after == pruned.n_rules == 34


def test_importance_of_several_channels(several):
    controller = FuzzyController(several)
    names = np.array(controller.theta_names)
    worth = {"on_1[P,S]": 3.0, "on_2[N,Z,B]": 7.0}

    def evaluate(theta):
        return 1.0 + sum(cost * (theta[:, np.flatnonzero(names == name)[0]] < 0.5) for name, cost in worth.items())

    _, (first, second) = rule_importance(controller, evaluate)
    assert (len(first), len(second)) == (9, 27)
    assert [r.terms for r, c in zip(several.channels[0].rules, first, strict=True) if c] == [(2, 0)]
    assert [r.terms for r, c in zip(several.channels[1].rules, second, strict=True) if c] == [(0, 1, 2)]
    assert (first.max(), second.max()) == (3.0, 7.0)


def test_a_diverging_loop_has_no_importance(kb):
    with pytest.raises(ValueError, match="needs a finite fitness, got nan"):
        rule_importance(FuzzyController(kb), lambda theta: np.full(len(theta), np.nan))


def test_importance_needs_free_rules(kb):
    with pytest.raises(ValueError, match='needs "rules" among the free numbers'):
        rule_importance(FuzzyController(kb, free=("consequents",)), len)
