"""Signals without a model, against numbers that are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from sscq.identification.assessing import signals


def test_a_sine_in_noise_is_an_oscillation_with_its_period():
    rng, time = np.random.default_rng(0), np.arange(600.0)
    error = 2.0 * np.sin(2.0 * np.pi * time / 37.0) + 0.3 * rng.standard_normal(600)
    found = signals.oscillation(error, 5.0 * np.cos(2.0 * np.pi * time / 37.0), 0.5)
    assert found.period == pytest.approx(18.5, rel=0.02)
    assert found.of_measured == pytest.approx(2.0, rel=0.05)
    assert found.of_output == pytest.approx(5.0, rel=0.05)
    assert found.regularity > 3.0


def test_noise_and_four_periods_are_none():
    rng, time = np.random.default_rng(0), np.arange(600.0)
    accused = sum(signals.oscillation(rng.standard_normal(600), time, 1.0) is not None for _ in range(50))
    assert accused <= 2
    assert signals.oscillation(np.sin(2.0 * np.pi * time / 150.0), time, 1.0) is None
    assert signals.oscillation(np.zeros(600), time, 1.0) is None
    assert signals.oscillation(np.full(600, np.nan), time, 1.0) is None


def test_shares_at_limits():
    output = np.array([0.0, 0.0, 50.0, 100.0, 99.0])
    assert signals.share_at_limits(output, (0.0, 100.0)) == pytest.approx((0.4, 0.2))


def test_moves_that_tell():
    """Steps of the set point in automatic and of the output in manual; a ramp is one, noise none."""
    set_point, output = np.full(300, 50.0), 40.0 + 0.1 * np.random.default_rng(0).standard_normal(300)
    assert signals.moves(set_point, output, None, 0.2, 0.1) == 0
    set_point[50:], set_point[150:] = 55.0, 52.0
    assert signals.moves(set_point, output, None, 0.2, 0.1) == 2
    assert signals.moves(set_point, output, None, 5.0, 0.1) == 0
    set_point[200:] = 52.0 + np.minimum(np.arange(100), 8.0)
    assert signals.moves(set_point, output, None, 0.2, 0.1) == 3
    automatic = np.arange(300) < 100
    output[250:] += 10.0
    assert signals.moves(set_point, output, automatic, 0.2, 0.1) == 2


def test_the_minimum_variance_of_a_moving_average_is_known():
    """y = e(k) + 0.8 e(k-1) + 0.6 e(k-2): with two dead rows all is left; with none 1 / (1 + 0.64 + 0.36)."""
    noise = np.random.default_rng(0).standard_normal(20_002)
    y = noise[2:] + 0.8 * noise[1:-1] + 0.6 * noise[:-2]
    assert signals.minimum_variance_index(y, 0) == pytest.approx(0.5, abs=0.02)
    assert signals.minimum_variance_index(y, 1) == pytest.approx(1.64 / 2.0, abs=0.02)
    assert signals.minimum_variance_index(y, 2) == pytest.approx(1.0, abs=0.02)
    assert np.isnan(signals.minimum_variance_index(y[:50], 2))
