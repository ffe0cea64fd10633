"""Array operators: children stay in the cube, and are spread as the formulas say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search import operators

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 8))


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def population(seed, shape):
    """Points of the cube, some of them on its faces and some of them equal."""
    points = generator(seed).random(shape)
    return np.where(points < 0.1, 0.0, np.where(points > 0.9, 1.0, np.where(points > 0.7, 0.75, points)))


@pytest.mark.parametrize("cross", [operators.simulated_binary, operators.blend, operators.uniform_exchange])
@given(seed=SEEDS, size=SIZES)
def test_crossed_children_stay_in_the_cube_and_parents_are_untouched(cross, seed, size):
    first, second = population(seed, size), population(seed + 1, size)
    before = first.copy(), second.copy()
    for child in cross(first, second, generator(seed), p=1.0):
        assert child.shape == size
        assert child.min() >= 0.0
        assert child.max() <= 1.0
    np.testing.assert_array_equal(first, before[0])
    np.testing.assert_array_equal(second, before[1])


@given(seed=SEEDS, size=SIZES, eta=st.floats(0.5, 60.0))
def test_simulated_binary_keeps_the_mean_of_the_parents(seed, size, eta):
    first, second = population(seed, size), population(seed + 1, size)
    one, other = operators.simulated_binary(first, second, generator(seed), eta=eta, p=1.0)
    np.testing.assert_allclose(one + other, first + second, rtol=0.0, atol=4e-16)  # two roundings below 1


@given(seed=SEEDS, size=SIZES)
def test_children_of_uncrossed_pairs_are_their_parents(seed, size):
    first, second = population(seed, size), population(seed + 1, size)
    for cross in (operators.simulated_binary, operators.blend, operators.uniform_exchange):
        one, other = cross(first, second, generator(seed), p=0.0)
        np.testing.assert_array_equal(one, first)
        np.testing.assert_array_equal(other, second)


def test_half_of_the_genes_of_a_share_of_the_pairs_are_crossed():
    first, second = np.full((4000, 5), 0.3), np.full((4000, 5), 0.6)
    one, _ = operators.simulated_binary(first, second, generator(), p=0.8)
    changed = (one != 0.3) & (one != 0.6)
    # A crossed pair has 5 genes that take part with probability 1/2; standard errors below 0.008.
    assert changed.any(axis=1).mean() == pytest.approx(0.8 * (1.0 - 0.5**5), abs=0.03)
    assert changed.mean() == pytest.approx(0.4, abs=0.03)


def test_spread_factor_has_the_density_of_simulated_binary_crossover():
    eta = 4.0
    first, second = np.full((40_000, 1), 0.5 - 1e-6), np.full((40_000, 1), 0.5 + 1e-6)  # far from the bounds
    one, other = operators.simulated_binary(first, second, generator(1), eta=eta, p=1.0)
    beta = np.abs(one - other)[one[:, 0] != first[:, 0], 0] / 2e-6
    beta = beta[np.abs(beta - 1.0) > 1e-9]  # exchanged genes did not take part
    # P(beta < b) = b^(eta + 1) / 2 for b < 1 and 1 - b^-(eta + 1) / 2 above: quantiles 1/4, 1/2, 3/4; the standard
    # error of each is below 0.004.
    quantiles = np.quantile(beta, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quantiles, [0.5 ** (1 / (eta + 1)), 1.0, 0.5 ** (-1 / (eta + 1))], atol=0.02)


def crossed(points, eta):
    return operators.simulated_binary(points, 1.0 - points, generator(), eta=eta, p=1.0)[0]


def mutated(points, eta):
    return operators.polynomial_mutation(points, generator(), eta=eta, p=1.0)


@pytest.mark.parametrize("changed", [crossed, mutated])
def test_larger_eta_keeps_children_nearer(changed):
    points = np.full((2000, 4), 0.4)

    def distance(eta):
        children = changed(points, eta)
        return np.minimum(np.abs(children - 0.4), np.abs(children - 0.6)).mean()  # from the nearer parent

    distances = [distance(eta) for eta in (1.0, 5.0, 20.0, 80.0)]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 4.0 * distances[-1]


def test_blend_fills_the_widened_interval_evenly():
    first, second = np.full((20_000, 1), 0.4), np.full((20_000, 1), 0.6)
    one, other = operators.blend(first, second, generator(), alpha=0.3, p=1.0)
    children = np.concatenate((one, other))
    assert children.min() == pytest.approx(0.34, abs=1e-4)
    assert children.max() == pytest.approx(0.66, abs=1e-4)
    assert children.std() == pytest.approx(0.32 / np.sqrt(12.0), rel=0.02)
    assert np.corrcoef(one[:, 0], other[:, 0])[0, 1] == pytest.approx(0.0, abs=0.03)


@given(seed=SEEDS, size=SIZES)
def test_uniform_exchange_only_exchanges(seed, size):
    first, second = population(seed, size), population(seed + 1, size)
    one, other = operators.uniform_exchange(first, second, generator(seed), p=1.0)
    np.testing.assert_array_equal(np.minimum(one, other), np.minimum(first, second))
    np.testing.assert_array_equal(np.maximum(one, other), np.maximum(first, second))


@given(seed=SEEDS, size=SIZES, eta=st.floats(0.5, 60.0))
def test_mutants_stay_in_the_cube(seed, size, eta):
    points = population(seed, size)
    mutated = operators.polynomial_mutation(points, generator(seed), eta=eta, p=1.0)
    assert mutated.min() >= 0.0
    assert mutated.max() <= 1.0


@pytest.mark.parametrize("p", [0.0, 0.025, 0.5, 1.0])
def test_mutation_rate(p):
    points = np.full((500, 40), 0.3)
    changed = operators.polynomial_mutation(points, generator(), p=p) != points
    assert changed.mean() == pytest.approx(p, abs=4.0 * np.sqrt(p * (1.0 - p) / points.size))  # four standard errors


def test_mutation_is_as_likely_down_as_up():
    points = np.full((20_000, 1), 0.2)
    mutated = operators.polynomial_mutation(points, generator(), p=1.0)
    assert (mutated < points).mean() == pytest.approx(0.5, abs=0.015)  # four standard errors


@given(seed=SEEDS, levels=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_step_mutation_moves_by_exactly_one_symbol_and_stays_inside(seed, levels):
    levels = np.array(levels)
    symbols = generator(seed).integers(0, levels + 1, (7, len(levels)))
    moved = operators.step_mutation(symbols / levels, generator(seed), levels=levels, p=1.0) * levels
    np.testing.assert_allclose(np.abs(moved - symbols), 1.0, rtol=1e-12)
    assert moved.min() >= 0.0
    assert (moved <= levels + 1e-12).all()


def test_tournament_prefers_the_fitter_and_never_a_failure_over_a_success():
    fitness = np.array([3.0, 1.0, np.inf, 2.0])
    winners = operators.tournament(fitness, 20_000, generator(), size=3)
    shares = np.bincount(winners, minlength=4) / len(winners)
    # Best of 3 draws with replacement among 4: rank k wins with ((5 - k)^3 - (4 - k)^3) / 64.
    np.testing.assert_allclose(shares, [7 / 64, 37 / 64, 1 / 64, 19 / 64], atol=0.015)


@given(seed=SEEDS, n=st.integers(1, 30), n_genes=st.integers(1, 5))
def test_latin_hypercube_has_one_point_in_each_slice(seed, n, n_genes):
    points = operators.latin_hypercube(generator(seed), n, n_genes)
    for gene in range(n_genes):
        assert sorted(np.floor(points[:, gene] * n).astype(int)) == list(range(n))
