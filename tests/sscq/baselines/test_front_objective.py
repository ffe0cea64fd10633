"""What a front search minimises: the same numbers as the evaluation, and failures as constraints."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import WhiteNoise
from sscq.baselines import candidates
from sscq.baselines.objective import FrontObjective, Task, measure_of
from sscq.fitness import Fitness

LOW, HIGH = np.zeros(3), np.full(3, 10.0)
WORDS = ("error", "entropy", "travel")
SITUATIONS = tuple(
    sscq.Situation(name=name, reference=r, excitation=WhiteNoise(0.3, hold=0.1), t_end=4.0, seed=1)
    for name, r in (("up", 1.0), ("down", -1.5))
)
GAINS = np.array([[5.0, 1.0, 4.0], [2.0, 0.5, 2.0], [9.0, 9.0, 0.1]])


@pytest.fixture(scope="module")
def candidate():
    return candidates.fixed((PID(),), LOW, HIGH, GAINS[:1])


def objective(candidate, fitness=None, **others):
    task = Task(plants.get("van_der_pol"), SITUATIONS, fitness or Fitness(), 0.01)
    return FrontObjective(task, candidate, WORDS, **others)


@pytest.fixture(scope="module")
def quality():
    return sscq.evaluate(plants.get("van_der_pol"), PID(), GAINS, SITUATIONS, step=0.01)


@pytest.mark.parametrize("aggregate", ["mean", "worst"])
@pytest.mark.parametrize("error", ["iae", "ise"])
def test_objectives_are_the_measures_combined_over_situations(candidate, quality, aggregate, error):
    fitness = Fitness(error=error, aggregate=aggregate)
    found = objective(candidate, fitness)(GAINS)
    names = [measure_of(word, fitness) for word in WORDS]
    assert names == [error, "entropy_difference_abs", "total_variation"]
    over = np.mean if aggregate == "mean" else np.max
    expected = np.column_stack([over(quality.until_lost[name], axis=0) for name in names])
    np.testing.assert_allclose(found[:, 1:], expected, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 0], 0.0)


def test_what_is_of_no_use_violates_a_constraint(candidate, quality):
    error = quality.iae.mean(axis=0)
    limit = float(error.min() * 1.5)
    severity = objective(candidate, limits={"error": limit})(GAINS)[:, 0]
    np.testing.assert_array_equal(severity > 0.0, error > limit)
    assert (severity < 1.0).all()


def test_limits_of_the_fitness_are_constraints(candidate, quality):
    travel = quality.total_variation.mean(axis=0)
    severity = objective(candidate, Fitness(travel_limit=float(np.median(travel))))(GAINS)[:, 0]
    np.testing.assert_array_equal(severity > 0.0, travel > np.median(travel))


def test_renewal_draws_other_noise_and_the_declared_one_comes_back(candidate):
    search = objective(candidate)
    first = search(GAINS)
    search.renew(3)
    assert not np.array_equal(search(GAINS), first)
    search.renew(0)
    np.testing.assert_array_equal(search(GAINS), first)


def test_other_limits_are_another_problem(candidate):
    assert objective(candidate).problem("a") != objective(candidate, limits={"error": 2.0}).problem("a")
