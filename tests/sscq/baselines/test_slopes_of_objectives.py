"""Slopes of what a search minimises, limits and margins included, against differences of it; and what has none."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.baselines import candidates
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan, search
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.search.cmaes import CmaEs
from sscq.search.descent import GradientDescent

PLANT = plants.get("van_der_pol")
LAW = PID(sample_time=0.02, derivative_filter_time=0.05)
SETS = tuple(replace(s, t_end=3.0) for s in sscq.standard_sets(PLANT)["taught"])
START = np.array([[3.0, 0.5, 2.0], [9.0, 2.0, 3.0]])
FITNESS = Fitness(reference={"iae": 1.5, "entropy_difference_abs": 12.0})


def objective(fitness=FITNESS, margins=None, plant=PLANT, situations=SETS, **options):
    task = Task(plant, situations, fitness, plant.step, options)
    candidate = candidates.fixed((LAW,), np.zeros(3), np.full(3, 40.0), START)
    return Objective(task, candidate.controller, candidate.decode, margins), candidate, task


def differences(of, genomes):
    found = np.empty(genomes.shape)
    for k in range(genomes.shape[1]):
        way = np.zeros(genomes.shape[1])
        way[k] = 1e-6
        found[:, k] = (of(genomes + way) - of(genomes - way)) / 2e-6
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"travel_limit": 20.0},
        {"error_limit": 0.5},
        {
            "error_limit": 0.5,
            "travel_limit": 20.0,
            "error": "ise",
            "entropy_weight": 0.0,
            "error_weight": 0.0,
            "effort_weight": 1.0,
        },
        {"aggregate": "mean_plus_std"},
        {"aggregate": "worst"},
        {"aggregate": "worst_share", "share": 0.5},
        {"kind": "entropy_magnitude"},
        {"travel_weight": 0.1, "effort_weight": 0.01, "error": "ise"},
    ],
)
def test_slopes_of_every_aggregate_and_limit(changes):
    of, _, _ = objective(replace(FITNESS, **changes))
    fitness, slopes = of.slopes(START)
    np.testing.assert_array_equal(fitness, of(START))
    np.testing.assert_allclose(slopes, differences(of, START), rtol=2e-5, atol=1e-6 * np.abs(slopes).max())


def test_slopes_through_violated_margins_are_differences():
    margins = OperatingMargins(
        PLANT, (LAW,), SETS[:1], PLANT.step, np.zeros(3), np.full(3, 40.0), MarginLimits(sensitivity=1.2)
    )
    of, _, _ = objective(margins=margins)
    fitness, slopes = of.slopes(START)
    assert (fitness > objective()[0](START)).all()
    np.testing.assert_allclose(slopes, differences(of, START), rtol=1e-3)


def test_what_has_no_slopes():
    assert not objective(Fitness(kind="lexicographic"))[0].smooth
    assert not objective(plant=plants.get("nonlinear_inertia"), algebraic_loop="iterated")[0].smooth
    car = plants.get("quarter_car")
    own = Fitness(own_measures={car.measures[0].name: 1.0}, reference={car.measures[0].name: 1.0})
    assert not objective(own, plant=car, situations=sscq.standard_sets(car)["taught"][:1])[0].smooth


@pytest.mark.filterwarnings("ignore::plants.UntracedWarning")
def test_what_calls_a_function_as_it_stands_is_not_descended():
    """Its slopes are difference quotients: a gradient would cost ten rollouts and more."""

    def derivative(t, x, u, w, p):
        return (u[0] - x[0] if x[0] > 0.0 else u[0] - 2.0 * x[0],)

    plant = plants.Plant(
        "kinked", (plants.Quantity("level", "m", 0.1, -5.0, 5.0),), inputs=(plants.Quantity("flow", "m/s"),),
        channels=(plants.Channel("level", low=-1.0, high=1.0),), derivative=derivative, step=0.02,
    )  # fmt: skip
    assert not objective(plant=plant, situations=[sscq.Situation(reference=0.5, t_end=1.0)])[0].smooth


def test_a_descent_finds_what_a_search_finds_and_stands_aside_where_there_are_no_slopes():
    of, candidate, task = objective()
    found = search(task, candidate, SearchPlan((GradientDescent(evaluations=900),)), None)
    other = search(task, candidate, SearchPlan((CmaEs(evaluations=900),)), None)
    assert found.fitness <= 1.005 * other.fitness < of(START).min()
    assert found.histories[0][0] == "GradientDescent"
    again = search(task, candidate, SearchPlan((GradientDescent(evaluations=900),)), None)
    np.testing.assert_array_equal(again.theta, found.theta)
    ordered = replace(task, fitness=replace(FITNESS, kind="lexicographic"))
    other = search(ordered, candidate, SearchPlan((GradientDescent(evaluations=200),)), None)
    assert other.histories[0][0] == "CmaEs"
