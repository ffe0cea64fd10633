"""Compression of a teaching signal: what is merged, what is kept."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flcs import NetworkConfig, TeachingRows, design
from flcs.learning.rows import merged
from flcs.learning.terms import robust_range


def signal(inputs, gains, weight=None, situation=None):
    inputs, gains = np.array(inputs, dtype=float)[:, None], np.array(gains, dtype=float)[:, None]
    n = len(inputs)
    weight = np.ones(n) if weight is None else weight
    return TeachingRows(inputs, gains, weight, np.zeros(n) if situation is None else situation, ("e",), ("kp",))


def test_a_loop_at_rest_is_one_row_with_the_weight_of_the_rest():
    rows = merged(signal([1.0, 0.5, 0.0, 0.001, -0.001, 0.0], [8.0, 4.0, 2.0, 2.0, 2.01, 1.99], np.full(6, 0.5)), 0.02)
    np.testing.assert_allclose(rows.inputs[:, 0], [1.0, 0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(rows.gains[:, 0], [8.0, 4.0, 2.0], atol=1e-15)
    np.testing.assert_allclose(rows.weight, [0.5, 0.5, 2.0], atol=1e-15)


def test_other_gains_other_inputs_and_other_situations_stay_apart():
    assert len(merged(signal([0.0, 0.0, 1.0], [1.0, 9.0, 5.0]), 0.1).weight) == 3
    assert len(merged(signal([0.0, 1.0, 0.5], [1.0, 1.0, 1.0]), 0.1).weight) == 3
    rows = merged(signal([0.0, 0.0, 0.0, 1.0], [1.0] * 4, situation=np.array([3, 4, 3, 3])), 0.1)
    assert rows.situation.tolist() == [3, 4, 3]
    assert rows.weight.tolist() == [2.0, 1.0, 1.0]


def test_weights_say_how_much_of_a_mean_a_row_is():
    rows = merged(signal([0.0, 0.1, 9.0], [1.0, 1.1, 5.0], np.array([3.0, 1.0, 0.0])), 0.05)
    assert rows.inputs[0, 0] == pytest.approx(0.025)
    assert rows.gains[0, 0] == pytest.approx(1.025)
    silent = merged(signal([0.0, 0.1, 9.0], [1.0, 1.1, 5.0], np.zeros(3)), 0.05)
    assert silent.inputs[0, 0] == pytest.approx(0.05)
    assert silent.weight.tolist() == [0.0, 0.0]


@given(st.integers(0, 1_000), st.floats(0.0, 0.6))
def test_weight_is_kept_and_nothing_moves_further_than_the_tolerance(seed, tolerance):
    rng = np.random.default_rng(seed)
    rows = signal(rng.normal(size=40), rng.normal(size=40), rng.uniform(size=40), rng.integers(0, 3, 40))
    small = merged(rows, tolerance)
    assert small.weight.sum() == pytest.approx(rows.weight.sum(), rel=1e-12)
    for number in np.unique(rows.situation):
        kept = small.weight[small.situation == number].sum()
        assert kept == pytest.approx(rows.weight[rows.situation == number].sum(), rel=1e-12)
    low, high = robust_range(rows.inputs[:, 0])
    for e, situation in zip(rows.inputs[:, 0], rows.situation, strict=True):
        nearest = np.abs(small.inputs[small.situation == situation, 0] - e).min()
        assert nearest <= 2.0 * tolerance * (high - low) + 1e-12  # the row to the first, the mean to the first
    assert (tolerance > 0.0) or small is rows


def test_a_design_learns_the_same_from_fewer_rows():
    """Every row ten times, hardly changed: one of each, with ten times the weight, gives the same gains."""
    rng = np.random.default_rng(3)
    e = np.repeat(rng.uniform(-1.0, 1.0, 60), 10)
    rows = signal(e, 5.0 + 3.0 * e, situation=np.arange(600) // 100)
    rows = replace(rows, inputs=rows.inputs + 1e-6 * rng.standard_normal((600, 1)))
    config = NetworkConfig(inputs=("e",), rounds=0)
    full, small = (design(rows, 0.0, 10.0, 5.0, config=replace(config, merge_within=share)) for share in (0.0, 1e-5))
    assert (full.training["rows"], small.training["rows"]) == (600, 60)
    assert small.training["effective_rows"] == pytest.approx(600.0)
    x = np.linspace(-0.9, 0.9, 19)[:, None]
    # The range follows unweighted quantiles, which move by a share of a row's distance.
    np.testing.assert_allclose(small.gains(x), full.gains(x), atol=0.05)
