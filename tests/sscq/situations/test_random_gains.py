"""Every process and electro-mechanical plant is one to search on: random gains of its box often work, good ones exist."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.situations.situation_sets import repeated, standard_sets

STEPS = {
    "second_order_dead_time": 0.03, "integrating_dead_time": 0.08, "dc_motor": 0.002, "two_tanks": 0.4,
    "magnetic_levitation": 0.002, "cstr": 0.5, "cstr_bequette": 10.0, "cstr_dimensionless": 0.01, "heater": 0.5,
    "equal_percentage_valve": 0.2, "ph_neutralisation": 0.5,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(STEPS))
def test_random_gains_of_the_box(name):
    """Of 256 drawn: nearly all survive, most are stable, some keep Ms 1.8, and the best of those beats the median."""
    plant, step = plants.get(name), STEPS[name]
    taught = standard_sets(plant)["taught"]
    low, high = (np.array([g for c in plant.channels for g in getattr(c, f"gains_{end}")]) for end in ("low", "high"))
    gains = low + (high - low) * np.random.default_rng(0).random((256, len(low)))
    quality = sscq.evaluate(plant, PID(), gains, taught, step, measures=("iae", "total_variation"))
    alive = ~quality.failed.any(axis=0)
    assert alive.mean() > 0.9
    margins = OperatingMargins(plant, PID(), taught, step, list(low), list(high), MarginLimits(1.8))
    stable = np.array([all(m.stable.all() for m in margins.margins(g)) for g in gains])
    kept = alive & (margins.violation(gains[:, None, :]) <= 0.0)
    assert stable.mean() > 0.5
    assert kept.sum() >= 3
    errors = (quality.iae / np.median(quality.iae[:, alive], axis=1, keepdims=True)).mean(axis=0)
    assert errors[kept].min() < 0.95
    again = sscq.evaluate(plant, PID(), gains[:1], repeated(taught, 1), step, measures=("iae", "total_variation"))
    assert (again.iae != quality.iae[:, :1]).all()  # seeds matter


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
