"""Walls of the gains' box: where the best gains lie on one, and how it moves."""

import numpy as np
import pytest

from sscq.baselines.gain_box import NEAR_WALL, Wall, walls, widened

LOW, HIGH = np.array([0.0, 0.0, 0.0]), np.array([10.0, 4.0, 2.0])


def test_inside_the_box_there_is_no_wall():
    assert walls(np.array([5.0, 2.0, 1.0]), LOW, HIGH) == ()


def test_the_upper_wall_is_met_as_close_as_a_search_ends():
    on = walls(np.array([10.0 - 0.9 * NEAR_WALL * 10.0, 2.0, 1.0]), LOW, HIGH)
    assert on == (Wall(0, upper=True, value=10.0),)
    assert walls(np.array([10.0 - 1.1 * NEAR_WALL * 10.0, 2.0, 1.0]), LOW, HIGH) == ()


def test_a_short_search_may_ask_for_more_room():
    assert walls(np.array([8.5, 2.0, 1.0]), LOW, HIGH, near=0.2) == (Wall(0, upper=True, value=10.0),)
    assert walls(np.array([7.5, 2.0, 1.0]), LOW, HIGH, near=0.2) == ()


def test_a_gain_that_is_not_used_lies_on_no_wall():
    assert walls(np.array([5.0, 0.0, 0.0]), LOW, HIGH) == ()


def test_a_lower_wall_away_from_zero_is_one():
    low = np.array([1.0, 0.0, 0.0])
    on = walls(np.array([1.0, 2.0, 1.0]), low, HIGH)
    assert on == (Wall(0, upper=False, value=1.0),)


def test_a_gain_that_the_box_holds_still_has_no_wall():
    assert walls(np.array([5.0, 4.0, 1.0]), np.array([0.0, 4.0, 0.0]), HIGH) == ()


def test_widening_doubles_the_side_and_leaves_the_others():
    low, high = widened(LOW, HIGH, walls(np.array([10.0, 2.0, 1.0]), LOW, HIGH))
    assert high.tolist() == [20.0, 4.0, 2.0]
    assert low.tolist() == LOW.tolist()


@pytest.mark.parametrize(("low", "high", "gain", "expected"), [
    (-8.0, -2.0, -2.0, (-8.0, 0.0)),  # a reverse-acting gain stops at 0
    (2.0, 8.0, 2.0, (0.0, 8.0)),
    (-8.0, -2.0, -8.0, (-14.0, -2.0)),
    (-3.0, 5.0, -3.0, (-11.0, 5.0)),  # of either sign: nothing stops it
])  # fmt: skip
def test_no_wall_is_moved_beyond_zero(low, high, gain, expected):
    ends = np.array([low]), np.array([high])
    found = widened(*ends, walls(np.array([gain]), *ends))
    assert (float(found[0][0]), float(found[1][0])) == expected


def test_a_wall_in_words():
    assert Wall(0, upper=True, value=10.0).said(("kp", "ki", "kd")) == "kp <= 10"
