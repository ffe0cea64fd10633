"""Linguistic variables from data: ranges, equal population, information, choice of inputs and terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flcs.inference.variable import SMALLEST_GAP, Variable
from flcs.learning import term_search
from flcs.learning.information import gain_terms, informative_inputs, mutual_information, term_entropy
from flcs.learning.term_search import choose_terms, search_terms
from flcs.learning.terms import Population, equal_population, robust_range, term_use

RNG = np.random.default_rng(12)
ONES = np.ones(2_000)
NORMAL = RNG.normal(1.0, 2.0, 2_000)


def test_range_is_robust_and_widened():
    x = np.linspace(0.0, 10.0, 10_001)
    assert robust_range(x) == pytest.approx((0.05 - 0.99, 9.95 + 0.99), abs=1e-9)
    outlier = np.concatenate([x, [1e6]])
    assert robust_range(outlier) == pytest.approx(robust_range(x), rel=1e-3)
    assert robust_range(np.full(5, 3.0)) == (2.0, 4.0)


@pytest.mark.parametrize("n_terms", [2, 3, 5, 9])
def test_equal_population_uses_all_terms_evenly(n_terms):
    variable = Variable("e", "", -9.0, 11.0, equal_population(NORMAL, ONES, n_terms))
    # Triangles at quantiles are exact for a density that is constant between centres; a bell curve is near to that.
    np.testing.assert_allclose(term_use(variable, NORMAL, ONES), 1.0 / n_terms, rtol=0.2)
    assert term_entropy(variable, NORMAL, ONES) > 0.99
    spaced = Variable("e", "", -9.0, 11.0, tuple(np.linspace(-9.0, 11.0, n_terms)))
    if n_terms > 2:  # two terms are even in any symmetric place
        assert term_entropy(spaced, NORMAL, ONES) < term_entropy(variable, NORMAL, ONES)


def test_weights_count_like_copies():
    copies = RNG.integers(0, 4, 300)
    x = RNG.normal(size=300)
    weighted = equal_population(x, copies.astype(float), 5)
    repeated = equal_population(np.repeat(x, copies), np.ones(copies.sum()), 5)
    # Quantiles between two rows are interpolated a little differently: at most the distance of neighbouring rows.
    np.testing.assert_allclose(weighted, repeated, atol=0.05)
    assert equal_population(x, np.zeros(300), 5) == equal_population(x, np.ones(300), 5)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40),
    st.integers(2, 9),
    st.floats(0.0, 1.0),
    st.sampled_from(["triangular", "gaussian"]),
)
def test_any_data_give_a_valid_variable(values, n_terms, evenness, shape):
    x = np.array(values)
    variable = Population(x, np.ones(len(x))).variable("e", n_terms, shape=shape, evenness=evenness)
    assert variable.n_terms == n_terms
    span = variable.high - variable.low
    assert variable.low - 1e-9 * span <= variable.centres[0]
    assert variable.centres[-1] <= variable.high + 1e-9 * span


def test_terms_of_a_loop_at_rest_do_not_all_crowd_there():
    x = np.concatenate([np.zeros(1_000), np.linspace(-2.0, 2.0, 20)])
    limits = robust_range(x)
    crowded, mixed, spaced = (
        np.diff(Population(x, np.ones(len(x))).variable("e", 5, evenness=share).centres) for share in (1.0, 0.5, 0.0)
    )
    assert crowded.max() < 3.0 * SMALLEST_GAP * (limits[1] - limits[0])
    assert np.ptp(spaced) < 1e-12
    assert mixed.min() > 0.4 * spaced[0]


def test_mutual_information_of_known_tables():
    same = np.eye(4)[RNG.integers(0, 4, 4_000)]
    other = np.eye(3)[RNG.integers(0, 3, 4_000)]
    weight = np.ones(4_000)
    share = same.mean(axis=0)
    assert mutual_information(same, same, weight) == pytest.approx(-(share * np.log(share)).sum(), rel=1e-12)
    assert mutual_information(same, other, weight) < 0.005  # bias of 6 free cells: 6 / (2 * 4000)
    assert mutual_information(same, other, weight) == pytest.approx(mutual_information(other, same, weight), rel=1e-9)


def signal(n_situations=6, n=80, noise=1.0):
    """Gains that follow the first input; the second is as smooth in time but unrelated; the third is white."""
    time = np.arange(n) * 0.2
    rows = []
    for s in range(n_situations):
        phase, other = RNG.uniform(0.0, 6.0, 2)
        informative = np.sin(time + phase)
        unrelated = np.sin(0.83 * time + other)
        white = RNG.normal(size=n)
        gain = 5.0 + 2.0 * informative + noise * RNG.normal(size=n)
        rows.append(np.column_stack([np.full(n, s), informative, unrelated, white, gain]))
    table = np.concatenate(rows)
    return table[:, 0].astype(int), table[:, 1:4], table[:, 4:]


def test_permutation_test_keeps_what_informs():
    often = np.zeros(3)
    for _ in range(12):
        situation, inputs, gains = signal()
        given = (inputs, gains, np.ones(len(inputs)), situation, 0)
        kept, information, threshold = informative_inputs(*given, permutations=60)
        often[kept] += 1
        assert information[0] > 3.0 * threshold[0]
    assert often[0] == 12
    # By chance one in twenty passes; 6 or more of 12 would happen once in 40 000 times.
    assert (often[1:] < 6).all()
    np.testing.assert_array_equal(informative_inputs(*given, permutations=60)[2], threshold)


def test_the_best_input_stays_even_if_nothing_informs():
    situation, inputs, _ = signal()
    gains = RNG.normal(size=(len(inputs), 3))
    kept, information, _ = informative_inputs(inputs[:, 1:], gains, np.ones(len(inputs)), situation, seed=1, level=1.0)
    assert len(kept) == 1
    assert kept[0] == int(np.argmax(information))
    constant, _, _ = informative_inputs(inputs, np.ones_like(gains), np.ones(len(inputs)), situation, seed=1)
    assert len(constant) == 1


def test_gain_terms_leave_out_constant_gains():
    gains = np.column_stack([np.ones(50), RNG.normal(size=50)])
    assert len(gain_terms(gains, np.ones(50))) == 1


def test_choice_of_terms_weighs_information_against_number(monkeypatch):
    """A gain that follows the magnitude of an input needs three terms there, an input that says nothing two."""
    x = RNG.uniform(-1.0, 1.0, (1_500, 2))
    gains = np.abs(x[:, :1]) + 0.3 * RNG.normal(size=(1_500, 1))
    told, silent = choose_terms(x, gains, np.ones(1_500))
    assert told[0] >= 3
    assert silent[0] == 2
    monkeypatch.setattr(term_search, "WEIGHTS", (1.0, 1.0, 0.0))
    assert choose_terms(x, gains, np.ones(1_500))[0][0] > told[0]
    monkeypatch.setattr(term_search, "WEIGHTS", (1.0, 1.0, 3.0))
    assert choose_terms(x, gains, np.ones(1_500))[0][0] < told[0]


def test_choice_of_terms_by_a_search():
    x = RNG.uniform(-1.0, 1.0, (300, 2))
    gains = np.column_stack([np.sign(np.sin(9.0 * x[:, 0]))])
    calls = []

    def search(evaluate, low, high):
        genomes = np.random.default_rng(0).uniform(low, high, (60, len(low)))
        values = evaluate(genomes)
        calls.append(values)
        return genomes[np.argmin(values)]

    chosen = search_terms(x, gains, np.ones(300), search, shapes=("gaussian",)).terms
    assert calls[0].shape == (60,)
    assert np.isfinite(calls[0]).all()
    for n_terms, evenness, overlap in chosen:
        assert 2 <= n_terms <= 9
        assert 0.0 <= evenness <= 1.0
        assert 0.5 <= overlap <= 1.5
