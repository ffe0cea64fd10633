"""Lost rollouts in the verdict: they are counted and told, and no mean hangs on them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sscq.verdict import comparison
from sscq.verdict.comparison import Sample, compare, loses_fewer
from sscq.verdict.verdict import decide
from tests.sscq.verdict.test_verdict import ORDER, TITLES, changed

DRAWS = 256
PENALTY = 1e3


def drawn(seed=0, n=DRAWS):
    """Fresh situations, each a seed of its own."""
    rng = np.random.default_rng(seed)
    fitness = np.exp(0.3 * rng.normal(size=(n, 1)))
    return Sample(fitness, 20.0 + rng.uniform(size=(n, 1)), np.zeros((n, 1), bool))


def losing(sample, *places):
    """The same rollouts, of which some are lost: a penalty for a fitness, and little travel."""
    failed = sample.failed.copy()
    failed[list(places)] = True
    return replace(
        sample,
        fitness=np.where(failed, PENALTY, sample.fitness),
        travel=np.where(failed, 0.1, sample.travel),
        failed=failed,
    )


BASE = drawn()


def decided(baseline, **samples):
    return decide({"fixed": baseline, **samples}, "fixed", ORDER, TITLES, {}, where="256 fresh situations")


# --------------------------------------------------------------------------------------------------- both survive


def test_a_rare_fall_of_the_baseline_moves_no_statistic_of_the_fitness():
    """With the penalty in it the mean would be 80 % lower, and its interval reach from there to no change at all."""
    kb = changed(BASE, 0.8)
    before, after = compare(kb, BASE), compare(kb, losing(BASE, 7, 90))
    for name in ("mean", "median", "tail"):
        one, other = getattr(before, name), getattr(after, name)
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=0.015)
    assert (after.failures, after.spared, after.new_failures) == ((0, 2), 2, 0)
    assert not after.fewer


def test_the_statistics_are_those_of_the_rollouts_that_both_survive():
    kb, base = losing(changed(BASE, 0.8), 3, 4), losing(BASE, 4, 9)
    alive = np.delete(np.arange(DRAWS), [3, 4, 9])
    found = compare(kb, base)
    alone = compare(*(Sample(s.fitness[alive], s.travel[alive], s.failed[alive]) for s in (kb, base)))
    for name in ("mean", "median", "tail", "travel"):
        assert getattr(found, name).value == pytest.approx(getattr(alone, name).value, rel=1e-12)
    assert (found.failures, found.spared, found.new_failures) == ((2, 2), 1, 1)
    assert "it fails in 1 rollouts that the fixed gains survive" in found.reasons


def test_what_other_searches_found_is_compared_where_that_and_the_baseline_survive():
    good, bad = changed(BASE, 0.8), losing(changed(BASE, 1.3, seed=2), 5)
    found = compare(good, losing(BASE, 7), searches=[bad])
    assert found.searches == pytest.approx((found.mean.value, 0.3), abs=0.02)
    assert found.of_design.value == found.mean.value
    assert found.of_design.high == pytest.approx(0.3, abs=0.03)
    gone = compare(good, losing(BASE, 7), searches=[losing(bad, *range(DRAWS))])
    assert math.isnan(gone.searches[1])
    assert gone.of_design == gone.mean


def test_resamplings_without_a_rollout_that_both_survive_are_left_out():
    base = losing(drawn(n=3), 0, 1)
    found = compare(changed(drawn(n=3), 0.8, spread=0.0), base).mean
    assert (found.value, found.low, found.high) == pytest.approx((-0.2, -0.2, -0.2))


def test_without_any_there_is_no_number_but_a_reason():
    kb, base = losing(changed(BASE, 0.8), *range(0, DRAWS, 2)), losing(BASE, *range(1, DRAWS, 2))
    found = compare(kb, base)
    for change in (found.mean, found.median, found.tail, found.travel):
        assert all(map(math.isnan, (change.value, change.low, change.high)))
    assert found.reasons == (
        "there is no rollout that both survive",
        "it fails in 128 rollouts that the fixed gains survive",
    )
    verdict = decided(losing(BASE, *range(DRAWS)), kb=changed(BASE, 0.8))
    assert verdict.recommended == "kb"
    assert verdict.sentence == (
        "Use the knowledge base: in 256 fresh situations it loses the loop in 0 of 256 rollouts where the fixed gains "
        "lose it in 256."
    )


# ------------------------------------------------------------------------------------------------- fewer are lost


def test_five_rescued_rollouts_recommend_what_is_no_better_otherwise_and_four_do_not():
    kb = changed(BASE, 1.0)
    assert not compare(kb, BASE).passes
    four, five = (decided(losing(BASE, *range(n)), kb=kb) for n in (4, 5))
    assert four.recommended == "fixed"
    assert "the mean of J, where both survive, does not improve reliably" in four.sentence
    assert four.sentence.endswith("Mind: the loop is lost in 4 of 256 rollouts even so.")
    assert five.recommended == "kb"
    change = five.comparisons["kb"].mean
    assert not change.improves
    assert five.sentence == (
        f"Use the knowledge base: cost J {change} in 256 fresh situations that both survive, with no more actuator travel "
        "(1 times), against the best fixed PID, and it loses the loop in 0 of 256 rollouts where the fixed gains lose it "
        "in 5."
    )


def test_rescues_do_not_pay_for_a_worse_fitness_travel_or_new_failures():
    base = losing(BASE, *range(12))
    (mean, tail) = compare(changed(BASE, 1.1), base).reasons
    assert mean.startswith("the mean of J, where both survive, gets worse (+")
    assert tail.startswith("the worst 5 % of J, where both survive, gets worse (+")
    more = replace(BASE, travel=1.2 * BASE.travel)
    assert compare(changed(more, 1.0), base).reasons[0].startswith("it needs more actuator travel")
    new = compare(losing(changed(BASE, 0.8), 40), base)
    assert new.fewer
    assert new.reasons == ("it fails in 1 rollouts that the fixed gains survive",)
    worst = np.argsort(BASE.fitness, axis=None)[-15:]
    fitness = changed(BASE, 0.9).fitness
    fitness[worst] = 2.0 * BASE.fitness[worst]
    better = replace(BASE, fitness=fitness)
    assert [reason[:12] for reason in compare(better, base).reasons] == ["the worst 5 "]


def test_situations_of_one_seed_are_one_witness():
    """Twenty rollouts that one seed loses say as much as one."""
    one, other = np.zeros((24, 5), bool), np.zeros((24, 5), bool)
    other[:4] = True
    assert not loses_fewer(one, other)
    other[4, 2] = True
    assert loses_fewer(one, other)
    assert not loses_fewer(other, one)
    one[5, 0] = True
    assert not loses_fewer(one, other)  # five of six: 7/64
    assert not loses_fewer(one, one)


def test_equal_controllers_seldom_lose_fewer():
    """Both lose a rollout with the same probability: the sign test convinces in at most 5 % of 2 000 studies.

    Allowed are three standard errors of a rate counted in 2 000 studies, sqrt(0.05 * 0.95 / 2000) = 0.5 %, more.
    """
    rng, found = np.random.default_rng(0), 0
    for _ in range(2000):
        risk = 0.2 * rng.uniform(size=(DRAWS, 1))  # of each situation, the same for both
        found += loses_fewer(*(rng.uniform(size=risk.shape) < risk for _ in range(2)))
    assert 0.02 < found / 2000 <= 0.05 + 3.0 * 0.005


def test_equal_controllers_are_seldom_recommended_for_what_they_rescue(monkeypatch):
    """Nothing new may be lost, so that five by chance against none are rarer than the test's 5 %: 1/32 at most."""
    monkeypatch.setattr(comparison, "_BOOTSTRAPS", 20)  # how wide an interval is does not count here
    found = 0
    for study in range(400):
        rng = np.random.default_rng(study)
        risky = rng.choice(DRAWS, 6, replace=False)
        mine = rng.uniform(size=6) < 0.5  # each is lost by one of the two
        base = drawn(study)
        kb = losing(changed(base, 1.0, seed=study + 1), *risky[mine])
        passes = compare(kb, losing(base, *risky[~mine]))
        found += passes.fewer and not passes.new_failures
    assert found / 400 <= 1 / 32 + 3.0 * 0.009
    assert found > 0


# ---------------------------------------------------------------------------------------------------------- choice


def test_of_what_passes_those_that_lose_more_are_left_out_however_good_where_they_survive():
    base = losing(BASE, *range(12))
    table, kb = losing(changed(BASE, 0.7), *range(6)), changed(BASE, 0.9, seed=2)
    assert compare(table, base).passes
    assert decided(base, table=table, kb=kb).recommended == "kb"
    nearly = losing(changed(BASE, 0.7), *range(4))  # four more may be chance
    assert decided(base, table=nearly, kb=kb).recommended == "table"
    better = decided(base, kb=losing(changed(BASE, 0.7), *range(6)))
    assert "it loses the loop in 6 of 256 rollouts where the fixed gains lose it in 12" in better.sentence
    assert "even so" not in better.sentence  # said once


def test_within_three_percent_is_told_over_what_all_of_them_survive():
    """A penalty in one mean alone would make the simpler one look many times worse."""
    base = losing(BASE, 0, 1)
    table, kb = losing(changed(BASE, 0.80, spread=0.01), 0), changed(BASE, 0.79, seed=2, spread=0.01)
    assert decided(base, table=table, kb=kb).recommended == "table"
    assert decided(base, table=table, kb=changed(BASE, 0.75, seed=2, spread=0.01)).recommended == "kb"


def test_fixed_gains_that_lose_more_do_not_stay_for_being_as_good_where_they_survive():
    base = losing(BASE, *range(12))
    assert decided(base, kb=changed(BASE, 0.99, spread=0.001)).recommended == "kb"
    assert decided(losing(BASE, 0), kb=changed(BASE, 0.99, spread=0.001)).recommended == "fixed"
