"""Gains from a log: exact where the block is a PI, robust where it is not, and none where nothing tells."""

from __future__ import annotations

import numpy as np
import pytest

from sscq.identification.assessing.effective_gains import effective_gains
from tests.plants.identification.reference_logs import LOOPS, R1


@pytest.mark.parametrize("name", LOOPS)
def test_gains_of_the_reference_logs_are_exact(name):
    """ki to 1e-9, and kp up to ki times a row: these blocks sum behind their output."""
    loop = LOOPS[name]
    found = effective_gains(*loop.run(), 1.0, limits=(0.0, 100.0))
    assert found.ki == pytest.approx(loop.ki, rel=1e-9)
    assert found.kp == pytest.approx(loop.kp - loop.ki, rel=1e-9)
    assert found.kd == 0.0
    assert found.explained == pytest.approx(1.0, abs=1e-9)


def test_a_tenth_of_rows_in_manual_does_not_matter():
    """Moves by hand that the mode does not tell of are outliers of the regression."""
    r, y, u = R1.run()
    moved = u.copy()
    by_hand = np.random.default_rng(0).choice(len(u), 30, replace=False)
    moved[by_hand] += 5.0
    found = effective_gains(r, y, moved, 1.0, limits=(0.0, 100.0))
    assert found.ki == pytest.approx(R1.ki, rel=0.05)
    assert found.kp == pytest.approx(R1.kp - R1.ki, rel=0.05)


def test_rows_in_manual_at_limits_and_missing_are_left_out():
    r, y, u = R1.run()
    held = u.copy()
    held[100:150] = 77.0
    automatic = np.ones(len(u), bool)
    automatic[100:150] = False
    held[200:220], y[300:310] = 100.0, np.nan
    found = effective_gains(r, y, held, 1.0, automatic, (0.0, 100.0))
    assert found.ki == pytest.approx(R1.ki, rel=1e-6)
    assert found.rows < 600 - 80


def test_a_derivative_is_seen():
    """On the error, over one row: u = 2 e + 0.1 integral + 3 rate."""
    rng = np.random.default_rng(1)
    error = np.cumsum(0.1 * rng.standard_normal(400))
    u = 2.0 * error + 0.1 * 0.5 * np.cumsum(error) + 3.0 * np.concatenate([[0.0], np.diff(error)]) / 0.5
    found = effective_gains(error, np.zeros(400), u, 0.5)
    assert (found.kp, found.ki, found.kd) == pytest.approx((2.0, 0.1, 3.0), rel=1e-6)


def test_nothing_is_told_of_a_loop_in_manual():
    r, y, u = R1.run()
    assert effective_gains(r, y, u, 1.0, np.zeros(len(u), bool)) is None
    assert effective_gains(r, y, np.full(len(u), 40.0), 1.0) is None


def test_another_loops_output_is_not_explained():
    r, y, _ = R1.run()
    stranger = np.cumsum(np.random.default_rng(2).standard_normal(600))
    assert effective_gains(r, y, stranger, 1.0).explained < 0.2


@pytest.mark.parametrize("grid", [0.05, 0.1])
def test_an_integral_is_told_from_an_output_that_is_logged_in_steps(grid):
    """The block sums in full, its output is rounded: most rows have no step of the integral at all."""
    rng = np.random.default_rng(4)
    slow = np.convolve(rng.standard_normal(3000), np.exp(-np.arange(200) / 40.0))[:3000]
    error = np.round(0.1 * slow + 0.15 * rng.standard_normal(3000), 1)
    u = np.round((error + 0.01 * np.cumsum(error)) / grid) * grid
    found = effective_gains(error, np.zeros(3000), u, 1.0)
    assert (found.kp, found.ki) == pytest.approx((1.0, 0.01), rel=0.15)
    assert abs(found.ki - 0.01) < 4.0 * found.deviations[1]
    assert found.explained > 0.98
