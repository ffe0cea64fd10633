"""Questions of a design that are asked side by side: the same answers as one after the other, and none is lost."""

import os
from typing import cast

import pytest

from experiments.pipeline.bench import Bench
from experiments.runtime import side_by_side
from experiments.settings import setup
from experiments.suites.variants import Scratch
from tests.experiments import finished_run


@pytest.fixture(params=[1, 3])
def bench(request):
    found = setup(finished_run.configuration(threads=request.param))
    return Bench(found, cast("object", Scratch()), quiet=True)


def test_every_question_has_its_answer_in_its_place(bench):
    heard = []
    questions = [lambda _, k=k: [k, [0.1 + k, None], float("inf")] for k in range(5)]
    found = bench.answers(questions, lambda: heard.append(None))
    assert found == [[k, [0.1 + k, None], float("inf")] for k in range(5)]
    assert len(heard) == 5


def test_they_are_asked_in_processes_of_their_own_where_there_are_processors(bench):
    found = set(bench.answers([lambda _: os.getpid()] * 3))
    if side_by_side.POSSIBLE and bench.setup.threads > 1:
        assert len(found - {os.getpid()}) == 3
    else:
        assert found == {os.getpid()}


def test_what_fails_beside_fails_where_it_is_seen(bench):
    def fails(_):
        raise ValueError("the third question")

    with pytest.raises(ValueError, match="the third question"):
        bench.answers([lambda _: 1, lambda _: 2, fails])


def test_what_a_process_could_not_tell_is_asked_once_more(bench):
    """Here what it comes to cannot be told as JSON beside this process, and need not be here."""
    here = os.getpid()
    (found, one) = bench.answers([lambda _: {1} if os.getpid() != here else "asked here", lambda _: 1])
    assert (found, one) == ("asked here", 1)


def test_an_answer_may_be_long(bench):
    long = [[0.1 * k for k in range(20_000)], [1.0]]
    assert bench.answers([lambda _: long[0], lambda _: long[1]]) == long


def test_who_is_asked_may_ask_others(bench):
    def of_three(other, factor):
        return other.answers([lambda _, k=k: factor * k for k in range(3)])

    found = bench.answers([lambda other, factor=factor: of_three(other, factor) for factor in (1, 10)])
    assert found == [[0, 1, 2], [0, 10, 20]]
