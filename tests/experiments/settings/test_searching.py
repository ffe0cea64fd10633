"""How a candidate's evaluations are spent: a longer search begins as a shorter one."""

import pytest

from experiments.settings.searching import methods_of, rounds
from experiments.starting.opening import configured
from sscq.search.descent import GradientDescent
from sscq.search.genetic import GeneticAlgorithm


@pytest.mark.parametrize(
    ("evaluations", "sizes"),
    [(60, [60]), (2999, [2999]), (3000, [1500, 1500]), (6000, [1500, 4500]), (20000, [1500, 4500, 14000])],
)
def test_rounds_are_three_times_as_long_and_spend_all(evaluations, sizes):
    assert list(rounds(evaluations)) == sizes


def test_what_every_budget_has_besides_belongs_to_the_first_round():
    assert rounds(2652, 1152) == (2652,)
    assert rounds(7152, 1152) == (2652, 4500)
    assert rounds(21152, 1152) == (2652, 4500, 14000)


def test_a_longer_search_does_first_what_a_shorter_one_did():
    methods = methods_of(configured("design", []))
    short, long = methods(33, 1500), methods(33, 20000)
    assert [type(method) for method in short] == [GeneticAlgorithm, GradientDescent]
    assert long[:2] == short
    assert methods(33, 6000)[:2] == short
    assert sum(method.evaluations for method in long) == 20000
    assert methods(33, 1500, True)[1].spread > short[1].spread
