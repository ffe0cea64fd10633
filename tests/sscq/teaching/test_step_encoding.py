"""Gains that move by steps: what genomes mean, that no step is too large, and that a planted staircase is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search.genetic import GeneticAlgorithm
from sscq.search.search import evolve
from sscq.teaching.step_encoding import StepGrid, StepWindow, StepWindows

# kp by steps of 0.1 (no float of it is a whole multiple), ki anything on a log scale, kd by up to two steps of 0.75,
# whose grid ends at 3.75, below its bound.
LOW, HIGH, STEP, MOST = (0.3, 0.01, 0.0), (1.3, 10.0, 4.0), (0.1, 0.0, 0.75), (1, 1, 2)
TIMES = (0.0, 1.0, 2.0, 3.0, 4.0)
STEPS = {"low": LOW, "high": HIGH, "step": STEP, "most": MOST}
WINDOWS = StepWindows(**STEPS, times=TIMES)
GRID = {0: np.array([min(0.3 + k * 0.1, 1.3) for k in range(11)]), 2: 0.75 * np.arange(6)}


def levels(gains, k):
    """Levels of gain k, which must be one of the grid's own floats."""
    gains = np.asarray(gains)
    places = np.abs(gains[..., None] - GRID[k]).argmin(axis=-1)
    np.testing.assert_array_equal(gains, GRID[k][places])
    return places


def random_genomes(box, n, seed):
    """Genomes of the box, its corners among them."""
    points = np.random.default_rng(seed).random((n, len(box.free)))
    points[:2] = [[0.0], [1.0]]
    return box.decode(points)


def searched(encoding, fitness, seed=0):
    box = encoding.box
    start = encoding.start(np.array(encoding.low))
    method = GeneticAlgorithm(generations=60, stall_generations=None)
    result = evolve(fitness, box.low, box.high, method, seed, start, scale=box.scale, names=box.names)
    return encoding.decode(result.genome)[0], result.fitness


# ------------------------------------------------------------------------------------------------------- all windows


@given(seed=st.integers(0, 10_000))
def test_no_gain_leaves_the_grid_or_moves_by_more_than_its_steps(seed):
    gains = WINDOWS.decode(random_genomes(WINDOWS.box, 20, seed)).reshape(20, 5, 3)
    for k, most in ((0, 1), (2, 2)):
        moves = np.diff(levels(gains[:, :, k], k), axis=1)
        assert np.abs(moves).max() <= most
    assert ((gains[:, :, 1] >= 0.01) & (gains[:, :, 1] <= 10.0)).all()


def test_every_start_and_every_move_can_be_had():
    gains = WINDOWS.decode(random_genomes(WINDOWS.box, 4000, 0)).reshape(4000, 5, 3)
    for k, most in ((0, 1), (2, 2)):
        places = levels(gains[:, :, k], k)
        assert set(places[:, 0]) == set(range(len(GRID[k])))
        assert set(np.diff(places, axis=1).ravel()) == set(range(-most, most + 1))


def test_the_genes_are_a_place_and_then_symbols():
    """By hand: kp from level 4, kd from level 3; what would leave the grid stays at its end."""
    genome = [4, 0.5, 3, 1, 2.0, 2, -1, 0.02, 2, -1, 0.5, -2, 1, 10.0, 0]
    gains = WINDOWS.decode([genome]).reshape(5, 3)
    assert levels(gains[:, 0], 0).tolist() == [4, 5, 4, 3, 4]
    assert levels(gains[:, 2], 2).tolist() == [3, 5, 5, 3, 3]
    assert gains[:, 1].tolist() == [0.5, 2.0, 0.02, 0.5, 10.0]
    assert WINDOWS.box.scale == ("step", "log", "step") * 5
    assert WINDOWS.box.low[:6] == (0.0, 0.01, 0.0, -1.0, 0.01, -2.0)
    assert WINDOWS.box.high[:6] == (10.0, 10.0, 5.0, 1.0, 10.0, 2.0)
    assert WINDOWS.box.names == WINDOWS.schedule().theta_names


def test_the_start_is_constant_at_the_nearest_levels():
    gains = WINDOWS.decode(WINDOWS.start((0.84, 3.0, 1.0))).reshape(5, 5, 3)
    np.testing.assert_array_equal(gains[0], np.tile([0.3 + 5 * 0.1, 3.0, 0.75], (5, 1)))
    assert len(np.unique(gains.reshape(5, -1), axis=0)) == 5


def best_staircase(wanted, step, most):
    """The least squared distance from `wanted` that levels 0 to 8 with moves of up to `most` can have."""
    cost = (step * np.arange(9)[None, :] - wanted[:, None]) ** 2
    total, moves = cost[0], np.abs(np.subtract.outer(np.arange(9), np.arange(9))) <= most
    for one in cost[1:]:
        total = one + np.where(moves, total, np.inf).min(axis=1)
    return total.min()


@pytest.mark.parametrize(
    ("wanted", "most"),
    [
        ([1.0, 1.5, 2.0, 2.0, 1.5, 1.0, 1.0, 0.5], 1),  # a staircase that can be climbed
        ([1.0, 1.0, 1.0, 3.5, 3.5, 1.5, 1.5, 1.5], 1),  # jumps that cannot: the best is a compromise
        ([1.0, 1.0, 1.0, 3.5, 3.5, 1.5, 1.5, 1.5], 3),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_planted_staircase_is_found(wanted, most, seed):
    """The very optimum of eight windows with nine levels, which dynamic programming knows; seeds 0 to 19 all find it."""
    wanted = np.array(wanted)
    encoding = StepWindows(low=(0,), high=(4,), gain_names=("kp",), times=tuple(range(8)), step=(0.5,), most=(most,))
    best = best_staircase(wanted, 0.5, most)
    found, value = searched(encoding, lambda g: ((encoding.decode(g) - wanted) ** 2).sum(axis=1), seed)
    assert value == pytest.approx(best, abs=1e-12)
    assert (best == 0.0) == np.array_equal(found, wanted)


def test_one_window_is_a_search_on_a_grid():
    encoding = StepWindows(**STEPS, times=(0.0,))
    found, _ = searched(encoding, lambda g: ((encoding.decode(g) - (0.72, 2.0, 2.6)) ** 2).sum(axis=1))
    np.testing.assert_allclose(found, (0.3 + 4 * 0.1, 2.0, 2.25), atol=0.02)  # ki, which is real, to 0.2 % of its range
    assert levels(found[0], 0) == 4
    assert levels(found[2], 2) == 3


# --------------------------------------------------------------------------------------------------------- one window


def test_the_first_window_may_start_anywhere_and_the_next_moves_by_its_steps():
    window = StepWindow(**STEPS, previous=(0.84, 3.0, 1.0))
    assert window.previous == (0.3 + 5 * 0.1, 3.0, 0.75)
    for k, first, next_ in ((0, range(11), [1, 2, 3]), (2, range(6), [1, 2, 3, 4, 5])):
        gains = window.decode(random_genomes(window.box, 2000, k))
        assert set(levels(gains[:, k], k)) == set(first)
        following = window.following((0.5, 3.0, 2.25))
        gains = following.decode(random_genomes(following.box, 2000, k))
        assert set(levels(gains[:, k], k)) == set(next_)


def test_at_the_ends_of_the_grid_a_window_has_fewer_symbols():
    window = StepWindow(**STEPS, previous=LOW).following((0.3, 3.0, 3.75))
    assert window.box.low == (0.0, 0.01, -2.0)
    assert window.box.high == (1.0, 10.0, 0.0)


@given(seed=st.integers(0, 10_000), weight=st.floats(0.0, 1.0))
def test_going_a_part_of_the_way_stays_on_the_grid_and_within_the_steps(seed, weight):
    window = StepWindow(**STEPS, previous=LOW).following((0.7, 3.0, 1.5))
    wish = np.random.default_rng(seed).uniform(LOW, HIGH)
    gains = window.towards(wish, weight)
    moves = [int(levels(gains[k], k) - levels(window.previous[k], k)) for k in (0, 2)]
    assert abs(moves[0]) <= 1
    assert abs(moves[1]) <= 2
    whole = [int(levels(window.grid.snapped(wish)[k], k) - levels(window.previous[k], k)) for k in (0, 2)]
    for move, wanted, most in zip(moves, whole, (1, 2), strict=True):
        assert abs(move) == min(np.ceil(abs(weight * wanted)), most)
        assert move * wanted >= 0


def test_the_start_of_a_window_is_the_gains_before():
    window = StepWindow(**STEPS, previous=LOW).following((0.7, 3.0, 1.5))
    gains = window.decode(window.start(np.array(window.previous)))
    assert tuple(gains[0]) == window.previous
    assert window.penalty(window.start(np.array(window.previous))[:1]) == 0.0


# --------------------------------------------------------------------------------------------------------- the grid


def test_a_gain_with_equal_bounds_has_no_steps():
    grid = StepGrid((1.0, 0.0), (1.0, 2.0), (0.5,), (1,), ("kp", "ki"))
    assert grid.stepped.tolist() == [False, True]
    assert grid.snapped((1.0, 0.9)).tolist() == [1.0, 1.0]


def test_one_channel_s_steps_stand_for_all():
    names = ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    grid = StepGrid((0.0,) * 6, (1.0,) * 6, (0.5, 0.0, 0.25), (2,), names)
    assert grid.step == (0.5, 0.0, 0.25, 0.5, 0.0, 0.25)
    assert grid.top.tolist() == [2, 0, 4, 2, 0, 4]
    assert grid.reach.tolist() == [2, 0, 2, 2, 0, 2]


@pytest.mark.parametrize(
    ("step", "most", "says"),
    [
        ((2.0,), (1,), "step of gain 'kp' must fit between its bounds 0.0 and 1.0, got 2.0"),
        ((-0.1,), (1,), "step of gain 'kp' must not be negative, got -0.1"),
        ((0.1, 0.1), (1,), "step must have one entry, or one for each gain"),
        ((), (1,), "step must have one entry, or one for each gain"),
        ((0.1,), (0,), "largest number of steps of gain 'kp' must be an integer >= 1, got 0"),
    ],
)
def test_wrong_steps_are_refused(step, most, says):
    with pytest.raises(ValueError, match=says):
        StepGrid((0.0,) * 3, (1.0,) * 3, step, most, ("kp", "ki", "kd"))


def test_gains_that_move_by_steps_are_held_between_knots():
    with pytest.raises(ValueError, match="held between knots, got kind='linear'"):
        StepWindows(**STEPS, times=TIMES, kind="linear")
