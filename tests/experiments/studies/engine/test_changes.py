"""Intervals of paired outcomes, on outcomes whose answer is known."""

import numpy as np
import pytest

from experiments.studies.engine.changes import change_of_sum, percent, wilson
from sscq.verdict.bootstrap import Change


@pytest.mark.parametrize(
    ("hits", "of", "expected"), [(5, 10, (0.2366, 0.7634)), (0, 10, (0.0, 0.2775)), (8, 10, (0.4902, 0.9433))]
)
def test_wilsons_interval(hits, of, expected):
    """As the score test's quadratic has its roots, and tables of the interval give."""
    assert wilson(hits, of) == pytest.approx(expected, abs=5e-5)


def test_the_change_of_a_sum_and_its_interval():
    """Equal ratios in all rides leave nothing to chance; unequal ones do, around the ratio of the sums."""
    base = np.array([1.0, 2.0, 3.0, 10.0])
    same = change_of_sum(1.5 * base, base, 200)
    assert (same.value, same.low, same.high) == pytest.approx((0.5, 0.5, 0.5))
    found = change_of_sum(base + 1.0, base, 200)
    assert found.value == pytest.approx(4.0 / 16.0)
    assert 0.1 <= found.low < found.value < found.high <= 1.0  # changes of the rides are 0.1 to 1


def test_falls_are_compared_in_pairs():
    """10 situations: the base falls in 4, the other in 2 of these and in none else; without falls there is no change."""
    base, ours = np.arange(10) < 4, np.arange(10) < 2
    found = change_of_sum(ours, base)
    assert found.value == -0.5
    assert -1.0 <= found.low < -0.5 < found.high <= 0.0
    assert np.isnan(change_of_sum(ours, np.zeros(10, bool)).value)


def test_per_cent():
    assert percent(Change(-0.1234, -0.2, 0.05)) == "-12.3 % [-20.0, +5.0]"
    assert percent(Change(-0.1234, -0.2, 0.05), 0) == "-12 % [-20, +5]"
