"""The verdict: what may replace fixed gains, what may not and why, and how often chance alone would."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from sscq.verdict import bootstrap, comparison, verdict
from sscq.verdict.bootstrap import Change
from sscq.verdict.comparison import Sample, compare, p_value, tail_mean
from sscq.verdict.verdict import decide

SEEDS, SITUATIONS = 24, 5
TITLES = {"fixed": "fixed PID", "table": "gain table", "kb": "knowledge base"}
ORDER = ("fixed", "table", "kb")


def rollouts(seed=0, n_seeds=SEEDS, spread=0.25):
    """Baseline: situations of different levels, noise that all controllers share."""
    rng = np.random.default_rng(seed)
    level = np.exp(rng.normal(0.0, 0.5, SITUATIONS))
    fitness = level * np.exp(spread * rng.normal(size=(n_seeds, SITUATIONS)))
    return Sample(fitness, 20.0 + 5.0 * rng.uniform(size=fitness.shape), np.zeros(fitness.shape, bool))


def changed(sample, factor, seed=1, spread=0.05, **others):
    """The same rollouts with a controller that scales the fitness, with some scatter of its own."""
    rng = np.random.default_rng(seed)
    fitness = sample.fitness * factor * np.exp(spread * rng.normal(size=sample.fitness.shape))
    return replace(sample, fitness=fitness, **others)


BASE = rollouts()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Fewer draws than in earnest: ends of intervals move by a tenth of their width."""
    monkeypatch.setattr(comparison, "_BOOTSTRAPS", 200)


# ---------------------------------------------------------------------------------------------------- one comparison


def test_a_clear_improvement_passes():
    found = compare(changed(BASE, 0.8), BASE)
    assert found.passes
    assert found.reasons == ()
    for change in (found.mean, found.median, found.tail):
        assert change.low <= change.value <= change.high
        assert change.value == pytest.approx(-0.2, abs=0.05)
        assert change.improves
    assert found.wins > 0.95
    assert found.p_value < 1e-9
    assert found.new_failures == 0
    assert found.travel.value == 0.0


def test_a_better_mean_with_a_worse_tail_fails_for_that():
    """As a schedule did that won three quarters of the rollouts: the worst 5 % got twice as bad."""
    other = changed(BASE, 0.75)
    fitness = other.fitness.copy()
    worst = np.argsort(BASE.fitness, axis=None)[-8:]
    fitness.ravel()[worst] = 2.0 * BASE.fitness.ravel()[worst]
    found = compare(replace(other, fitness=fitness), BASE)
    assert found.mean.improves
    assert found.median.improves
    assert found.p_value < 1e-6  # a rank test would have been convinced
    assert not found.passes
    (reason,) = found.reasons
    assert reason.startswith("the worst 5 % of J does not improve reliably (+")


def test_an_improvement_within_the_noise_fails():
    found = compare(changed(BASE, 0.99, spread=0.4), BASE)
    assert not found.passes
    assert "the mean of J does not improve reliably" in found.reasons[0]


def test_more_travel_fails():
    found = compare(changed(BASE, 0.8, travel=1.1 * BASE.travel), BASE)
    assert found.reasons == ("it needs more actuator travel (+10.0 % [+10.0, +10.0])",)
    assert compare(changed(BASE, 0.8, travel=1.04 * BASE.travel), BASE).passes  # within the slack
    assert compare(changed(BASE, 0.8, travel=0.5 * BASE.travel), BASE).passes


def test_a_new_failure_fails():
    failed = np.zeros(BASE.failed.shape, bool)
    failed[3, 2] = failed[7, 1] = True
    found = compare(changed(BASE, 0.8, failed=failed), BASE)
    assert found.new_failures == 2
    assert found.reasons == ("it fails in 2 rollouts that the fixed gains survive",)


def test_failures_that_the_baseline_has_too_are_not_new():
    failed = np.zeros(BASE.failed.shape, bool)
    failed[3, 2] = True
    weak = replace(BASE, failed=failed)
    assert compare(changed(weak, 0.8), weak).passes
    assert compare(changed(weak, 0.8, failed=np.zeros_like(failed)), weak).new_failures == 0


def test_lost_margins_fail():
    found = compare(changed(BASE, 0.8), BASE, margins_kept=False)
    assert found.reasons == ("it does not keep the margins at the operating points",)


def test_the_baseline_does_not_replace_itself():
    found = compare(BASE, BASE)
    assert found.p_value == 1.0
    assert found.wins == 0.0
    assert (found.mean.value, found.mean.low, found.mean.high) == (0.0, 0.0, 0.0)
    assert len(found.reasons) == 3


def test_reasons_are_all_told():
    failed = np.zeros(BASE.failed.shape, bool)
    failed[0] = True
    found = compare(changed(BASE, 1.3, travel=2.0 * BASE.travel, failed=failed), BASE, margins_kept=False)
    assert len(found.reasons) == 6


def test_travel_is_compared_where_both_survive():
    """A rollout that is cut short has little travel: rescuing it is no excess."""
    lost = np.zeros(BASE.failed.shape, bool)
    lost[:, 0] = True
    cut = replace(BASE, failed=lost, travel=np.where(lost, 0.1, BASE.travel))
    assert compare(changed(cut, 0.8, failed=np.zeros_like(lost), travel=BASE.travel), cut).travel.value == 0.0
    everything = replace(BASE, failed=np.ones_like(lost))
    assert compare(changed(everything, 0.8, failed=np.zeros_like(lost)), everything).passes


def test_one_seed_proves_nothing():
    one = Sample(BASE.fitness[:1], BASE.travel[:1], BASE.failed[:1])
    found = compare(replace(one, fitness=0.5 * one.fitness), one)
    assert found.reasons == ("one seed cannot tell chance from effect; use more",)


def test_lost_loops_are_told_in_the_sentence():
    failed = np.zeros(BASE.failed.shape, bool)
    failed[:3] = True
    found = decide({"fixed": replace(BASE, failed=failed)}, "fixed", ["fixed"], {"fixed": "fixed PID"}, {})
    assert found.sentence.startswith("Use the fixed gains.")
    assert f"the loop is lost in {failed.sum()} of {failed.size} rollouts" in found.sentence


def test_a_change_from_nothing_is_no_number():
    still = replace(BASE, travel=np.zeros_like(BASE.travel))
    found = compare(replace(still, travel=BASE.travel), still)
    assert found.travel.value == np.inf
    assert compare(still, still).travel.value == 0.0


def test_less_is_better_also_below_zero():
    """The signed entropy difference may be negative: from -10 to -12 is an improvement by 20 %."""
    base = replace(BASE, fitness=-BASE.fitness)
    better = compare(changed(base, 1.2), base)
    assert better.mean.value == pytest.approx(-0.2, abs=0.03)
    assert better.passes
    assert not compare(changed(base, 0.8), base).passes
    assert decide({"fixed": base, "kb": base}, "fixed", ORDER, TITLES, {}).recommended == "fixed"


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=80))
def test_tail_is_the_mean_of_the_worst(values):
    ordered = sorted(values, reverse=True)
    count = max(1, round(len(values) / 20))
    assert tail_mean(np.array(values)) == pytest.approx(np.mean(ordered[:count]), rel=1e-9, abs=1e-9)
    assert tail_mean(np.array(values)) >= np.mean(values) - 1e-9


def test_the_same_seed_gives_the_same_interval():
    other = changed(BASE, 0.9)
    assert compare(other, BASE, seed=3) == compare(other, BASE, seed=3)
    assert compare(other, BASE, seed=3) != compare(other, BASE, seed=4)


# -------------------------------------------------------------------------------------------------------- intervals


def test_chance_alone_seldom_improves():
    """Two controllers of equal quality: each statistic's interval lies below 0 in at most 5 % of 400 studies.

    Nominal are 2.5 %, the percentile bootstrap of 20 seeds is a little short; allowed are 5 % and three standard
    errors of a rate counted in 400 studies, sqrt(0.05 * 0.95 / 400) = 1.1 %. All three at once hardly ever happen.
    """
    improves, all_three = {comparison._mean: 0, comparison._tail: 0, comparison._median: 0}, 0
    for study in range(400):
        base = rollouts(study, n_seeds=20)
        rng = np.random.default_rng(10_000 + study)
        noise = 0.1 * rng.normal(size=(2, *base.fitness.shape))  # of each controller's own: exchangeable
        a, b = (replace(base, fitness=base.fitness * np.exp(one)) for one in noise)
        found = {
            f: bootstrap.change(f, a.fitness, b.fitness, rows(study)).improves
            for f in improves
            if f is not comparison._median or study % 4 == 0  # the slowest of the three
        }
        improves = {f: count + found.get(f, False) for f, count in improves.items()}
        all_three += all(found.values())
    assert improves[comparison._mean] / 400 <= 0.05 + 3.0 * 0.011
    assert improves[comparison._tail] / 400 <= 0.05 + 3.0 * 0.011
    assert improves[comparison._median] / 100 <= 0.05 + 3.0 * 0.022
    assert all_three / 400 <= 0.02
    assert sum(improves.values()) > 0


def rows(seed, n_seeds=20, n=200):
    return np.random.default_rng(seed).integers(0, n_seeds, (n, n_seeds))


def test_the_interval_covers_the_truth():
    """A controller that is 10 % better on average: the interval holds -0.1 in about 95 % of 200 studies.

    20 seeds are few: percentile intervals cover some 92 %; three standard errors of a rate in 200 studies are 6 %.
    """
    covered = 0
    for study in range(200):
        rng = np.random.default_rng(study)
        level = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
        base = level * rng.gamma(50.0, 1.0 / 50.0, (20, SITUATIONS))
        other = base * 0.9 * rng.gamma(100.0, 1.0 / 100.0, (20, SITUATIONS))
        change = bootstrap.change(comparison._mean, other, base, rows(study))
        covered += change.low <= -0.1 <= change.high
    assert 0.86 <= covered / 200 <= 0.99


def test_seeds_are_resampled_whole():
    """Situations of one seed stay together: noise common to a seed widens the interval."""
    rng = np.random.default_rng(0)
    common = np.exp(0.2 * rng.normal(size=(SEEDS, 1)) * np.ones((1, SITUATIONS)))
    own = np.exp(0.2 * rng.normal(size=(SEEDS, SITUATIONS)))
    base = np.ones((SEEDS, SITUATIONS))
    widths = []
    for fitness in (common, own):
        change = bootstrap.change(comparison._mean, fitness, base, rows(1, SEEDS))
        widths.append(change.high - change.low)
    assert widths[0] == pytest.approx(np.sqrt(SITUATIONS) * widths[1], rel=0.35)


# ------------------------------------------------------------------------------------------------------ the decision


def decided(**samples):
    return decide({"fixed": BASE, **samples}, "fixed", ORDER, TITLES, {})


def test_a_clear_winner_is_recommended():
    found = decided(table=changed(BASE, 0.9), kb=changed(BASE, 0.7, seed=2))
    assert found.recommended == "kb"
    assert found.baseline == "fixed"
    assert set(found.comparisons) == {"table", "kb"}
    change, travel = str(found.comparisons["kb"].mean), 1.0 + found.comparisons["kb"].travel.value
    assert found.sentence == (
        f"Use the knowledge base: cost J {change} in unforeseen situations, "
        f"with no more actuator travel ({travel:.3g} times), against the best fixed PID."
    )


@pytest.mark.parametrize(("share", "told"), [(1.04, "1.04 times the"), (1.003, "as much")])
def test_a_little_more_travel_is_told(share, told):
    found = decided(kb=replace(changed(BASE, 0.7), travel=share * BASE.travel))
    assert f"in unforeseen situations, with {told} actuator travel, against" in found.sentence


def test_the_simplest_within_three_percent_is_recommended():
    table, kb = changed(BASE, 0.80, spread=0.01), changed(BASE, 0.785, seed=2, spread=0.01)
    assert decided(table=table, kb=kb).recommended == "table"
    assert decided(table=table, kb=changed(BASE, 0.75, seed=2, spread=0.01)).recommended == "kb"
    reverse = decide({"fixed": BASE, "table": table, "kb": kb}, "fixed", ("fixed", "kb", "table"), TITLES, {})
    assert reverse.recommended == "kb"


def test_an_improvement_below_three_percent_keeps_the_fixed_gains():
    kb = changed(BASE, 0.98, spread=0.002)
    assert compare(kb, BASE).passes  # it is reliable
    found = decided(kb=kb)
    assert found.recommended == "fixed"
    assert found.sentence.endswith(" Nothing more complicated is better by more than 3 % in the draws that choose.")


def test_what_does_not_pass_is_not_recommended_however_good():
    failed = np.zeros(BASE.failed.shape, bool)
    failed[0, 0] = True
    found = decided(table=changed(BASE, 0.9), kb=changed(BASE, 0.3, failed=failed))
    assert found.recommended == "table"
    alone = decided(kb=changed(BASE, 0.3, failed=failed))
    assert alone.recommended == "fixed"
    assert alone.sentence == (
        "Use the fixed gains. The knowledge base does not replace it: it fails in 1 rollouts that the fixed gains survive."
    )


def test_margins_are_those_that_were_told():
    samples = {"fixed": BASE, "table": changed(BASE, 0.9), "kb": changed(BASE, 0.7, seed=2)}
    found = decide(samples, "fixed", ORDER, TITLES, {"kb": False, "table": True})
    assert found.recommended == "table"
    assert found.comparisons["kb"].reasons == ("it does not keep the margins at the operating points",)


def test_only_what_is_on_the_ladder_is_recommended():
    """An oracle is compared, but nobody can have it."""
    found = decide({"fixed": BASE, "oracle": changed(BASE, 0.5)}, "fixed", ORDER, TITLES, {})
    assert found.recommended == "fixed"
    assert found.comparisons["oracle"].passes


def test_alone_the_baseline_is_recommended():
    assert decided().sentence == "Use the fixed gains."


def test_changes_are_printed_as_percentages():
    assert str(Change(-0.1234, -0.2, 0.005)) == "-12.3 % [-20.0, +0.5]"
    assert not Change(-0.1, -0.2, 0.0).improves


@pytest.mark.parametrize("n", [5, 20, 50, 51, 100, 800])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros"])
def test_p_values_are_those_of_scipy(n, kind):
    for shift in (0.0, 0.1, 0.5):
        differences = np.random.default_rng(n).normal(shift, 1.0, n)
        if kind == "ties":
            differences = np.round(differences, 1) + 0.05  # none is zero
        elif kind == "zeros":
            differences[::4] = 0.0
        # Other sums of the same numbers, and an error function of the C library in place of Cephes': some roundings.
        assert p_value(differences) == pytest.approx(wilcoxon(differences).pvalue, rel=1e-11)


def test_direction_does_not_matter():
    differences = np.random.default_rng(0).normal(0.3, 1.0, 90)
    assert p_value(-differences) == pytest.approx(p_value(differences), rel=1e-12)


def test_no_difference_is_no_evidence():
    assert p_value(np.zeros(70)) == 1.0


def test_a_verdict_of_many_rollouts_does_not_import_scipys_statistics():
    code = (
        "import sys, numpy as np; from sscq.verdict.comparison import p_value; p_value(np.arange(1.0, 101.0)); "
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_else_speaks_against_a_controller_keeps_it_from_being_recommended():
    samples = {"fixed": BASE, "table": changed(BASE, 0.8)}
    titles = {"fixed": "fixed PID", "table": "gain table"}
    free, held = (
        decide(samples, "fixed", ["fixed", "table"], titles, {}, faults=faults)
        for faults in ({"table": ()}, {"table": ("it is unstable in 3 of 600 drawn plants",)})
    )
    assert free.recommended == "table"
    assert held.recommended == "fixed"
    assert held.comparisons["table"].reasons == ("it is unstable in 3 of 600 drawn plants",)
    assert held.comparisons["table"].further == held.comparisons["table"].reasons
    assert free.comparisons["table"].further == ()


# ------------------------------------------------------------------------------------------------- walls and wording


def test_on_a_wall_nothing_but_fixed_gains_is_recommended():
    samples = {"fixed": BASE, "table": changed(BASE, 0.8), "kb": changed(BASE, 0.6)}
    free = verdict.decide(samples, "fixed", ORDER, TITLES, {})
    held = verdict.decide(samples, "fixed", ORDER, TITLES, {}, on_wall=("kp <= 10",))
    assert free.recommended == "kb"
    assert held.recommended == "fixed"
    assert all("wall of their box (kp <= 10)" in " ".join(held.comparisons[name].reasons) for name in ("table", "kb"))
    assert "kp <= 10" in held.sentence


def test_on_a_wall_other_fixed_gains_may_still_be_recommended():
    """The user's own gains, which stand before the baseline, owe the wall nothing."""
    samples = {"own": changed(BASE, 0.8), "fixed": BASE}
    titles = TITLES | {"own": "present gains"}
    found = verdict.decide(samples, "fixed", ("own", "fixed"), titles, {}, on_wall=("kp <= 10",))
    assert found.recommended == "own"


def test_the_sentence_says_where_it_was_judged():
    samples = {"fixed": BASE, "kb": changed(BASE, 0.6)}
    found = verdict.decide(samples, "fixed", ORDER, TITLES, {}, where="256 fresh situations")
    assert "in 256 fresh situations, with no more actuator travel (1 times), against" in found.sentence


# ---------------------------------------------------------------------------------------------------- several searches


def test_the_decision_is_the_delivered_controllers_and_the_headline_the_designs():
    """What was delivered is better beyond doubt; that another design would deliver as much is not sure."""
    good, bad = changed(BASE, 0.8), changed(BASE, 1.3, seed=2)
    found = verdict.decide({"fixed": BASE, "kb": good}, "fixed", ORDER, TITLES, {}, searches={"kb": [bad]})
    judged = found.comparisons["kb"]
    assert found.recommended == "kb"
    assert judged.mean.improves
    assert judged.searches == (judged.mean.value, compare(bad, BASE).mean.value)
    assert not judged.headline.improves
    assert str(judged.headline) in found.sentence
    assert "Another search of the same kind may find nothing that is better." in found.sentence
    alike = verdict.decide({"fixed": BASE, "kb": good}, "fixed", ORDER, TITLES, {}, searches={"kb": [good]})
    assert "Another search" not in alike.sentence
    assert alike.comparisons["kb"].headline == judged.mean


def test_without_other_searches_the_headline_is_the_mean():
    found = compare(changed(BASE, 0.8), BASE)
    assert found.of_design is None
    assert found.headline == found.mean
    assert found.searches == ()


def test_other_measures_have_intervals_over_searches_too():
    none = np.zeros(BASE.fitness.shape, bool)
    good, bad = BASE.fitness * 0.8, BASE.fitness * 1.3
    alone = comparison.change_where_alive(good, BASE.fitness, none)
    several = comparison.change_where_alive(good, BASE.fitness, none, searches=[(bad, none)])
    assert several.value == alone.value
    assert several.high == pytest.approx(0.3)
    lost = comparison.change_where_alive(good, BASE.fitness, none, searches=[(bad, ~none)])
    assert lost == alone  # of a search whose loops are all lost there is no measure


def test_what_would_be_recommended_is_asked_before_and_the_next_one_takes_its_place():
    """The simplest within 3 % first; the baseline itself is never asked, and nobody else."""
    samples = {"fixed": BASE, "table": changed(BASE, 0.8), "kb": changed(BASE, 0.79)}
    kept = dict.fromkeys(samples, True)
    against = {"table": ("its worst case loses the loop",), "kb": ()}
    asked = []

    def ask(name):
        asked.append(name)
        return against[name]

    found = decide(samples, "fixed", ORDER, TITLES, kept, ask=ask)
    assert asked == ["table", "kb"]
    assert found.recommended == "kb"
    assert found.comparisons["table"].further == against["table"]
    against["kb"] = ("it, too",)
    asked.clear()
    found = decide(samples, "fixed", ORDER, TITLES, kept, ask=ask)
    assert asked == ["table", "kb"]
    assert found.recommended == "fixed"
    assert found.sentence == "Use the fixed gains. The knowledge base does not replace it: it, too."
