"""Sets of situations: every plant has a task that a mild controller survives; repetitions and other plants."""

from contextlib import nullcontext
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from plants import Quantity
from plants.core.registry import in_full
from plants.excitation import WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from sscq.situations.situation_sets import KINDS, repeated, standard_sets, varied
from tests.reference.closed_loop_twin import uncompiled

VDP = plants.get("van_der_pol")
MILD = (1.0, 0.5, 0.5)  # kp, ki, kd, of every channel
MILD_OF = {  # where that is too little to stand upright, or for the units
    "pendulum": (20.0, 5.0, 3.0),
    "duffing": (4.0, 2.0, 2.0),
    "balancing_vehicle": (60.0, 0.0, 8.0, 12.0, 4.8, 0.0, 2.0, 4.0, 0.0),
    "balancing_vehicle_no_slip": (60.0, 0.0, 8.0, 12.0, 4.8, 0.0, 2.0, 4.0, 0.0),
    "balancing_vehicle:slippery": (108.0, 0.0, 12.6, 4.8, 0.4, 0.0, 3.1, 4.8, 0.0),  # stiff: it is taught ice
    "ball_and_beam": (0.6, 0.1, 0.6),
    "quarter_car": (1e4, 1e4, 2e3),
    "cart_pole": (40.0, 0.0, 9.0, 3.0, 0.1, 5.0),
    "cstr": (4.0, 0.05, 2.0),
    "cstr_bequette": (10.0, 0.003, 500.0),
    "cstr_dimensionless": (8.0, 4.0, 0.2),
    "dc_motor": (0.6, 5.0, 0.02),
    "equal_percentage_valve": (5e-3, 3e-4, 0.02),
    "ph_neutralisation": (1.0, 0.015, 10.0),
    "magnetic_levitation": (-1450.0, -1000.0, -150.0),
    "two_tanks": (60.0, 1.0, 300.0),
    "planar_quadrotor": (6.0, 2.0, 4.0, 1.2, 0.0, 0.2, 0.2, 0.02, 0.25),
    "unicycle": (110.0, 0.0, 20.0, 100.0, 0.0, 60.0),
    "unicycle:speed_hold": (110.0, 0.0, 20.0, 100.0, 0.0, 60.0),
    "unicycle:pushed": (33.0, 0.0, 6.7, 250.0, 4.0, 70.0),  # near the best fixed gains: it is taught hard pushes
    "unicycle:balanced": (30.0, 0.0, 8.0, 250.0, 4.0, 70.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "unicycle:region": (25.0, 0.0, 12.0, 55.0, 0.0, 12.5, 0.26, 0.0, 0.0, 1.6, 0.0, 0.0, 0.008, 0.0, 0.0),
}
# A thousandth of the horizon that their slow friction asks for is too coarse a step to balance them.
UNICYCLES = {"unicycle", "unicycle:speed_hold", "unicycle:pushed", "unicycle:balanced", "unicycle:region"}
VEHICLES = {name for name in plants.names(tasks=True) if name.startswith("balancing_vehicle")}
# A unicycle that stands still, as a made task starts it, falls to a side whatever its gains are.
NO_TASK_BUT_THEIR_OWN = {"cart_pole", "planar_quadrotor", *UNICYCLES, *VEHICLES}
# With all parameters 20 % against them (the made task's changed plants) a reactor ignites and a tank overflows.
# A car whose springs are too short for their load comes down on its tyres.
LOST_WHEN_CHANGED = {"cstr", "cstr_bequette", "two_tanks", "suspension"}
PUSHED_OVER = {"unicycle:region"}  # its pushes are evenly in a disc that is larger than what any gains survive
TOLD_APART = "slippery ground "  # drawn, and chosen because robust controllers differ there: some fall in some
FALLS = {"ice", "ice while speeding up", "ice on the left"}  # a vehicle that balances falls there with fixed gains
# A thousand operations a stage: interpreted they take longer than to compile.
COMPILED = {"suspension", "balancing_vehicle", "balancing_vehicle:slippery", *UNICYCLES}
# Some have the tasks of the car and of the vehicle that they are variants of.
NAMES = [
    name for name in plants.names(tasks=True) if not name.startswith("suspension_") and not name.endswith("_rigid")
]
OTHER_PLANTS_ONLY = {"fopdt"}  # what is not taught there are other parameters, which a run draws


def task(plant):
    return standard_sets(plant)


@pytest.fixture(scope="module", params=[(name, own) for name in NAMES for own in (True, False)])
def plant(request):
    """Every registered plant, with its own task and with the one made from its channels."""
    name, own = request.param
    found = plants.get(name)
    if own and not found.situations:
        pytest.skip("no task of its own")
    return found if own else replace(found, situations={})


def test_every_task_is_complete(plant):
    sets = task(plant)
    assert tuple(sets) == KINDS
    for kind, situations in sets.items():
        names = [s.name for s in situations]
        assert len(set(names)) == len(names) > 0, kind
        assert all(isinstance(s, sscq.Situation) for s in situations)


def test_every_task_runs_and_a_mild_controller_survives_it(plant):
    name = in_full(plant.name)
    several = [s for situations in task(plant).values() for s in situations]
    if name in NO_TASK_BUT_THEIR_OWN and not plant.situations:
        pytest.skip("balanced at a finer step than a task made from its channels has")
    horizon = max(s.t_end for s in several)
    step = horizon / 1000.0 if plant.advance is None else plant.step
    gains = MILD_OF.get(name, MILD * len(plant.channels))
    with nullcontext() if name in COMPILED else uncompiled():
        loop = ClosedLoop(plant, PID(), several, step, measures=("iae", "effort"), lanes=1)
        quality = loop.evaluate(np.array([gains]), threads=1)
    changed = name in LOST_WHEN_CHANGED
    chosen = np.array([s.name.startswith(TOLD_APART) for s in several])
    assert not chosen.any() or 0.0 < quality.failed[chosen].mean() < 0.25
    expected = chosen | [(changed and s.name.startswith("changed plant")) or s.name in FALLS for s in several]
    if name in PUSHED_OVER and plant.situations:
        assert 0.2 < quality.failed.mean() < 0.8  # else what falls would tell nothing
        return
    assert not quality.failed[~expected].any()
    assert (quality.iae > 0.0).all()
    assert (quality.effort > 0.0).all()


def test_what_is_unforeseen_was_not_taught(plant):
    if plant.situations and plant.name in OTHER_PLANTS_ONLY:
        pytest.skip("differs by its parameters")
    sets = task(plant)
    seen = [replace(s, name="", seed=0) for kind in ("taught", "validation") for s in sets[kind]]
    for situation in sets["unforeseen"]:
        assert replace(situation, name="", seed=0) not in seen, situation.name


def test_noise_is_never_the_same_twice(plant):
    """Same name and seed mean the same noise: taught noise must not come back among what is unforeseen."""
    several = [(s.name, s.seed) for situations in task(plant).values() for s in situations]
    assert len(set(several)) == len(several)


def test_missing_sets_are_the_taught_one():
    taught = ({"name": "only", "reference": 1.0},)
    sets = task(replace(VDP, situations={"taught": taught}))
    assert sets["validation"] == sets["unforeseen"] == sets["taught"] == (sscq.Situation("only", 1.0),)


def test_wrong_tasks_are_refused():
    with pytest.raises(ValueError, match="situations are taught, validation, unforeseen; got tought"):
        task(replace(VDP, situations={"tought": ()}))
    with pytest.raises(ValueError, match="its task has no taught situations"):
        task(replace(VDP, situations={"unforeseen": ({"name": "a"},)}))
    with pytest.raises(ValueError, match="has no control channels, so no situations can be made from them"):
        task(replace(VDP, situations={}, channels=()))


# ----------------------------------------------------------------------------------------------------- repetitions

TAUGHT = task(VDP)["taught"]


@given(st.integers(0, 500), st.integers(0, 500))
def test_repetitions_differ_in_the_seed_alone(first, second):
    a, b = repeated(TAUGHT, first), repeated(TAUGHT, second)
    assert [replace(s, seed=0) for s in a] == [replace(s, seed=0) for s in TAUGHT]
    assert (a == b) == (first == second)
    assert not {s.seed for s in a} & {s.seed for s in b} or first == second
    assert repeated(TAUGHT, 0) == tuple(TAUGHT)


def test_no_two_repetitions_within_a_task_have_the_same_random_numbers():
    """A stream is keyed by the situation's name and its seed, which repetitions move by their stride."""
    for name in plants.names(tasks=True):
        several = [s for situations in task(plants.get(name)).values() for s in situations]
        keys = [(crc32(s.name.encode()), s.seed) for number in range(50) for s in repeated(several, number)]
        assert len(set(keys)) == 50 * len(several), name


# ----------------------------------------------------------------------------------------------------- other plants

TANK = replace(
    VDP, name="tank", parameters=(
        Quantity("a", "", 2.0), Quantity("b", "", -4.0), Quantity("share", "", 0.9, 0.0, 1.0), Quantity("zero", "", 0.0)
    ),
)  # fmt: skip
TWO = (sscq.Situation("up", 1.0), sscq.Situation("down", -1.0, WhiteNoise(0.1), {"a": 3.0}, seed=4))


@given(st.floats(0.0, 0.99), st.integers(1, 6), st.integers(0, 99))
def test_parameters_are_spread_about_their_values(spread, count, seed):
    found = varied(TANK, TWO, spread, count, seed)
    assert len(found) == 2 * count
    for number in range(count):
        up, down = found[2 * number], found[2 * number + 1]
        factors = [up.parameters[name] / nominal for name, nominal in (("a", 2.0), ("b", -4.0))]
        assert all(1.0 - spread - 1e-12 <= f <= 1.0 + spread + 1e-12 for f in factors)
        # One plant: the same factors in all its situations, on the values that each situation gives.
        assert down.parameters["a"] / 3.0 == pytest.approx(factors[0], rel=1e-12)
        assert down.parameters["b"] == up.parameters["b"]
        assert 0.0 <= up.parameters["share"] <= 1.0
        assert up.parameters["zero"] == 0.0
    assert found == varied(TANK, TWO, spread, count, seed)
    if spread > 0.01:
        assert found != varied(TANK, TWO, spread, count, seed + 1)


def test_everything_else_stays_and_names_differ():
    found = varied(TANK, TWO, 0.3, 3, 0)
    assert len({s.name for s in found}) == 6
    assert found[3].name == "down, plant 2"
    for k, situation in enumerate(found):
        assert replace(situation, name="", parameters=None) == replace(TWO[k % 2], name="", parameters=None)


def test_plants_cover_the_whole_spread():
    """Uniform on +-20 %: of 400 draws, mean within 3 standard errors (0.2 / sqrt(3 * 400)), extremes near the ends."""
    factors = np.array([s.parameters["a"] / 2.0 for s in varied(TANK, TWO[:1], 0.2, 400, 1)])
    assert abs(factors.mean() - 1.0) < 3.0 * 0.2 / np.sqrt(3.0 * 400.0)
    assert factors.min() < 0.81
    assert factors.max() > 1.19


def test_a_plant_more_does_not_change_those_before():
    assert varied(TANK, TWO, 0.2, 5, 3)[:6] == varied(TANK, TWO, 0.2, 3, 3)


@pytest.mark.parametrize(("spread", "count"), [(-0.1, 3), (1.0, 3), (np.nan, 3), (0.2, 0)])
def test_wrong_spreads_are_refused(spread, count):
    with pytest.raises(ValueError, match="varied plants need a count of at least 1 and a spread in"):
        varied(TANK, TWO, spread, count, 0)
