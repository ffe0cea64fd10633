"""Non-dominated sorting and crowding against DEAP and against the plain definitions."""

import numpy as np
import pytest
from deap import tools
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sscq.search import nsga2
from tests.reference import deap_front

SHAPES = [(1, 2), (2, 3), (40, 2), (60, 3), (25, 5)]


def deap_ranks(objectives):
    fronts = tools.sortNondominated(deap_front.points_of(objectives), len(objectives))
    found = np.empty(len(objectives), int)
    for rank, front in enumerate(fronts):
        found[[point[0] for point in front]] = rank
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("values", ["real", "whole"])
@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_deap(shape, values, seed):
    """Also with many ties and equal points, as whole numbers have them."""
    rng = np.random.default_rng(seed)
    objectives = rng.random(shape) if values == "real" else rng.integers(0, 5, shape).astype(float)
    np.testing.assert_array_equal(nsga2.ranks(objectives), deap_ranks(objectives))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_crowding_is_that_of_deap(shape, seed):
    """Front by front; DEAP divides the sum by the number of objectives."""
    objectives = np.random.default_rng(seed).random(shape)
    rank = nsga2.ranks(objectives)
    own = nsga2.crowding(objectives, rank) / shape[1]
    for front in range(rank.max() + 1):
        points = [p for p in deap_front.points_of(objectives) if rank[p[0]] == front]
        tools.emo.assignCrowdingDist(points)
        # Sums of the same terms in the same order, but for one division: the last digit may differ.
        np.testing.assert_allclose([own[p[0]] for p in points], [p.fitness.crowding_dist for p in points], rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_half_is_that_of_deap(seed):
    """Up to who of the infinitely lonely goes, where the last front has more of these than places."""
    objectives = np.random.default_rng(seed).random((60, 3))
    rank = nsga2.ranks(objectives)
    crowding = nsga2.crowding(objectives, rank)
    peers = [p[0] for p in tools.selNSGA2(deap_front.points_of(objectives), 30)]
    own = nsga2.best_first(objectives)[:30]
    for of in (rank, crowding):
        np.testing.assert_array_equal(np.sort(of[own]), np.sort(of[peers]))


def points(elements):
    return hnp.arrays(float, st.tuples(st.integers(1, 14), st.integers(1, 5)), elements=elements)


POINTS = points(st.integers(0, 4).map(float))  # many ties
AWKWARD = points(st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1.0 + 2.0**-52, -1e308, 1e308, np.inf, -np.inf]))


def dominates(one, other):
    return (one <= other).all() and (one < other).any()


def plain_ranks(objectives):
    """What nothing left dominates is taken away, front after front."""
    rank, left, front = np.empty(len(objectives), int), list(range(len(objectives))), 0
    while left:
        first = [k for k in left if not any(dominates(objectives[j], objectives[k]) for j in left)]
        rank[first], front = front, front + 1
        left = [k for k in left if k not in first]
    return rank


@given(points(st.floats(0.0, 1.0)) | POINTS | AWKWARD)
def test_ranks_are_those_of_the_definition(objectives):
    """Also with ties, equal points, zeros of both signs, neighbouring numbers and infinite ones."""
    np.testing.assert_array_equal(nsga2.ranks(objectives), plain_ranks(objectives))


# Handed to moocore 0.3.2 as they are, the first gives the seventh point rank 6 instead of 2, the second a crash.
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ranks_of_infinite_objectives(sign):
    end = sign * np.inf
    objectives = np.array([
        [3, 2, 1], [1, 0, 0], [0, 0, end], [3, end, 2], [3, end, 3], [3, 2, 2],
        [end, 1, end], [3, 0, 1], [end, 2, 0], [3, 3, end], [0, 0, end], [0, 2, 0],
    ])  # fmt: skip
    np.testing.assert_array_equal(nsga2.ranks(objectives), plain_ranks(objectives))


@given(points(st.sampled_from([0.0, 1.0, 2.0, np.inf, np.nan])))
def test_what_is_no_number_is_worse_than_infinite(objectives):
    worse = np.where(np.isnan(objectives), 4.0, np.where(np.isinf(objectives), 3.0, objectives))
    np.testing.assert_array_equal(nsga2.ranks(objectives), plain_ranks(worse))


@given(POINTS, st.data())
def test_violation_comes_after_everything_and_is_ordered_by_itself(objectives, data):
    n = len(objectives)
    severity = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.0, 0.2, 0.7, 1.5]), min_size=n, max_size=n)))
    rank = nsga2.ranks(objectives, severity)
    for i in range(n):
        for j in range(n):
            if severity[i] < severity[j]:
                assert rank[i] < rank[j]
            elif severity[i] == severity[j] > 0.0:
                assert rank[i] == rank[j]
    feasible = severity == 0.0
    if feasible.any():
        np.testing.assert_array_equal(rank[feasible], nsga2.ranks(objectives[feasible]))


def test_crowding_by_hand():
    front = np.array([[0.0, 10.0], [1.0, 6.0], [4.0, 5.0], [10.0, 0.0]])
    expected = [np.inf, 4.0 / 10.0 + 5.0 / 10.0, 9.0 / 10.0 + 6.0 / 10.0, np.inf]
    shuffled = np.array([2, 0, 3, 1])
    found = nsga2.crowding(front[shuffled], np.zeros(4, int))
    np.testing.assert_allclose(found, np.array(expected)[shuffled])


def test_objectives_without_range_or_end_count_nothing():
    flat = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0], [1.0, 1.5, 0.5]])
    found = nsga2.crowding(flat, np.zeros(4, int))
    np.testing.assert_allclose(found, [1.5, np.inf, np.inf, 1.0])  # chance made the first an end of the first objective
    np.testing.assert_array_equal(nsga2.crowding(flat[:1], [0]), [np.inf])
    endless = np.array([[0.0, np.inf], [1.0, 5.0], [2.0, 4.0], [3.0, 1.0]])
    assert not np.isnan(nsga2.crowding(endless, np.zeros(4, int))).any()


def test_nothing_to_sort():
    assert nsga2.best_first(np.empty((0, 2))).size == 0
