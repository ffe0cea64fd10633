"""What more rollouts could decide: who is undecided, and how often chance alone passes when it is asked twice."""

from dataclasses import replace

import numpy as np
import pytest

from sscq.verdict import comparison
from sscq.verdict.comparison import Sample, compare
from sscq.verdict.verdict import decide
from tests.sscq.verdict.test_verdict import BASE, ORDER, TITLES, changed


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Fewer draws than in earnest: ends of intervals move by a tenth of their width."""
    monkeypatch.setattr(comparison, "_BOOTSTRAPS", 200)


WORST = np.argsort(BASE.fitness.ravel())[-6:]  # 5 % of them


def unsure(in_the_worst=(1.1, 0.7, 1.2, 0.6, 1.1, 0.7), **changes):
    """Better by a fifth but for the worst, of which some are better and some are not."""
    factor = np.full(BASE.fitness.size, 0.8)
    factor[WORST] = in_the_worst
    return replace(BASE, fitness=BASE.fitness * factor.reshape(BASE.fitness.shape), **changes)


def test_an_improvement_that_is_not_sure_is_undecided():
    found = compare(unsure(), BASE)
    assert found.reasons == (f"the worst 5 % of J does not improve reliably ({found.tail})",)
    assert found.tail.value < 0.0 < found.tail.high
    assert found.undecided


@pytest.mark.parametrize(
    "other",
    [
        changed(BASE, 0.8),  # passes
        changed(BASE, 1.1),  # is worse
        unsure(travel=1.2 * BASE.travel),  # is asked more of the actuator besides
        unsure(1.1),  # has worse worst ones
    ],
)
def test_what_more_rollouts_would_not_change_is_decided(other):
    assert not compare(other, BASE).undecided


def test_lost_margins_are_decided():
    assert not compare(unsure(), BASE, margins_kept=False).undecided


def test_the_verdict_names_who_would_be_recommended():
    samples = {"fixed": BASE, "table": changed(BASE, 0.97), "kb": unsure()}
    found = decide(samples, "fixed", ORDER, TITLES, {})
    assert (found.recommended, found.undecided) == ("table", "kb")


def test_who_would_not_be_recommended_anyway_leaves_nothing_open():
    """A simpler one is within 3 % of it."""
    samples = {"fixed": BASE, "table": changed(BASE, 0.79, spread=0.01), "kb": unsure()}
    found = decide(samples, "fixed", ORDER, TITLES, {})
    assert found.comparisons["kb"].undecided
    assert (found.recommended, found.undecided) == ("table", "")


@pytest.mark.parametrize(
    "further",
    [
        {"faults": {"kb": ["it is unstable somewhere"]}},
        {"on_wall": ["kp at its upper end"]},
    ],
)
def test_what_else_speaks_against_it_is_decided(further):
    found = decide({"fixed": BASE, "kb": unsure()}, "fixed", ("fixed", "kb"), TITLES, {}, **further)
    assert (found.recommended, found.undecided) == ("fixed", "")


def test_where_it_is_chosen_counts_alike():
    sure, worse = changed(BASE, 0.8), changed(BASE, 1.1)

    def undecided(told, chosen_on):
        samples, choosing = ({"fixed": BASE, "kb": one} for one in (told, chosen_on))
        found = decide(samples, "fixed", ("fixed", "kb"), TITLES, {}, chosen_on=choosing)
        assert found.recommended == "fixed"
        return found.undecided

    assert undecided(unsure(), sure) == "kb"
    assert undecided(sure, unsure()) == "kb"
    assert undecided(unsure(), unsure((0.7, 1.1, 0.6, 1.2, 0.7, 1.1))) == "kb"
    assert undecided(unsure(), worse) == ""
    assert undecided(sure, worse) == ""


def test_the_worst_case_is_a_last_word():
    samples = {"fixed": BASE, "kb": changed(BASE, 0.8)}
    found = decide(samples, "fixed", ("fixed", "kb"), TITLES, {}, ask=lambda _: ["it loses its loop"])
    assert (found.recommended, found.undecided) == ("fixed", "")


def study(number, n, factor):
    """A baseline, and a controller with scatter of its own that scales the fitness: each rollout a seed of its own."""
    rng = np.random.default_rng(number)
    base = np.exp(0.5 * rng.normal(size=(n, 1)))
    own = np.exp(0.2 * rng.normal(size=(2, n, 1)))
    return base * own[0], factor * base * own[1]


def improves(base, other, n):
    """Whether the worst 5 % of the first n rollouts improve reliably, as the verdict asks, and whether they do at all."""
    none = np.zeros((n, 1))
    one, two = (Sample(values[:n], none + 1.0, none > 0.0) for values in (other, base))
    found = compare(one, two).tail
    return found.improves, found.value < 0.0


def test_chance_alone_seldom_passes_in_two_looks():
    """One look lets 2.5 % of controllers that are no better pass, two looks 5 % at most: the sum of both.

    Counted in 300 studies: three standard errors are 3 sqrt(0.05 * 0.95 / 300) = 3.8 %. The percentile bootstrap of the
    worst 5 % of a hundred rollouts, five of them, is a little short, for which 2 % are left.
    """
    passed = 0
    for number in range(300):
        base, other = study(number, 400, 1.0)
        first, better = improves(base, other, 100)
        passed += first or (better and improves(base, other, 400)[0])
    assert 0 < passed / 300 <= 0.05 + 0.038 + 0.02


def test_a_second_look_finds_what_the_first_left_open():
    """A tail that is 10 % better: the first look sees it in some studies, the second in twice as many."""
    first = again = 0
    for number in range(100):
        base, other = study(number, 400, 0.9)
        at_once, better = improves(base, other, 100)
        first += at_once
        again += at_once or (better and improves(base, other, 400)[0])
    assert first <= 40
    assert again >= first + 15  # of 28 more, three standard errors are 13


def test_a_sample_of_one_seed_is_not_undecided():
    one = Sample(BASE.fitness[:1], BASE.travel[:1], BASE.failed[:1])
    assert not compare(replace(one, fitness=0.9 * one.fitness), one).undecided
