"""The choice from a front: knees and budgets that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search.front_search import below_plane, knee, scaled, within_budget, within_limit

T = np.linspace(0.0, 1.0, 1001)


def test_the_knee_of_a_known_curve_is_where_its_slope_is_that_of_the_chord():
    """f2 = (1 - sqrt(f1))^2: slope -1 at f1 = 1/4, there 1/2 / sqrt(2) below the chord."""
    front = np.column_stack([T, (1.0 - np.sqrt(T)) ** 2])
    assert front[knee(front)] == pytest.approx([0.25, 0.25], abs=1e-3)
    assert below_plane(front).max() == pytest.approx(0.5 / np.sqrt(2.0), abs=1e-6)
    assert below_plane(front)[[0, -1]] == pytest.approx([0.0, 0.0])


def test_below_is_the_euclidean_distance_from_the_chord():
    front = np.random.default_rng(0).random((20, 2))
    front[0], front[1] = (0.0, 1.0), (1.0, 0.0)
    along = np.array([1.0, -1.0]) / np.sqrt(2.0)
    way = front - front[0]
    beside = way - (way @ along)[:, None] * along
    np.testing.assert_allclose(np.abs(below_plane(front)), np.linalg.norm(beside, axis=1), rtol=1e-12, atol=1e-15)


def test_the_knee_of_three_objectives():
    """A sphere's octant seen from inside, 1 - cosines: the middle is farthest from the plane of its corners."""
    grid = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)], float)
    front = 1.0 - grid / np.linalg.norm(grid, axis=1, keepdims=True)
    assert grid[knee(front)].tolist() == [4.0, 4.0, 4.0]


@given(st.integers(2, 3), st.integers(1, 30), st.integers(0, 999))
def test_units_mean_nothing(n_objectives, n, seed):
    rng = np.random.default_rng(seed)
    front = rng.random((n, n_objectives))
    assert knee(front) == knee(front * rng.uniform(1e-3, 1e3, n_objectives) + 5.0)
    assert (scaled(front) >= 0.0).all()
    assert (scaled(front) <= 1.0).all()


def test_an_objective_that_is_the_same_everywhere_has_no_say():
    front = np.column_stack([T, np.full_like(T, 7.0), (1.0 - np.sqrt(T)) ** 2])
    assert front[knee(front)][0] == pytest.approx(0.25, abs=1e-3)


def test_budgets_by_hand():
    front = np.array([[1.0, 10.0, 3.0], [1.1, 8.0, 4.0], [1.2, 7.0, 9.0], [1.21, 1.0, 0.0], [5.0, 0.5, 0.0]])
    assert within_budget(front, 0.2) == 2
    assert within_budget(front, 0.2, least=2) == 0
    assert within_budget(front, 0.0) == 0
    assert within_budget(front, 0.21) == 3
    assert within_budget(front, 4.0) == 4
    assert within_budget(front[::-1], 0.2) == 2
    assert within_budget(front, 1.0, of=1, least=0) == 3  # entropy up to 1.0: the least error


def test_limits_by_hand():
    front = np.array([[1.0, 10.0], [2.0, 5.0], [2.0, 4.0], [3.0, 1.0]])
    assert within_limit(front, 10.0) == 0
    assert within_limit(front, 9.9) == 2  # of equals the one with more to spare
    assert within_limit(front, 3.9) == 3
    assert within_limit(front, 0.9) is None
    assert within_limit(front, 2.0, of=0, least=1) == 2
    with pytest.raises(ValueError, match="limit must be a number"):
        within_limit(front, np.nan)


@pytest.mark.parametrize("front", [np.empty((0, 2)), [[1.0, np.nan]], [1.0, 2.0]])
@pytest.mark.parametrize("choose", [knee, lambda front: within_budget(front, 0.1)])
def test_what_is_no_front_is_refused(front, choose):
    with pytest.raises(ValueError, match="a front must be finite numbers"):
        choose(front)


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="budget must be a share >= 0, got -0.1"):
        within_budget([[1.0, 2.0]], -0.1)
