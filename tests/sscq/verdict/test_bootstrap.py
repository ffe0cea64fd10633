"""Bootstrap intervals: all resamplings at once are one after the other."""

import math

import numpy as np
import pytest

from sscq.verdict import bootstrap
from sscq.verdict.bootstrap import best_of, change, change_of_choice

STATISTICS = {
    "mean": (lambda rows: rows.mean(axis=-1), np.mean),
    "median": (lambda rows: np.median(rows, axis=-1), np.median),
    "largest": (lambda rows: np.sort(rows, axis=-1)[:, -3:].mean(axis=-1), lambda v: np.sort(v, axis=None)[-3:].mean()),
}


@pytest.fixture
def samples():
    rng = np.random.default_rng(2)
    baseline = rng.lognormal(size=(20, 6))
    return baseline * rng.normal(0.9, 0.1, baseline.shape), baseline, rng.integers(0, 20, (300, 20))


@pytest.mark.parametrize("name", STATISTICS)
def test_the_interval_is_that_of_one_resampling_after_the_other(samples, name):
    """To the last bit: sums of a row run in the order of its numbers, as those of a resampling alone."""
    (together, alone), (other, baseline, rows) = STATISTICS[name], samples
    draws = [(alone(other[row]) - alone(baseline[row])) / abs(alone(baseline[row])) for row in rows]
    found = change(together, other, baseline, rows)
    assert (found.low, found.high) == tuple(np.quantile(draws, (0.025, 0.975)))
    assert found.value == (alone(other) - alone(baseline)) / abs(alone(baseline))


def test_parts_change_no_bit(samples, monkeypatch):
    together, _ = STATISTICS["mean"]
    whole = change(together, *samples)
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 7 * samples[1].size)  # 300 draws are no multiple of 7
    assert change(together, *samples) == whole


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.0), (2.0, math.inf), (-2.0, -math.inf)])
def test_changes_from_zero_have_a_direction_but_no_size(value, expected):
    rows = np.zeros((5, 3), int)
    found = change(lambda r: r.mean(axis=-1), np.full((3, 2), value), np.zeros((3, 2)), rows)
    assert (found.value, found.low, found.high) == (expected, expected, expected)


def test_a_negative_baseline_keeps_the_direction():
    rows = np.zeros((5, 3), int)
    found = change(lambda r: r.mean(axis=-1), np.full((3, 2), -3.0), np.full((3, 2), -2.0), rows)
    assert found.value == -0.5  # further down is better
    assert found.improves


def test_the_best_of_searches_drawn_anew_is_delivered():
    """Of three searches the best is among three drawn with 1 - (2/3)^3, only the worst with (1/3)^3.

    Bounds are five standard errors of 100 000 draws: a right choice fails with less than 1e-6.
    """
    n = 100_000
    found = np.bincount(best_of(3, n, seed=4), minlength=3) / n
    expected = np.array([1 - (2 / 3) ** 3, (2 / 3) ** 3 - (1 / 3) ** 3, (1 / 3) ** 3])
    assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / n)).all()


def test_an_interval_over_searches_holds_what_other_searches_found(samples):
    together, (other, baseline, rows) = STATISTICS["mean"][0], samples
    worse = 1.5 * other
    alone = change(together, other, baseline, rows)
    several = change_of_choice(together, [(other, baseline), (worse, baseline)], rows, best_of(2, len(rows), 0))
    assert several.value == alone.value  # of the delivered one
    assert alone.improves
    assert not several.improves  # a quarter of the draws deliver the other search
    assert several.high == pytest.approx(change(together, worse, baseline, rows).high, abs=0.1)
    same = change_of_choice(together, [(other, baseline)] * 2, rows, best_of(2, len(rows), 0))
    assert same == alone
