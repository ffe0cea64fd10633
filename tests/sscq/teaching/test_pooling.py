"""Shares of the situations in a pooled teaching signal."""

import numpy as np
import pytest

from sscq.teaching.teaching_signal import TeachingSignal, balanced, importance_of

NAMES = ("calm", "rough", "flat")


def signal(weight=(1.0, 0.5, 0.25, 0.25, 0.0), situation=(0, 1, 1, 1, 2)):
    n = len(weight)
    return TeachingSignal(
        np.array(situation), np.arange(float(n)), np.ones((n, 3)), np.ones((n, 3)), np.array(weight), np.ones(n),
        ("error", "error_rate", "error_integral"), ("kp", "ki", "kd"), NAMES,
    )  # fmt: skip


def sums(signal):
    return np.bincount(signal.situation, weights=signal.weight, minlength=3)


def test_weights_of_a_situation_are_scaled_together_and_their_sum_stays():
    """By hand: weights sum up to 1 and 1; shares 1 and 3 make 0.5 and 1.5 of the 2 in all."""
    found = balanced(signal(), (1.0, 3.0, 7.0))
    np.testing.assert_allclose(found.weight, [0.5, 0.75, 0.375, 0.375, 0.0], rtol=1e-15)


def test_equal_shares():
    found = balanced(signal((1.0, 0.2, 0.1, 0.1, 0.3)), importance_of("equal", (1.0, 5.0, 9.0)))
    np.testing.assert_allclose(sums(found), [1.7 / 3.0] * 3, rtol=1e-15)


def test_shares_by_the_reference_fitness():
    """Twice the fitness, half the share; its sign says nothing."""
    found = sums(balanced(signal((1.0, 0.2, 0.1, 0.1, 0.3)), importance_of("reference", (2.0, -4.0, 8.0))))
    np.testing.assert_allclose(found / found[0], [1.0, 0.5, 0.25], rtol=1e-14)


def test_rows_as_they_come():
    assert importance_of("rows", (1.0, 2.0)) is None


@pytest.mark.parametrize("shares", [(1.0, 1.0), (1.0, 0.0, 1.0), (1.0, np.nan, 1.0)])
def test_every_situation_needs_a_share(shares):
    with pytest.raises(ValueError, match="one positive number for each of the 3 situations"):
        balanced(signal(), shares)


def test_a_reference_fitness_of_0_cannot_be_divided_by():
    with pytest.raises(ValueError, match="needs a reference fitness that is not 0"):
        importance_of("reference", (1.0, 0.0))
