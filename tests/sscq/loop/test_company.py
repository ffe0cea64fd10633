"""A rollout gives the same bits alone and in company, whatever its neighbours are: drawn situations of all plants.

What a call compiles in is what any of its situations uses. Here the situations of a call have sensors, delays, limits,
horizons and signals of their own, and each is run again without the others, in its own kernel. By text (with the
compiled kernels' roundings) of all plants; `make differential COUNT=20` draws more, and compiles them with neighbours
that diverge.
"""

import random
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import OF_ENTROPY, all_measures
from tests.sscq.loop.test_bit_equality import rounded_as_compiled, same

LARGE = {"balancing_vehicle", "balancing_vehicle_no_slip", "balancing_vehicle_rigid", "suspension",
         "suspension_unilateral", "unicycle"}  # fmt: skip
HORIZONS = (13, 22, 30)  # steps


def settings(plant, rng):
    """What a situation may have: each with one chance in four."""
    h = plant.step
    known = {
        "noise": 0.013, "quantisation": 0.0137, "dropout": 0.2, "command_dropout": 0.2, "jitter": 0.6,
        "rate_limit": 17.0, "dead_zone": 0.011, "backlash": 0.007, "delay": rng.choice((h, 1.5 * h, 2.0 * h)),
        "output_delay": h, "limits": (-1e3, 1e3), "excitation": None,
    }  # fmt: skip
    if not plant.loses_at_rest:
        known["reference"] = 0.0
    return {name: value for name, value in known.items() if rng.random() < 0.25}


def drawn(plant, rng, count=3):
    """Situations of a plant with settings of their own."""
    pool = [situation for several in sscq.standard_sets(plant).values() for situation in several]
    return [
        replace(one, name=f"{one.name} {k}", seed=rng.randrange(9), t_end=rng.choice(HORIZONS) * plant.step,
                **settings(plant, rng))
        for k, one in enumerate(rng.sample(pool, count))
    ]  # fmt: skip


def bits(plant, situations, gains, **options):
    """All measures and times of divergence [situation, measure, candidate]."""
    wanted = [name for name in all_measures(plant) if not (plant.loses_at_rest and name.startswith(OF_ENTROPY))]
    loop = ClosedLoop(plant, (PID(),) * len(plant.channels), situations, plant.step, measures=wanted, **options)
    found = loop.evaluate(gains, 1)
    return np.stack([*found.until_lost.values(), found.diverged_at], axis=1)


def assert_alone_as_together(plant, seed, *, text):
    rng = random.Random(f"{plant.name} {seed}")
    situations = drawn(plant, rng)
    n = 3 * len(plant.channels)
    gains = np.array([[rng.uniform(0.1, 3.0) for _ in range(n)], [rng.choice((-1e9, 1e9)) for _ in range(n)]])
    options, gains = ({"lanes": 1}, gains[:1]) if text else ({}, gains)
    with rounded_as_compiled() if text else nullcontext(), np.errstate(all="ignore"):
        together = bits(plant, situations, gains, **options)
        for number, situation in enumerate(situations):
            for k in range(len(gains)):
                alone = bits(plant, [situation], gains[k : k + 1], **options)
                same(np.ascontiguousarray(alone[0, :, 0]), np.ascontiguousarray(together[number, :, k]))


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("count") or 1))
    if "name" in metafunc.fixturenames:
        slow = pytest.mark.slow
        metafunc.parametrize("name", [pytest.param(n, marks=slow) if n in LARGE else n for n in plants.names()])


def test_by_text(name, seed):
    assert_alone_as_together(plants.get(name), seed, text=True)


@pytest.mark.slow
def test_compiled(name, seed):
    assert_alone_as_together(plants.get(name), seed, text=False)
