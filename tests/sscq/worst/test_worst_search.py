"""The search for the worst situation, on a loop whose stability limit is known in closed form.

First order plus dead time under a proportional controller: T s + 1 + k K e^(-L s) = 0 has its rightmost root at
W(-(k K L / T) e^(L / T)) / L - 1 / T, with the principal branch of Lambert's W. It grows with K and L, falls with T, so
the most unstable plant of an envelope is a known corner. All tests share one kernel: gains are its parameters.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import lambertw

import plants
import sscq
from controllers import PID, Controller, GainTable
from sscq.loop import closed_loop
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.trials import TrialCosts, TrialLoops, Trials, badness
from tests.plants.core.gpu.emulated import on_cpu
from tests.reference.closed_loop_twin import uncompiled

PLANT, STEP, HORIZON = plants.get("fopdt"), 0.02, 20.0
LAW = PID(limits=(-1e6, 1e6))  # none that matter: the loop is linear until it leaves the plant's region, |y| = 1000
FITNESS = sscq.Fitness(entropy_weight=0.0)
ENVELOPE = sscq.Envelope(
    parameters={"K": (0.7, 1.3), "T": (0.8, 1.2), "L": (0.2, 0.4)}, reference={"output": (-1.0, 1.0)},
    load={"load": (-0.5, 0.5)}, delay=(0.0, 0.1), delay_step=0.1, t_end=HORIZON,
)  # fmt: skip
WEAK, ROBUST = (3.2, 0.0, 0.0), (1.0, 0.0, 0.0)
SLOWEST = np.log(1000.0 / 2.0) / HORIZON
"""Growth rate [1/s] below which nothing can leave the region: swings begin with at most 2 (reference, load, K)."""


def growth(values, gain):
    """Real part of the rightmost pole [1/s]; a held command is late by half a sample."""
    K, T, L = (values[f"parameters.{name}"] for name in "KTL")
    late = L + values["delay"] + STEP / 2.0
    return float(lambertw(-(gain * K * late / T) * np.exp(late / T)).real / late - 1.0 / T)


def searched(gains=WEAK, **more):
    settings = {"fitness": FITNESS, "step": STEP, "evaluations": 600, "threads": 1}
    return sscq.worst_case(PLANT, LAW, gains, ENVELOPE, **{**settings, **more})


def test_a_planted_weakness_is_found_where_it_is_with_fewer_evaluations_than_random_draws_need():
    """The weakness is in so small a corner that 4 000 draws (99 %: at most one draw in 870) do not find it."""
    genes = EnvelopeGenes(PLANT, ENVELOPE)
    draws = genes.draw(4000, 5)
    costs = Trials(TrialLoops(genes, FITNESS, STEP, threads=1), LAW, WEAK).costs(draws)
    rates = np.array([growth(genes.values(genome), WEAK[0]) for genome in draws])
    assert not costs.failed[rates < SLOWEST].any()
    rarest = sscq.failure_bound(4000, int(costs.failed.sum()), 0.99)
    found = [searched(seed=seed) for seed in range(5)]
    for one in found:
        values = genes.values(one.genome)
        assert one.failed
        assert growth(values, WEAK[0]) > SLOWEST
        corner = [values[name] for name in ("parameters.K", "parameters.T", "parameters.L", "delay")]
        assert corner == pytest.approx([1.3, 0.8, 0.4, 0.1], rel=0.01)  # ranges are 40 % wide and more
    assert np.mean([one.first_failure for one in found]) < 0.6 / rarest


def test_the_cost_is_that_of_the_situation_alone():
    """Of whatever else was simulated beside it, not a bit is in the result."""
    found = searched(evaluations=80)
    alone = sscq.evaluate(PLANT, LAW, WEAK, found.situation, STEP, measures=("iae",))
    assert FITNESS.per_situation(alone)[0, 0] == found.J
    drawn = found.random_baseline
    alone = sscq.evaluate(PLANT, LAW, WEAK, drawn.situation, STEP, measures=("iae",))
    assert FITNESS.per_situation(alone)[0, 0] == drawn.J


def test_threads_change_nothing_and_seeds_do():
    one, other, third = searched(evaluations=200), searched(evaluations=200, threads=3), searched(seed=1)
    for first, second in ((one, other), (one.random_baseline, other.random_baseline)):
        np.testing.assert_array_equal(first.genome, second.genome)
        np.testing.assert_array_equal(first.history.cost, second.history.cost)
        assert (first.J, first.n_failures, first.first_failure) == (second.J, second.n_failures, second.first_failure)
    assert (one.random_baseline.genome != third.random_baseline.genome).any()


def test_a_robust_controller_gets_a_certificate():
    found = searched(ROBUST, evaluations=300)
    drawn = found.random_baseline
    assert (found.failed, found.n_failures, found.first_failure, drawn.n_failures) == (False, 0, None, 0)
    assert drawn.n_evaluations == found.n_evaluations == 300
    assert found.failure_bound(0.95) == pytest.approx(1.0 - 0.05 ** (1.0 / 300), rel=1e-12)
    assert drawn.J < found.J


def test_budget_and_history_count_every_evaluation():
    found = searched(ROBUST, evaluations=250, polish=0.4)
    assert found.n_evaluations == found.history.evaluations[-1] <= 250
    assert (np.diff(found.history.cost) >= 0.0).all()  # nothing failed, so worst is largest
    assert found.history.cost[-1] == found.J


def test_it_tells_how_many_situations_were_tried_searched_and_drawn():
    told = []
    found = searched(evaluations=100, report=told.append)
    assert told == sorted(told)
    assert told[0] < 100
    assert told[-1] == 2 * found.random_baseline.n_evaluations == 2 * found.n_evaluations


def test_a_cost_above_the_bound_is_a_failure():
    free = searched(ROBUST, evaluations=100)
    bounded = searched(ROBUST, evaluations=100, fail_above=0.5 * free.J)
    drawn = bounded.random_baseline
    assert bounded.failed
    assert 0 < drawn.n_failures < drawn.n_evaluations
    assert (drawn.n_failures > 50) == (drawn.median_cost > 0.5 * free.J)
    assert bounded.failure_bound() == sscq.failure_bound(100, drawn.n_failures, 0.95)


def test_the_loss_against_a_reference_is_another_yardstick():
    """By cost alone a gain of 1 is worst where the offset 1 / (1 + K) is large; against 3.2, where 3.2 does not swing."""
    loss = searched(ROBUST, evaluations=300, against=(LAW, WEAK))
    assert loss.J - loss.reference_cost > 0.0
    assert loss.situation.parameters["L"] < 0.4
    other = searched(WEAK, evaluations=300, against=(LAW, ROBUST))
    assert other.J - other.reference_cost > loss.J - loss.reference_cost


def test_a_gain_table_is_searched_like_fixed_gains():
    """A table with the same gains at both nodes is the fixed controller."""
    short = replace(ENVELOPE, t_end=1.0)
    table = Controller(LAW, GainTable("output", (-1.0, 1.0), tick=STEP))
    settings = {"fitness": FITNESS, "step": STEP, "evaluations": 20, "threads": 1}
    with uncompiled():
        fixed = sscq.worst_case(PLANT, LAW, WEAK, short, **settings)
        scheduled = sscq.worst_case(PLANT, table, WEAK * 2, short, **settings)
    np.testing.assert_array_equal(scheduled.genome, fixed.genome)
    assert pytest.approx(fixed.J, rel=1e-12) == scheduled.J


def test_a_gpu_finds_the_same_situation(monkeypatch):
    jobs = []
    monkeypatch.setattr(closed_loop, "on_gpu", lambda text, job: (jobs.append(job), on_cpu(text, job))[1])
    settings = {"fitness": FITNESS, "step": STEP, "evaluations": 40, "population": 30, "threads": 1}
    short = replace(ENVELOPE, t_end=1.0)
    lanes, threads = (sscq.worst_case(PLANT, LAW, WEAK, short, **settings, device=d) for d in ("cpu", "cuda"))
    np.testing.assert_array_equal(lanes.genome, threads.genome)
    assert lanes.J == threads.J
    assert sum(len(job.start) for job in jobs) >= 80
    with pytest.raises(ValueError, match="no device 'gpu'"):
        sscq.worst_case(PLANT, LAW, WEAK, short, **settings, device="gpu")


def costs(cost, diverged_at, reference=(), reference_failed=()):
    diverged = np.array(diverged_at)
    return TrialCosts(
        np.array(cost), diverged, np.isfinite(diverged), np.array(reference), np.array(reference_failed, bool)
    )


def test_divergence_comes_before_failure_before_cost():
    found = costs([1e9, 5.0, 7.0, 1500.0, 1400.0], [np.nan, np.nan, np.nan, 10.0, 12.0])
    found = TrialCosts(found.cost, found.diverged_at, np.array([False, True, True, True, True]), *([np.empty(0)] * 2))
    assert list(np.argsort(-badness(found, 1e3))) == [3, 4, 2, 1, 0]


def test_where_both_fail_the_controller_is_not_to_blame():
    """In order: only it fails, a loss, both fail, a gain, only the reference fails."""
    found = costs([1500.0, 3.0, 1900.0, 1.0, 2.0], [10.0, np.nan, 2.0, np.nan, np.nan],
                  [2.0, 2.0, 1100.0, 2.0, 1500.0], [False, False, True, False, True])  # fmt: skip
    bad = badness(found, 1e3)
    assert list(np.argsort(-bad)) == [0, 1, 2, 3, 4]
    assert bad[2] == 0.0


def test_several_sets_of_gains_and_small_budgets_are_refused():
    with pytest.raises(ValueError, match="with one set of gains, got 2"):
        searched([WEAK, ROBUST])
    with pytest.raises(ValueError, match="evaluations must be an integer >= 20, got 5"):
        searched(evaluations=5)


def test_situations_in_which_the_plant_cannot_begin_are_skipped_and_counted():
    """As of a closed chain whose bars do not meet; the search goes on among the others."""

    def refusing(x, p, held=()):
        if p[0] > limit:
            raise ValueError("no start fulfils the constraints")
        return x

    chain, limit = replace(PLANT, constraints=lambda t, x, u, w, p: (), admissible=refusing), 1.1
    options = {"fitness": FITNESS, "step": STEP, "evaluations": 100, "threads": 1}
    found = sscq.worst_case(chain, LAW, WEAK, ENVELOPE, **options)
    drawn = found.random_baseline
    for one in (found, drawn):
        assert one.n_skipped > 0
        assert one.n_evaluations + one.n_skipped == pytest.approx(100, abs=5)
        assert one.situation.parameters["K"] <= limit
        assert len(one.failing) == one.n_failures
    limit = 0.0
    with pytest.raises(ValueError, match="refuses all of .* situations.*narrow its ranges"):
        sscq.worst_case(chain, LAW, WEAK, ENVELOPE, **options)
