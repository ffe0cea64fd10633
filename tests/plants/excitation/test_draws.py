"""Draws from declared ranges: what NumPy's generator gives, in the order in which they are asked for."""

from collections import Counter

import numpy as np
import pytest

from plants.excitation.draws import Draws


def test_they_are_numpys_draws_in_order():
    rng, draws = np.random.default_rng(7), Draws(7)
    assert draws.values({"a": (-1.0, 2.0), "b": (0.5, 0.6)}) == {
        "a": rng.uniform(-1.0, 2.0),
        "b": rng.uniform(0.5, 0.6),
    }
    assert draws.one_of(("B", "C", "D")) == rng.choice(["B", "C", "D"])
    assert draws.happens(0.5) == (rng.random() < 0.5)
    assert draws.on_grid(10.0, 35.0, 0.5) == 10.0 + 0.5 * rng.integers(0, 51)
    assert draws.between((3.0, 3.0)) == 3.0


def test_everything_is_as_likely_as_declared():
    draws, n = Draws(0), 6000
    counts = Counter(draws.on_grid(0.0, 0.3, 0.1) for _ in range(n))
    assert set(counts) == {0.0, 0.1, 0.2, 0.3}
    things = Counter(draws.one_of("xyz") for _ in range(n))
    happened = sum(draws.happens(0.2) for _ in range(n))
    # 5 standard deviations of a binomial count are at most 200 of 6000.
    assert all(count == pytest.approx(n / 4, abs=200) for count in counts.values())
    assert all(count == pytest.approx(n / 3, abs=200) for count in things.values())
    assert happened == pytest.approx(0.2 * n, abs=200)
