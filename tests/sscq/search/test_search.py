"""What holds for every search method: budget, repetition, failures, fixed genes, start genomes, renewal."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search.cmaes import CmaEs
from sscq.search.differential_evolution import DifferentialEvolution
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.search import Completed, _scored, evolve
from tests.sscq.search.search_problems import as_bytes

METHODS = [
    GeneticAlgorithm(population=12, evaluations=150),
    GeneticAlgorithm(population=12, evaluations=150, crossover="blend", elite=1),
    CmaEs(population=8, evaluations=150),
    DifferentialEvolution(population=12, evaluations=150),
]
NAMES = ["genetic", "genetic-blend", "cma-es", "differential-evolution"]
LOW, HIGH = (-4.0, 0.01, 2.0), (4.0, 100.0, 2.0)
SCALE = ("linear", "log", "linear")

every_method = pytest.mark.parametrize("config", METHODS, ids=NAMES)


def bowl(genomes):
    return (genomes[:, 0] - 1.0) ** 2 + np.log(genomes[:, 1]) ** 2 + genomes[:, 2]


class Recorder:
    """Keeps what it was asked for, which must lie in the box: the fixed gene stays where it is."""

    def __init__(self, function=bowl):
        self.function, self.calls = function, []

    def __call__(self, genomes):
        assert genomes.flags.c_contiguous
        assert genomes.dtype == np.float64
        assert (genomes >= LOW).all()
        assert (genomes <= HIGH).all()
        self.calls.append(genomes.copy())
        return self.function(genomes)


def run(config, evaluate=bowl, seed=0, **others):
    return evolve(evaluate, LOW, HIGH, config, seed, scale=SCALE, **others)


@every_method
def test_same_seed_same_result_other_seed_another(config):
    assert as_bytes(run(config, seed=3)) == as_bytes(run(config, seed=3))
    assert as_bytes(run(config, seed=3)) != as_bytes(run(config, seed=4))


@every_method
def test_the_best_on_the_way_are_kept_each_once(config):
    recorder = Recorder()
    result = run(config, recorder)
    values = bowl(result.incumbents)
    assert (np.diff(values) < 0.0).all()
    np.testing.assert_array_equal(result.incumbents[-1], result.genome)
    bests = [bowl(call).min() for call in recorder.calls]
    np.testing.assert_array_equal(values, np.unique(np.minimum.accumulate(bests))[::-1])


@every_method
def test_global_random_numbers_are_neither_used_nor_touched(config, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError

    for module, name in (("random", "random"), ("random", "seed"), ("numpy.random", "standard_normal")):
        monkeypatch.setattr(f"{module}.{name}", forbidden)
    assert np.isfinite(run(config).fitness)


@every_method
@given(budget=st.integers(1, 60))
def test_the_budget_is_spent_to_the_evaluation_and_never_exceeded(config, budget):
    recorder = Recorder()
    result = run(replace(config, evaluations=budget), recorder)
    assert sum(map(len, recorder.calls)) == result.evaluations == budget
    assert result.history.evaluations[-1] == budget
    assert result.stopped_by == "budget"
    assert result.fitness == min(bowl(genomes).min() for genomes in recorder.calls)


@every_method
def test_one_call_a_generation_and_no_genome_twice(config):
    recorder = Recorder()
    result = run(config, recorder, start=[[0.5, 1.0, 2.0], [0.5, 1.0, 2.0]])
    seen = np.vstack(recorder.calls)
    assert len(recorder.calls) <= len(result.history.generation)
    assert len(np.unique(seen, axis=0)) == len(seen) == result.evaluations


@every_method
def test_history_tells_the_course(config):
    recorder, progress = Recorder(), []
    result = run(config, recorder, report=progress.append)
    history = result.history
    np.testing.assert_array_equal(history.generation, np.arange(len(progress)))
    np.testing.assert_array_equal(history.best, np.minimum.accumulate(history.best))
    assert history.best[-1] == result.fitness == bowl(result.genome[None])[0]
    assert [(p.generation, p.evaluations, p.best, p.mean) for p in progress] == list(
        zip(history.generation, history.evaluations, history.best, history.mean, strict=True)
    )
    first = bowl(recorder.calls[0])
    assert history.mean[0] == pytest.approx(first.mean(), rel=1e-12)
    assert history.std[0] == pytest.approx(first.std(), rel=1e-12)
    assert history.failed.sum() == 0
    assert history.diversity[-1] < history.diversity[0]  # it has drawn together


@every_method
def test_a_box_without_free_genes_is_valued_once(config):
    result = evolve(lambda genomes: genomes.sum(axis=1), (1.0, 2.0), (1.0, 2.0), config, 0)
    assert (result.fitness, result.evaluations, result.stopped_by) == (3.0, 1, "converged")


@every_method
def test_start_genomes_are_in_the_first_population_clipped_and_with_their_exact_numbers(config):
    recorder = Recorder()
    run(config, recorder, start=[[1.0 / 3.0, 0.1, 2.0], [9.0, 1e-9, 7.0]])
    np.testing.assert_array_equal(recorder.calls[0][:2], [[1.0 / 3.0, 0.1, 2.0], [4.0, 0.01, 2.0]])


@every_method
def test_a_start_that_cannot_be_bettered_comes_back_as_it_was(config):
    start = (1.0 / 3.0, 0.1, 2.0)
    result = run(config, lambda genomes: (genomes != start).any(axis=1) * 1.0, start=start)
    assert tuple(result.genome) == start
    assert result.fitness == 0.0


@every_method
@pytest.mark.parametrize("failure", [np.nan, np.inf, -np.inf])
def test_failures_are_worse_than_anything(config, failure):
    result = run(config, lambda genomes: np.where(genomes[:, 0] < 1.5, failure, bowl(genomes)))
    assert result.genome[0] >= 1.5
    assert result.fitness < 3.0  # the best there is: 0.5^2 + 2
    assert 0 < result.history.failed.sum() < result.evaluations


@every_method
def test_a_search_in_which_all_fail_ends_with_an_infinite_fitness(config):
    result = run(config, lambda genomes: np.full(len(genomes), np.nan))
    assert result.fitness == np.inf
    assert np.isnan(result.history.mean).all()
    assert (result.genome >= LOW).all()
    assert (result.genome <= HIGH).all()


@every_method
def test_fitness_as_large_as_floats_go_is_survived(config):
    result = run(config, lambda genomes: 1.7e308 * np.cos(40.0 * genomes[:, 0]))
    assert result.fitness < -1.6e308


@every_method
def test_the_winner_is_the_same_in_other_units(config):
    plain = evolve(lambda x: ((x - 0.3) ** 2).sum(axis=1), (0.0,) * 3, (1.0,) * 3, config, 1)
    scaled = evolve(lambda x: ((x / 1024.0 - 0.3) ** 2).sum(axis=1), (0.0,) * 3, (1024.0,) * 3, config, 1)
    np.testing.assert_array_equal(plain.genome * 1024.0, scaled.genome)  # a power of two changes no digits


@every_method
def test_forgetting_old_genomes_only_costs_evaluations(config, monkeypatch):
    remembered = run(config)
    monkeypatch.setattr("sscq.search.valuation.REMEMBERED", 5)
    recorder = Recorder()
    forgetful = run(config, recorder)
    assert forgetful.fitness <= remembered.history.best[-2]  # at most a few genomes of the last generation are missing
    assert len(recorder.calls[-1]) < 12  # elite and parents are still known


def test_a_small_space_of_symbols_is_searched_without_repetition():
    recorder = []

    def evaluate(genomes):
        recorder.extend(map(tuple, genomes))
        return ((genomes - (2.0, -1.0)) ** 2).sum(axis=1)

    result = evolve(evaluate, (-3.0, -3.0), (3.0, 3.0), GeneticAlgorithm(generations=80), 0, scale="step")
    assert tuple(result.genome) == (2.0, -1.0)
    assert len(recorder) == len(set(recorder)) <= 49
    assert all(symbol.is_integer() for genome in recorder for symbol in genome)


def test_mixed_real_and_step_genes():
    def evaluate(genomes):
        return (genomes[:, 0] - 0.3) ** 2 + np.abs(genomes[:, 1] - 4.0)

    for config in (GeneticAlgorithm(), CmaEs(evaluations=1500), DifferentialEvolution(evaluations=1500)):
        result = evolve(evaluate, (0.0, -9.0), (1.0, 9.0), config, 0, scale=("linear", "step"))
        assert result.genome[1] == 4.0
        assert result.genome[0] == pytest.approx(0.3, abs=0.02)


def test_a_search_that_runs_out_of_genomes_ends():
    config = GeneticAlgorithm(evaluations=1000, stall_generations=None)
    result = evolve(lambda genomes: genomes[:, 0], 0.0, 3.0, config, 0, scale="step")
    assert (result.fitness, result.evaluations, result.stopped_by) == (0.0, 4, "converged")


def test_the_genetic_algorithm_has_a_usual_length_unless_a_budget_is_given():
    assert GeneticAlgorithm().generations == 60
    assert GeneticAlgorithm(evaluations=10_000).generations is None


def test_stall():
    config = GeneticAlgorithm(population=24, generations=500, stall_generations=7, stall_tolerance=1e-3)
    history = run(config).history
    assert len(history.best) < 500
    last, before = history.best[-1], history.best[-8]
    assert before - last <= 1e-3 * before


def place_after(renewal):
    return np.random.Generator(np.random.PCG64(renewal)).random(2)


class Noisy:
    """Optimum at a place that each renewal moves."""

    def __init__(self):
        self.renewals, self.calls, self.place = [], [], None

    def renew(self, generation):
        self.renewals.append(generation)
        self.place = place_after(generation)

    def __call__(self, genomes):
        self.calls.append((self.renewals[-1], genomes.copy()))
        return ((genomes - self.place) ** 2).sum(axis=1)


RENEWED = [
    GeneticAlgorithm(population=10, generations=12, renew_every=5, stall_generations=None, elite=2),
    CmaEs(population=10, generations=12, renew_every=5),
    DifferentialEvolution(population=10, generations=12, renew_every=5),
]


@pytest.mark.parametrize("config", RENEWED, ids=["genetic", "cma-es", "differential-evolution"])
def test_renewal_voids_all_that_was_known(config):
    noisy = Noisy()
    result = evolve(noisy, (0.0, 0.0), (1.0, 1.0), config, 0)
    assert noisy.renewals == [0, 5, 10]
    assert len(noisy.calls) == 12  # still one call a generation
    middle = np.vstack([genomes for renewed, genomes in noisy.calls if renewed == 5])
    best = middle[np.argmin(((middle - place_after(5)) ** 2).sum(axis=1))]
    assert (noisy.calls[10][1] == best).all(axis=1).any()  # the best so far is valued again
    assert result.fitness == ((result.genome - noisy.place) ** 2).sum()  # under the last numbers
    under_last = np.vstack([genomes for renewed, genomes in noisy.calls if renewed == 10])
    assert result.fitness == ((under_last - noisy.place) ** 2).sum(axis=1).min()
    assert result.evaluations == sum(len(genomes) for _, genomes in noisy.calls)


def test_a_best_genome_that_comes_back_after_a_renewal_is_kept_once():
    """Two genomes win in turn: each renewal moves the optimum from one to the other and back."""

    class Turning(Noisy):
        def renew(self, generation):
            super().renew(generation)
            self.place = np.array([0.25, 0.25]) if generation % 2 == 0 else np.array([0.75, 0.75])

    both = np.array([[0.25, 0.25], [0.75, 0.75]])
    config = GeneticAlgorithm(population=40, generations=5, renew_every=1, stall_generations=None, elite=38)
    result = evolve(Turning(), (0.0, 0.0), (1.0, 1.0), config, 0, start=both)
    np.testing.assert_array_equal(result.history.best, 0.0)
    np.testing.assert_array_equal(result.incumbents, both)


def test_renewal_gives_the_parents_of_differential_evolution_their_new_fitness():
    noisy = Noisy()
    evolve(noisy, (0.0, 0.0), (1.0, 1.0), RENEWED[2], 0)
    assert len(noisy.calls[5][1]) == 20  # parents and trials
    assert len(noisy.calls[6][1]) == 10


def test_stall_is_not_hidden_by_renewals():
    class Flat(Noisy):
        def __call__(self, genomes):
            return np.full(len(genomes), self.place[0])

    config = GeneticAlgorithm(population=10, generations=100, stall_generations=12, renew_every=5)
    assert len(evolve(Flat(), (0.0,), (1.0,), config, 0).history.best) < 20


@pytest.mark.parametrize(
    ("fitness", "stalled", "reference", "point"),
    [([11.0, 10.0], 0, 10.0, 1.0), ([11.0, 11.5], 4, 11.0, 0.0)],
    ids=["a better one", "none better"],
)
def test_after_a_renewal_progress_is_measured_from_the_new_fitness_of_the_best(fitness, stalled, reference, point):
    last = Completed(generation=7, best_fitness=1.0, best_point=np.array([0.0]), stall_reference=1.0, stalled=3)
    state = _scored(last, np.array([[0.0], [1.0]]), np.array(fitness), 1e-3, revalued=True)
    assert (state.stalled, state.stall_reference, state.best_fitness) == (stalled, reference, reference)
    assert state.best_point.tolist() == [point]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"config": GeneticAlgorithm}, TypeError, "config must be a search method"),
        ({"seed": -1}, ValueError, "seed must be an integer >= 0, got -1"),
        ({"seed": 1.5}, ValueError, "seed must be an integer >= 0, got 1.5"),
        ({"low": (0.0,)}, ValueError, "high must have one entry for each gene"),
        ({"low": (5.0, 0.0)}, ValueError, "low of gene '0' must not exceed its high"),
        ({"start": (1.0, 2.0, 3.0)}, ValueError, r"genomes must have shape \[n, 2\]"),
        ({"evaluate": lambda genomes: genomes}, ValueError, r"evaluate must return one fitness for each of the 24"),
        ({"evaluate": lambda genomes: 1.0}, ValueError, r"got shape \(\)"),
        ({"config": GeneticAlgorithm(renew_every=2)}, TypeError, r"needs an evaluate object with a method renew"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    given = {"evaluate": lambda genomes: genomes[:, 0], "low": (0.0, 0.0), "high": (1.0, 1.0), "seed": 0}
    given["config"] = GeneticAlgorithm(population=24)
    with pytest.raises(error, match=message):
        evolve(**{**given, **arguments})


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        (GeneticAlgorithm, {"population": 3}, "population must be at least 4, got 3"),
        (GeneticAlgorithm, {"population": 24.0}, "population must be a whole number, got 24.0"),
        (GeneticAlgorithm, {"elite": 0}, "elite must be at least 1, got 0"),
        (GeneticAlgorithm, {"tournament": True}, "tournament must be a whole number, got True"),
        (GeneticAlgorithm, {"crossover": "blent"}, "did you mean 'blend'"),
        (GeneticAlgorithm, {"p_crossover": 1.5}, "p_crossover must be at least 0 and at most 1, got 1.5"),
        (GeneticAlgorithm, {"p_mutation": -0.1}, "p_mutation must be at least 0 and at most 1, got -0.1"),
        (GeneticAlgorithm, {"eta_mutation": 0.0}, "eta_mutation must be above 0, got 0.0"),
        (GeneticAlgorithm, {"stall_tolerance": -1.0}, "stall_tolerance must be at least 0, got -1.0"),
        (GeneticAlgorithm, {"generations": 0}, "generations must be at least 1, got 0"),
        (CmaEs, {}, "CmaEs needs an end"),
        (CmaEs, {"evaluations": 100, "sigma": np.nan}, "sigma must be above 0, got nan"),
        (CmaEs, {"evaluations": 100, "growth": 0.5}, "growth must be at least 1, got 0.5"),
        (CmaEs, {"evaluations": 0}, "evaluations must be at least 1, got 0"),
        (
            DifferentialEvolution,
            {"evaluations": 100, "best_share": 2.0},
            "best_share must be at least 0 and at most 1, got 2.0",
        ),
        (DifferentialEvolution, {"evaluations": 100, "population": 3}, "population must be at least 4, got 3"),
    ],
)
def test_wrong_settings_are_refused(method, settings, message):
    with pytest.raises(ValueError, match=message):
        method(**settings)


SCRIPT = """
import hashlib, numpy as np
from sscq.search.cmaes import CmaEs
from sscq.search.search import evolve
weights = np.logspace(0, 4, 60)
result = evolve(lambda x: (weights * x * x).sum(axis=1), [-1.0] * 60, [2.0] * 60, CmaEs(evaluations=600), 0)
print(hashlib.sha256(result.genome.tobytes() + result.history.mean.tobytes()).hexdigest())
"""


def test_the_number_of_linear_algebra_threads_changes_no_bit():
    digests = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        call = [sys.executable, "-c", SCRIPT]
        digests.add(subprocess.run(call, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(digests) == 1
