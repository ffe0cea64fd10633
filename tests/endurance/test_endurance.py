"""Some seconds of what `tests.endurance` does for hours, and that it notices what it looks for."""

import numpy as np
import pytest

from tests.endurance import hostile


def test_hostile_gains_move_no_neighbour():
    assert hostile.endure(500_000, seed=1) >= 500_000


def test_a_moved_bit_is_noticed():
    company = hostile.Company("fopdt", np.random.default_rng(0))
    company.alone[3, 0, 17] ^= 1
    with pytest.raises(hostile.Failure, match="moved by one of their neighbours"):
        company.call()


def test_a_fitness_that_is_not_finite_is_noticed(monkeypatch):
    monkeypatch.setattr(hostile.Fitness, "__call__", lambda *_: np.array([0.0, np.nan]))
    with pytest.raises(hostile.Failure, match="a tracking_and_entropy that is not finite"):
        hostile.Company("fopdt", np.random.default_rng(0)).call()
