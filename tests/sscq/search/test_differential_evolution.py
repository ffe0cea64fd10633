"""Differential evolution: known optima, its adaptation and its shrinking population."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search.differential_evolution import DifferentialEvolution, DifferentialStrategy
from sscq.search.method import Cube
from sscq.search.search import evolve
from tests.sscq.search.search_problems import rastrigin, rosenbrock, sphere

SEEDS = range(20)


def strategy(config, n_genes=3, seed=0):
    cube = Cube(levels=np.zeros(n_genes, dtype=np.int64), start=np.empty((0, n_genes)))
    return DifferentialStrategy(config, cube, np.random.Generator(np.random.PCG64(seed)))


# Rate: all of 20 seeds, with 60 default populations of evaluations.
# Measured worst fitness: 1.2e-6, 3e-10 and 4.8e-6.
@pytest.mark.parametrize(
    ("function", "n_genes", "evaluations", "reached"),
    [(sphere, 10, 4560, 1e-4), (rosenbrock, 2, 2040, 1e-6), (rastrigin, 3, 2520, 1e-2)],
    ids=["sphere 10", "Rosenbrock 2", "Rastrigin 3"],
)
def test_known_optima(function, n_genes, evaluations, reached):
    config = DifferentialEvolution(evaluations=evaluations)
    for seed in SEEDS:
        assert evolve(function, [-5.0] * n_genes, [5.0] * n_genes, config, seed).fitness < reached


def test_an_optimum_in_a_corner_is_approached():
    for seed in SEEDS:
        config = DifferentialEvolution(evaluations=2000)
        genome = evolve(lambda x: x.sum(axis=1), [0.0] * 3, [1.0] * 3, config, seed).genome
        np.testing.assert_allclose(genome, 0.0, atol=1e-6)


@given(seed=st.integers(0, 1000), size=st.integers(4, 12), archived=st.integers(0, 6))
def test_trials_stay_in_the_cube_and_differ_from_their_parents_somewhere(seed, size, archived):
    search = strategy(DifferentialEvolution(generations=5, population=size), seed=seed)
    search.tell(search.ask(), np.arange(float(size)))
    search.archive = np.random.Generator(np.random.PCG64(seed)).random((archived, 3))
    trials = search.ask()
    assert trials.shape == (size, 3)
    assert trials.min() >= 0.0
    assert trials.max() <= 1.0
    assert (trials != search.population).any(axis=1).all()


def test_parents_are_replaced_by_trials_that_are_not_worse():
    search = strategy(DifferentialEvolution(generations=5, population=4))
    parents = search.ask()
    search.tell(parents, np.array([1.0, 2.0, np.inf, 4.0]))
    trials = search.ask()
    search.tell(trials, np.array([0.5, 2.0, 3.0, np.inf]))
    np.testing.assert_array_equal(search.population, np.vstack((trials[:3], parents[3:])))
    np.testing.assert_array_equal(search.fitness, [0.5, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(search.archive, parents[[0, 2]])  # replaced by better ones


def test_revalued_parents_compete_with_their_new_fitness():
    search = strategy(DifferentialEvolution(generations=5, population=4))
    parents = search.ask()
    search.tell(parents, np.zeros(4))
    asked = search.ask(revalue=True)
    np.testing.assert_array_equal(asked[:4], parents)
    search.tell(asked, np.array([5.0, 6.0, 7.0, 8.0, 4.0, 9.0, 6.0, 9.0]))
    np.testing.assert_array_equal(search.fitness, [4.0, 6.0, 6.0, 8.0])
    np.testing.assert_array_equal(search.population, asked[[4, 1, 6, 3]])


def test_memory_learns_the_lehmer_mean_of_successful_rates():
    search = strategy(DifferentialEvolution(generations=5, population=4, memory=2))
    search.tell(search.ask(), np.array([10.0, 10.0, 10.0, 10.0]))
    search.ask()
    search._rates = np.array([[0.2, 0.4, 0.6, 0.8], [0.1, 0.3, 0.5, 0.9]])
    search.tell(search.population.copy(), np.array([9.0, 7.0, 11.0, 10.0]))  # gains 1 and 3
    expected = [(0.2**2 + 3 * 0.4**2) / (0.2 + 3 * 0.4), (0.1**2 + 3 * 0.3**2) / (0.1 + 3 * 0.3)]
    np.testing.assert_allclose(search.memory, [[expected[0], 0.5], [expected[1], 0.5]], rtol=1e-14)


def test_the_population_shrinks_to_four_with_the_budget():
    search = strategy(DifferentialEvolution(population=40, evaluations=1000))
    sizes = []
    while search.told < 1000:
        points = search.ask()
        search.tell(points, sphere(points))
        sizes.append(len(search.population))
        # linear from 40 to 4 in the evaluations told
        assert sizes[-1] == max(4, round(40 - 36 * search.told / 1000)) or search.told == 40
    assert sizes[0] == 40
    assert sizes[-1] == 4


def test_without_a_budget_the_population_keeps_its_size():
    search = strategy(DifferentialEvolution(population=10, generations=5))
    for _ in range(5):
        points = search.ask()
        search.tell(points, sphere(points))
    assert len(search.population) == 10


def test_a_population_of_one_point_has_converged():
    result = evolve(lambda x: x.sum(axis=1), [0.0], [1.0], DifferentialEvolution(evaluations=10**6, population=8), 0)
    assert result.stopped_by in {"converged", "budget"}
    assert result.evaluations < 10**5
