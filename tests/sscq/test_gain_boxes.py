"""Every plant's gain box is worth searching: random gains mostly survive what is taught, and some are good."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID


@pytest.mark.slow
@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_random_gains_mostly_survive_and_some_control_well(name):
    plant = plants.get(name)
    sets = sscq.standard_sets(plant)
    low, high = (np.array([g for c in plant.channels for g in getattr(c, f"gains_{end}")]) for end in ("low", "high"))
    gains = low + (high - low) * np.random.default_rng(0).random((200, len(low)))
    several = [*sets["taught"], *sets["unforeseen"]]
    quality = sscq.evaluate(plant, PID(), gains, several, step=plant.step, measures=("iae",))
    n_taught = len(sets["taught"])
    survives = ~quality.failed[:n_taught].any(axis=0)
    assert survives.mean() > 0.5
    errors = np.where(survives, quality.iae[:n_taught].mean(axis=0), np.inf)
    assert errors.min() < 0.8 * np.median(errors[survives])
    # Behind limits a lost loop swings and survives; of the first box of `fopdt` 4.5 % were this good, elsewhere 35 % are.
    assert (errors < 2.0 * errors.min()).mean() > 0.25
    assert not quality.failed[n_taught:, errors.argmin()].any()
