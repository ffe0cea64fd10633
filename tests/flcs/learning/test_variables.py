"""Variables whose ranges hold what a loop has met: their terms stay, or are drawn apart where the range demands it."""

from __future__ import annotations

import numpy as np
import pytest

from flcs.inference.variable import SMALLEST_GAP, Variable
from flcs.learning.terms import apart
from flcs.learning.variables import _reaching


def variable(centres, shape="triangular", widths=()):
    return Variable("e_rate", "m/s", -1.0, 1.0, centres, shape=shape, widths=widths)


def test_a_range_grows_and_terms_stay():
    found = _reaching(variable((-0.5, 0.1, 0.6)), (-4.0, 2.0), mirrored=False)
    assert (found.low, found.high) == pytest.approx((-4.6, 2.6))  # a tenth more at both ends
    assert found.centres == (-0.5, 0.1, 0.6)
    assert _reaching(variable((-0.5, 0.6)), (-0.1, 0.1), mirrored=False) == variable((-0.5, 0.6))


@pytest.mark.parametrize("centres", [(-0.02, 0.0, 0.02), (-0.03, 0.0, 0.05), (0.9, 0.92, 0.95), (-1.0, -0.98)])
def test_near_terms_are_drawn_apart_about_their_middle(centres):
    found = _reaching(variable(centres), (-50.0, 50.0), mirrored=False)
    gaps = np.diff(found.centres)
    assert gaps.min() == pytest.approx(SMALLEST_GAP * (found.high - found.low), rel=1e-6)
    assert gaps / gaps.min() == pytest.approx(np.diff(centres) / np.diff(centres).min())
    assert np.mean(found.centres[:: len(centres) - 1]) == pytest.approx(np.mean(centres[:: len(centres) - 1]))


def test_at_an_end_of_the_range_they_move_inwards():
    found = _reaching(variable((-1.0, -0.97, -0.94)), (-1.0, 30.0), mirrored=False)
    assert found.low <= found.centres[0] <= found.centres[-1] <= found.high
    assert np.diff(found.centres).min() >= found.smallest_gap


def test_terms_that_cannot_be_stretched_alike_are_spread_evenly():
    found = apart((0.0, 0.001, 1.0), -1.0, 9.0)
    assert found == pytest.approx((-1.0, 4.0, 9.0))


def test_widths_grow_to_the_smallest_that_the_range_allows():
    found = _reaching(variable((-0.02, 0.02), "gaussian", (0.02, 0.02)), (-50.0, 50.0), mirrored=False)
    assert found.widths == pytest.approx((SMALLEST_GAP * (found.high - found.low),) * 2)
