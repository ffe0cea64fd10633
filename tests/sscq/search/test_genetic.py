"""The genetic algorithm: its operators and elite, and the optima it must find."""

import numpy as np
import pytest
from deap import base, tools

from sscq.search.genetic import GeneticAlgorithm, GeneticStrategy
from sscq.search.method import Cube
from sscq.search.operators import toolbox
from sscq.search.search import evolve
from tests.reference import deap_front
from tests.sscq.search.search_problems import rastrigin, rosenbrock, sphere

SEEDS = range(20)


def cube(n_genes, levels=None, start=()):
    levels = np.zeros(n_genes, dtype=np.int64) if levels is None else np.array(levels)
    return Cube(levels=levels, start=np.array(start, dtype=float).reshape(-1, n_genes))


def strategy(config, n_genes=3, seed=0, **others):
    return GeneticStrategy(config, cube(n_genes, **others), np.random.Generator(np.random.PCG64(seed)))


# The rate is the number of 20 seeds that must reach the fitness with the default settings (at most 60 generations);
# measured: 20 of 20 everywhere, with a margin of at least a factor 2 in the fitness of the worst seed.
@pytest.mark.parametrize(
    ("function", "n_genes", "half_width", "reached", "rate"),
    [
        (sphere, 3, 5.0, 1e-3, 20),
        (sphere, 10, 5.0, 0.05, 20),
        (rastrigin, 3, 5.0, 0.5, 19),
        (rosenbrock, 2, 2.0, 0.02, 20),
    ],
    ids=["sphere 3", "sphere 10", "Rastrigin 3", "Rosenbrock 2"],
)
def test_known_optima(function, n_genes, half_width, reached, rate):
    box = [-half_width] * n_genes, [half_width] * n_genes
    found = [evolve(function, *box, GeneticAlgorithm(), seed).fitness for seed in SEEDS]
    assert sum(fitness < reached for fitness in found) >= rate


@pytest.mark.parametrize("crossover", ["sbx", "blend"])
def test_optima_in_a_corner_are_reached(crossover):
    config = GeneticAlgorithm(crossover=crossover)
    for seed in SEEDS:
        genome = evolve(lambda x: x[:, 0] - x[:, 1], (0.0, 0.0), (1.0, 1.0), config, seed).genome
        np.testing.assert_allclose(genome, (0.0, 1.0), atol=1e-4)


def test_a_good_start_is_used():
    config = GeneticAlgorithm(population=24, generations=2)
    fitness = evolve(sphere, [-5.0] * 20, [5.0] * 20, config, 0, start=[[0.69] * 20]).fitness
    assert fitness <= 20 * 0.01**2 * (1.0 + 1e-9)


def test_default_population_grows_with_the_root_of_the_number_of_genes():
    assert [strategy(GeneticAlgorithm(), n).size for n in (1, 3, 9, 40)] == [24, 42, 72, 152]


def test_operators_are_registered_in_the_toolbox_with_the_settings():
    rng = np.random.Generator(np.random.PCG64(0))
    config = GeneticAlgorithm(tournament=5, eta_crossover=7.0, p_crossover=0.6, eta_mutation=9.0)
    box = toolbox(config, cube(4), rng)
    assert isinstance(box, base.Toolbox)
    assert box.select.keywords == {"rng": rng, "size": 5}
    assert box.mate_real.keywords == {"rng": rng, "eta": 7.0, "p": 0.6}
    assert box.mutate_real.keywords == {"rng": rng, "eta": 9.0, "p": 0.25}
    blended = toolbox(GeneticAlgorithm(crossover="blend", alpha=0.2, p_mutation=0.3), cube(4), rng)
    assert blended.mate_real.keywords == {"rng": rng, "alpha": 0.2, "p": 0.9}
    assert blended.mutate_real.keywords["p"] == 0.3


def test_elite_is_the_best_different_individuals_and_is_kept():
    search = strategy(GeneticAlgorithm(population=8, elite=3), n_genes=2)
    points = search.ask()
    points[3] = points[5]
    fitness = np.array([5.0, 4.0, 9.0, 1.0, 8.0, 1.0, 2.0, np.inf])
    search.tell(points, fitness)
    np.testing.assert_array_equal(search.elite, points[[3, 6, 1]])
    following = search.ask()
    assert len(following) == 8
    np.testing.assert_array_equal(following[:3], points[[3, 6, 1]])


def test_an_elite_may_be_smaller_than_asked_for():
    search = strategy(GeneticAlgorithm(population=8, elite=3), n_genes=2)
    search.ask()
    search.tell(np.full((8, 2), 0.5), np.zeros(8))
    assert len(search.elite) == 1
    assert search.ask().shape == (8, 2)


@pytest.mark.parametrize("seed", range(20))
def test_the_elite_is_the_hall_of_fame_that_deap_would_keep(seed):
    """Also which of equal points and of equally good ones comes first: results must not depend on who keeps it."""
    rng = np.random.default_rng(seed)
    points, fitness = rng.integers(0, 3, (12, 2)) / 2.0, rng.choice([0.0, 1.0, 2.0, np.inf], 12)
    search = strategy(GeneticAlgorithm(population=12, elite=4), n_genes=2)
    search.tell(points, fitness)
    hall = tools.HallOfFame(4)
    for row in np.argsort(fitness, kind="stable"):
        if len(hall) < 4:
            hall.update([deap_front.Point(points[row].tolist(), [fitness[row]])])
    np.testing.assert_array_equal(search.elite, np.array(list(hall)))


def test_children_come_from_parents_that_win():
    search = strategy(GeneticAlgorithm(population=100, p_crossover=0.0, p_mutation=0.0), n_genes=1)
    points = search.ask()
    search.tell(points, points[:, 0])
    children = search.ask()[2:, 0]
    assert set(children) <= set(points[:, 0])
    # The best of 3 draws from (0, 1) has mean 1/4; standard error 0.02.
    assert children.mean() == pytest.approx(0.25, abs=0.08)


def test_step_genes_stay_on_their_symbols():
    search = strategy(GeneticAlgorithm(population=20, p_mutation=0.5), n_genes=3, levels=[0, 4, 7])
    for _ in range(5):
        points = search.ask()
        symbols = points[:, 1:] * [4, 7]
        np.testing.assert_allclose(symbols, np.rint(symbols), atol=1e-12)
        assert points.min() >= 0.0
        assert points.max() <= 1.0
        search.tell(points, points.sum(axis=1))


def test_only_step_genes():
    search = strategy(GeneticAlgorithm(population=20), n_genes=2, levels=[4, 7])
    search.tell(search.ask(), np.arange(20.0))
    assert search.ask().shape == (20, 2)
