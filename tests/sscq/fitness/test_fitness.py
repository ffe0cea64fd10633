"""Fitness: each kind by hand, what is always true of it, and the trap that entropy alone is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from sscq.fitness import AGGREGATES, ERRORS, KINDS, Fitness
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.quality import ALL_MEASURES, Quality

LOW, HIGH = np.zeros(3), np.full(3, 10.0)


def quality(values, diverged_at=None, t_end=10.0):
    """Quality from arrays [situation, candidate]; measures not given are 0."""
    shape = np.shape(next(iter(values.values())))
    every = {name: np.zeros(shape) for name in ALL_MEASURES} | {k: np.array(v, float) for k, v in values.items()}
    lost = np.full(shape, np.nan) if diverged_at is None else np.array(diverged_at, float)
    return Quality(("",) * shape[0], np.full(shape[0], t_end), lost, every)


# ------------------------------------------------------------------------------------------------------- by hand

HAND = quality({
    "iae": [[1.0, 2.0], [3.0, 4.0]], "itae": [[5.0, 0.0], [1.0, 1.0]], "ise": [[2.0, 2.0], [0.0, 1.0]],
    "entropy_difference": [[-7.0, 1.0], [2.0, 3.0]], "entropy_difference_abs": [[7.0, 1.0], [2.0, 5.0]],
    "entropy_difference_square": [[9.0, 1.0], [3.0, 5.0]], "total_variation": [[10.0, 20.0], [30.0, 0.0]],
    "effort": [[4.0, 8.0], [0.0, 2.0]], "saturated_time": [[6.0, 1.0], [0.0, 3.0]],
})  # fmt: skip


@pytest.mark.parametrize(
    ("fitness", "expected"),
    [
        (Fitness(entropy_weight=0.0), [2.0, 3.0]),
        (Fitness(), [2.0 + 0.3 * 4.5, 3.0 + 0.3 * 3.0]),
        (Fitness(error="itae", entropy_weight=0.0), [3.0, 0.5]),
        (Fitness(error="ise", error_weight=2.0, entropy_weight=1.0), [2.0 + 4.5, 3.0 + 3.0]),
        (Fitness(entropy_weight=0.0, travel_weight=0.1, effort_weight=0.5), [2.0 + 2.0 + 1.0, 3.0 + 1.0 + 2.5]),
        (Fitness(reference={"iae": 4.0, "entropy_difference_abs": 0.3}), [0.5 + 4.5, 0.75 + 3.0]),
        (Fitness("entropy_magnitude"), [4.5, 3.0]),
        (Fitness("entropy_square"), [6.0, 3.0]),
        (Fitness("entropy_signed"), [-2.5, 2.0]),
        (Fitness("entropy_signed", reference={"entropy_difference": 0.5}), [-5.0, 4.0]),
        (Fitness(entropy_weight=0.0, aggregate="mean_plus_std", kappa=2.0), [2.0 + 2.0, 3.0 + 2.0]),
        (Fitness(entropy_weight=0.0, aggregate="worst_share", share=0.5), [3.0, 4.0]),
        (Fitness(entropy_weight=0.0, aggregate="worst_share", share=0.51), [2.0, 3.0]),
        (Fitness(entropy_weight=0.0, aggregate="worst"), [3.0, 4.0]),
        (Fitness(aggregate="worst"), [3.0 + 0.3 * 2.0, 4.0 + 0.3 * 5.0]),
        (Fitness(entropy_weight=0.0, saturation_limit=0.2), [2.0 * (1.0 + 10.0 * 0.5), 3.0]),
        (Fitness(entropy_weight=0.0, saturation_limit=0.2, travel_limit=16.0), [2.0 * (1.0 + 10.0 * 0.75), 3.0]),
        (Fitness(entropy_weight=0.0, travel_limit=20.0), [2.0, 3.0]),
        (Fitness(entropy_weight=0.0, travel_limit=16.0), [2.0 * (1.0 + 10.0 * 0.25), 3.0]),
        (Fitness(entropy_weight=0.0, error_limit=2.5), [2.0, 3.0 * (1.0 + 2.0 * 0.2)]),
        (
            Fitness(entropy_weight=0.0, error_limit=1.6, travel_limit=16.0),
            [2.0 * (1.0 + 2.5 + 0.5), 3.0 * (1.0 + 1.75)],
        ),
    ],
)
def test_by_hand(fitness, expected):
    np.testing.assert_allclose(fitness(HAND), expected, rtol=1e-14)


def test_margins_are_added_with_their_weight():
    fitness = Fitness(entropy_weight=0.0, margin_weight=4.0, travel_limit=16.0)
    np.testing.assert_allclose(fitness(HAND, np.array([0.0, 0.5])), [7.0, 5.0])
    np.testing.assert_allclose(fitness(HAND, 0.25), [10.5, 4.0])  # beyond the travel limit they cost more, too


@pytest.mark.parametrize(
    ("share", "count", "kept"), [(0.07, 100, 7), (0.25, 4, 1), (0.25, 5, 2), (0.01, 3, 1), (1.0, 3, 3)]
)
def test_worst_share_counts_situations(share, count, kept):
    each = np.random.default_rng(0).permutation(np.arange(float(count)))[:, None]
    expected = np.arange(count - kept, count).mean()
    assert Fitness(aggregate="worst_share", share=share).combine(each)[0] == pytest.approx(expected)


def test_what_must_be_measured():
    assert Fitness().measures == ("iae", "entropy_difference_abs")
    assert Fitness(entropy_weight=0.0, travel_limit=1.0).measures == ("iae", "total_variation")
    assert Fitness(travel_weight=1.0, travel_limit=1.0).measures == ("iae", "entropy_difference_abs", "total_variation")
    assert Fitness("entropy_signed", travel_limit=1.0).measures == ("entropy_difference", "total_variation")
    assert Fitness("entropy_signed", error="ise", error_limit=1.0).measures == ("entropy_difference", "ise")
    assert "error_limit" not in Fitness().plain()
    assert Fitness(error_limit=1.0).plain()["error_limit"] == 1.0
    for kind in KINDS:
        assert set(Fitness(kind, effort_weight=1.0).measures) <= set(ALL_MEASURES)


# ---------------------------------------------------------------------------------------------------- divergence


@given(times=st.lists(st.floats(0.0, 9.99), min_size=2, max_size=8, unique=True), kind=st.sampled_from(KINDS))
def test_the_sooner_it_diverges_the_more_it_pays(times, kind):
    """Whatever was measured until then."""
    times = np.sort(times)
    lost = quality({name: [np.linspace(1e9, 0.0, len(times))] for name in ALL_MEASURES}, [times])
    value = Fitness(kind)(lost)
    assert (np.diff(value) <= 0.0).all()
    assert (np.diff(value)[np.diff(times) > 1e-9] < 0.0).all()
    np.testing.assert_allclose(value, 1e3 * (1.0 + (10.0 - times) / 10.0))


def test_divergence_is_judged_by_its_own_horizon():
    lost = Quality(
        ("", ""), np.array([10.0, 2.0]), np.array([[5.0], [1.0]]), {n: np.zeros((2, 1)) for n in ALL_MEASURES}
    )
    np.testing.assert_allclose(Fitness().per_situation(lost), [[1500.0], [1500.0]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_fitness_is_always_finite(kind, value):
    """A measure that overflows counts as divergence at once."""
    found = Fitness(kind)(quality({name: [[value, 1.0]] for name in ALL_MEASURES}))
    assert found[0] == 2e3
    assert np.isfinite(found[1])


def test_one_failure_is_not_averaged_away():
    many = quality({"iae": np.ones((50, 2))}, np.where(np.arange(100).reshape(50, 2) == 1, 9.0, np.nan))
    first, second = Fitness()(many)
    assert second > 20.0 * first


# ------------------------------------------------------------------------------------------------------ always true


@given(
    st.data(), st.sampled_from(("mean", "worst_share")), st.sampled_from(ERRORS),
    st.sampled_from(("tracking_and_entropy", "entropy_magnitude", "entropy_square")),
)  # fmt: skip
def test_more_of_anything_is_never_better(data, aggregate, error, kind):
    weights = {name: data.draw(st.floats(0.0, 3.0)) for name in ("entropy_weight", "travel_weight", "effort_weight")}
    fitness = Fitness(kind, error, aggregate=aggregate, share=0.5, travel_limit=3.0, **weights)
    base = {name: np.array(data.draw(st.lists(st.floats(0.0, 9.0), min_size=3, max_size=3))) for name in ALL_MEASURES}
    name, row, more = data.draw(st.tuples(st.sampled_from(ALL_MEASURES), st.integers(0, 2), st.floats(0.0, 5.0)))
    raised = base[name] + more * (np.arange(3) == row)
    both = quality({k: np.column_stack([v, raised if k == name else v]) for k, v in base.items()})
    before, after = fitness(both)
    assert after >= before * (1.0 - 1e-12)
    if name in fitness.terms and aggregate == "mean" and more > 1e-6:
        assert after > before


@given(st.lists(st.floats(0.0, 9.0), min_size=4, max_size=4), st.floats(0.01, 5.0), st.sampled_from(AGGREGATES))
def test_the_same_more_everywhere_is_worse_by_as_much(values, more, aggregate):
    each = np.array(values)[:, None]
    fitness = Fitness(aggregate=aggregate)
    np.testing.assert_allclose(fitness.combine(each + more), fitness.combine(each) + more, rtol=1e-9)


@given(st.permutations(range(5)), st.sampled_from(AGGREGATES))
def test_the_order_of_situations_means_nothing(order, aggregate):
    each = np.array([[1.0], [5.0], [2.0], [8.0], [3.0]])
    fitness = Fitness(aggregate=aggregate, share=0.4)
    np.testing.assert_allclose(fitness.combine(each[list(order)]), fitness.combine(each), rtol=1e-13)


@given(st.floats(-9.0, 9.0), st.floats(0.0, 9.0), st.floats(0.01, 9.0))
def test_more_travel_than_allowed_is_never_a_reward(value, travel, more):
    """Also for the signed entropy difference, which may be negative."""
    both = quality({"entropy_difference": [[value, value]], "total_variation": [[travel, travel + more]]})
    less, greater = Fitness("entropy_signed", travel_limit=2.0)(both)
    assert greater >= less


def test_an_excess_of_travel_costs_twice_its_share():
    both = quality({"iae": [[1.0, 0.9]], "total_variation": [[10.0, 10.6]]})
    within, beyond = Fitness(entropy_weight=0.0, travel_limit=10.0)(both)
    assert within < beyond  # 10 % of error is not bought with 6 % of travel


# ------------------------------------------------------------------------------------------------------- references


def test_references_are_medians_of_what_survives():
    many = quality(
        {"iae": [[1.0, 2.0, 9.0, 3.0], [3.0, 4.0, 9.0, 5.0]], "entropy_difference_abs": [[2.0, 4.0, 0.0, 9.0]] * 2},
        [[np.nan, np.nan, 5.0, np.nan], [np.nan] * 4],
    )
    found = Fitness().normalised_by(many)
    assert found.reference == {"iae": 3.0, "entropy_difference_abs": 4.0}  # means 2, 3, 4 and 2, 4, 9
    assert replace(found, reference={}) == Fitness()
    preferred = Fitness().normalised_by(many, np.array([True, False, True, False]))
    assert preferred.reference == {"iae": 2.0, "entropy_difference_abs": 2.0}
    none_left = Fitness().normalised_by(many, np.array([False, False, True, False]))
    assert none_left.reference == found.reference


def test_terms_that_are_nothing_are_not_divided_by():
    calm = quality({"iae": [[1.0, 3.0]]})
    assert Fitness().normalised_by(calm).reference == {"iae": 2.0}


def test_without_survivors_there_is_nothing_to_refer_to():
    with pytest.raises(ValueError, match="give reference gains that stabilise the plant, or tighten the gain bounds"):
        Fitness().normalised_by(quality({"iae": [[1.0, 2.0]]}, [[3.0, 4.0]]))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"kind": "entropy"},
            "kind must be one of tracking_and_entropy, .*, got 'entropy'; did you mean 'entropy_square'",
        ),
        ({"error": "iea"}, "error must be one of iae, itae, ise, got 'iea'; did you mean 'ise'"),
        ({"aggregate": "wurst"}, "aggregate must be one of .*, got 'wurst'; did you mean 'worst'"),
        ({"entropy_weight": -0.1}, "entropy_weight must be at least 0, got -0.1"),
        ({"effort_weight": np.inf}, "effort_weight must be finite and at least 0, got inf"),
        ({"kappa": np.nan}, "kappa must be at least 0, got nan"),
        ({"share": 0.0}, "share must be above 0 and at most 1, got 0.0"),
        ({"share": 1.5}, "share must be above 0 and at most 1, got 1.5"),
        ({"travel_limit": -1.0}, "travel_limit must be at least 0, got -1.0"),
        ({"travel_limit": np.nan}, "travel_limit must be at least 0, got nan"),
        ({"error_limit": 0.0}, "error_limit must be above 0, got 0.0"),
        ({"saturation_limit": -1.0}, "saturation_limit must be at least 0 and at most 1, got -1.0"),
        ({"tolerance": 0.0}, "tolerance must be at least 0.0001 and at most 1, got 0.0"),
        ({"tolerance": np.nan}, "tolerance must be at least 0.0001 and at most 1, got nan"),
        ({"diverged": -1.0}, "diverged must be above 0, got -1.0"),
        ({"reference": {"iae": 0.0}}, "the reference value of 'iae' must be positive, got 0.0"),
        ({"reference": {"ise": np.inf}}, "the reference value of 'ise' must be positive, got inf"),
        ({"reference": {"iaee": 1.0}}, "no measure for the fitness to refer to 'iaee'; did you mean 'iae'"),
    ],
)
def test_wrong_settings_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        Fitness(**given)


# ---------------------------------------------------------------------------------------------------------- the trap


@pytest.fixture(scope="module")
def oscillator():
    """Van der Pol, mu 1, step to 1.5, commands within 20, 30 s without noise."""
    situation = sscq.Situation(reference=1.5, initial=(0.1, 0.0), t_end=30.0)
    measures = ("iae", "entropy_difference", "entropy_difference_abs")
    return ClosedLoop(plants.get("van_der_pol"), PID(), (situation,), 0.005, measures=measures)


@pytest.fixture(scope="module")
def random_gains():
    return np.random.default_rng(0).uniform(LOW, HIGH, (3000, 3))


@pytest.fixture(scope="module")
def random_quality(oscillator, random_gains):
    return oscillator.evaluate(random_gains)


PUBLISHED = [  # kp, ki, kd, IAE, integral of |dS_u - dS_c|, as printed
    (9.62, 2.45, 4.28, 0.685, 11.3), (0.12, 0.06, 6.19, 22.1, 0.35), (4.81, 1.72, 3.28, 0.916, 6.2),
    (2.55, 1.48, 2.33, 1.207, 3.8), (1.29, 1.02, 0.85, 1.875, 1.8),
]  # fmt: skip


@pytest.mark.parametrize(("kp", "ki", "kd", "iae", "entropy"), PUBLISHED)
def test_published_gains_give_the_published_measures(oscillator, kp, ki, kd, iae, entropy):
    found = oscillator.evaluate(np.array([[kp, ki, kd]]))
    # The gains are printed to two decimals, the measures to two or three digits: half of the last one, and 0.005 of a
    # gain of 0.06 moves a creeping response by some percent.
    slow = 0.08 if ki < 0.1 else 0.005
    assert float(found.iae[0, 0]) == pytest.approx(iae, rel=slow)
    assert float(found.entropy_difference_abs[0, 0]) == pytest.approx(entropy, rel=max(slow, 0.03))


def chosen(fitness, found):
    return float(found.iae[0, int(np.argmin(fitness(found)))])


def test_the_signed_difference_chooses_an_unstable_loop(random_quality, random_gains):
    assert chosen(Fitness("entropy_signed"), random_quality) > 20.0
    best = random_gains[int(np.argmin(Fitness("entropy_signed")(random_quality)))]
    kp, ki, kd = best
    assert ki > (1.0 + kp) * (1.5**2 - 1.0 + kd)  # Routh's condition at the reference is broken


def test_the_magnitude_chooses_not_to_move(random_quality):
    assert chosen(Fitness("entropy_magnitude"), random_quality) > 10.0


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_the_default_chooses_a_useful_loop(random_quality, weight):
    fitness = Fitness(entropy_weight=weight).normalised_by(random_quality)
    assert chosen(fitness, random_quality) < 2.0
    best = int(np.argmin(fitness(random_quality)))
    alone = int(np.argmin(random_quality.iae[0]))
    entropy = random_quality.entropy_difference_abs[0]
    assert entropy[best] < 0.8 * entropy[alone]  # and gentler than tracking alone


@pytest.mark.parametrize(
    ("kind", "word"),
    [("entropy_signed", "ill-posed"), ("entropy_magnitude", "not to move"), ("entropy_square", "not to move")],
)
def test_fitness_that_chooses_badly_is_warned_of(kind, word):
    assert word in Fitness(kind).warning(LOW, HIGH)


def test_fitness_that_chooses_well_is_not_warned_of():
    assert Fitness().warning(LOW, HIGH) is None
    assert Fitness("entropy_signed").warning(np.array([3.0, 0.5, 3.0]), np.array([4.0, 0.7, 3.5])) is None
    assert Fitness("entropy_signed").warning(np.array([3.0, 0.05, 3.0]), np.array([4.0, 0.7, 3.5])) is not None
