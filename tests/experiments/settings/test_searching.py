"""How a candidate's evaluations are spent: in rounds of searches, each of two methods."""

import pytest

from experiments.settings import setup
from experiments.settings.searching import methods_of, rounds
from experiments.starting.opening import configured
from sscq.search.descent import GradientDescent
from sscq.search.genetic import GeneticAlgorithm


@pytest.mark.parametrize(
    ("evaluations", "sizes"),
    [(60, [60]), (2999, [2999]), (3000, [1500, 1500]), (6000, [1500, 4500]), (20000, [1500, 4500, 14000])],
)
def test_rounds_are_three_times_as_long_and_spend_all(evaluations, sizes):
    assert list(rounds(configured("design", [f"budget.evaluations={evaluations}"]))) == sizes


def test_only_the_usual_search_has_rounds():
    assert rounds(configured("design", ["budget.evaluations=6000", "search.method=cmaes"])) == (6000,)


def test_a_search_begins_with_the_genetic_algorithm_and_goes_on_along_slopes():
    methods = methods_of(configured("design", []))
    near = methods(33, 1500)
    assert [type(method) for method in near] == [GeneticAlgorithm, GradientDescent]
    assert sum(method.evaluations for method in near) == 1500
    assert methods(33, 1500, True)[1].spread > near[1].spread


def test_each_round_has_a_search_of_every_seed():
    job = setup(configured("design", ["plant=fopdt", "budget.evaluations=6000", "seeds=2"]))
    assert job.searches == (1500, 1500, 4500, 4500)
    assert [job.round_of(number) for number in range(4)] == [0, 0, 1, 1]
