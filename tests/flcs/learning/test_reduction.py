"""Fewer rules: what is kept, what it costs, and the closed loop's word on it."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import NetworkConfig
from flcs.learning.imitation import gain_error, prune, rank_rules

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
