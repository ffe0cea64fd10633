"""Situations that are searched apart, side by side: each gets what a search finds for it alone.

Values are the same to the bit. The last digit of slopes depends on what else is compiled into the loop (a delay that only
other situations have), and so, after many steps, do the later digits of what is found.
"""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.baselines import candidates
from sscq.baselines.apart import ApartObjective
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.search.descent import GradientDescent

PLANT = plants.get("van_der_pol")
LAW = PID(sample_time=0.02, derivative_filter_time=0.05)
SETS = sscq.standard_sets(PLANT)
EVERY = (
    *(replace(one, t_end=3.0) for one in SETS["taught"]),
    *(replace(one, t_end=2.0, delay=0.03) for one in SETS["unforeseen"][:3]),  # another horizon: another call
)
START = np.array([[3.0, 0.5, 2.0], [9.0, 2.0, 3.0]])
FITNESS = Fitness(reference={"iae": 1.5, "entropy_difference_abs": 12.0})
CANDIDATE = candidates.fixed((LAW,), np.zeros(3), np.full(3, 40.0), START)


def task(situations=EVERY, **options):
    return Task(PLANT, situations, FITNESS, PLANT.step, options)


def limits():
    return OperatingMargins(PLANT, (LAW,), EVERY, PLANT.step, [0.0] * 3, [40.0] * 3, MarginLimits(1.2))


@pytest.mark.parametrize("evaluations", [60, 440])  # one start each; two, of which the better goes on, and led inside
@pytest.mark.parametrize("held", [False, True])
def test_each_situation_gets_what_it_gets_alone(evaluations, held):
    margins = limits() if held else None
    plan = SearchPlan((GradientDescent(evaluations=evaluations),), seed=3)

    def alone(number):
        return Objective(task(EVERY[number : number + 1]), CANDIDATE.controller, None, margins)

    found = plan.search_apart(ApartObjective(task(), CANDIDATE.controller, None, margins), CANDIDATE, alone)
    wanted = np.array([plan.search(alone(number), CANDIDATE).theta for number in range(len(EVERY))])
    closeness = 1e-6  # in fitness
    if held and evaluations > 200:  # who is led inside the margins begins to look for their worst places anew
        closeness = 0.01
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        objective = alone(number)
        assert objective(one[None]) == pytest.approx(objective(other[None]), rel=closeness)
        assert objective.violation(one[None]) <= objective.violation(other[None]) + 1e-9
    assert held or len(np.unique(found.round(3), axis=0)) == len(EVERY)  # each has its own


def test_values_are_those_of_each_alone_to_the_bit_and_slopes_to_the_last_digit():
    owners = np.repeat(np.arange(len(EVERY)), 2)
    genomes = START[owners % 2] + np.linspace(-0.3, 0.3, 3 * len(owners)).reshape(-1, 3)
    value, slopes = ApartObjective(task(), CANDIDATE.controller).of(owners).slopes(genomes)
    for number in range(len(EVERY)):
        mine = owners == number
        wanted, wanted_slopes = Objective(task(EVERY[number : number + 1]), CANDIDATE.controller).slopes(genomes[mine])
        assert np.array_equal(value[mine], wanted)
        np.testing.assert_allclose(slopes[mine], wanted_slopes, atol=1e-14 * np.abs(wanted_slopes).max())


def test_what_is_watched_or_has_no_slopes_is_not_searched_side_by_side():
    assert ApartObjective(task(), CANDIDATE.controller).smooth
    inertia = replace(task(algebraic_loop="loop_free"), plant=plants.get("nonlinear_inertia"))
    assert not ApartObjective(inertia, CANDIDATE.controller).smooth
    ordered = replace(task(), fitness=Fitness(kind="lexicographic"))
    assert not ApartObjective(ordered, CANDIDATE.controller).smooth
