"""Equilibria of set points: in closed form, with loads and parameters, and where there is none."""

import math

import numpy as np
import pytest

import plants
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.core.analysis.equilibrium import Equilibria
from plants.core.elementary import atan2
from plants.core.registry import names
from plants.tanks import outflow

TANKS, MOTOR = plants.get("two_tanks"), plants.get("dc_motor")


def test_tanks_rest_at_equal_flows():
    """By hand: the upper tank passes what the lower one does, rho g q (h1 + h2)."""
    wide = {"upper hole": 2.4e-5}
    found = Equilibria(TANKS, wide).at([0.12], [3e-6])
    flow = outflow(1.781e-5, 0.12)
    upper = 0.12 * (1.781e-5 / 2.4e-5) ** 2  # but for the smoothing near empty: 1e-4 of it
    assert found.state[0] == pytest.approx(upper, rel=1e-3)
    assert found.state[1] == pytest.approx(0.12, rel=1e-12)
    assert found.loss == pytest.approx(9810.0 * flow * (found.state[0] + 0.12), rel=1e-9)
    volts = float(TANKS.allocate(0.0, found.state, found.commands, TANKS.nominal())[0])
    assert 3.3e-6 * volts + 3e-6 == pytest.approx(flow, rel=1e-9)
    assert found.reached == 1.0


def test_a_motor_at_rest_loses_what_its_load_asks_for():
    """R (load / k)^2 at any angle."""
    expected = 7.0 * (2e-3 / 1.4123e-2) ** 2
    for angle in (0.0, 1.0, -20.0):
        assert Equilibria(MOTOR).at([angle], [-2e-3]).loss == pytest.approx(expected, rel=1e-9)
    assert Equilibria(MOTOR).at([1.0]).loss == 0.0


def test_the_loss_is_that_under_the_load():
    """A draught changes what the heaters give to the surroundings, at the same temperatures."""
    heater, references = plants.get("heater"), [318.15, 311.15]
    found = Equilibria(heater).at(references, [-3.0])
    state, powers = tuple(found.state), tuple(found.commands)
    assert found.loss == pytest.approx(heater.entropy_rate(0.0, state, powers, (-3.0,), heater.nominal()), rel=1e-12)
    assert found.loss > 1.1 * Equilibria(heater).at(references).loss


@pytest.mark.parametrize("name", [name for name in names() if plants.get(name).operating_points])
def test_every_operating_point_is_found_again(name):
    """From the others too: the way to a set point starts at the operating point that is nearest to it."""
    plant = plants.get(name)
    for point in plant.operating_points:
        if point.parameters:
            continue
        found = Equilibria(plant).at(plant_outputs(plant, point.state))
        np.testing.assert_allclose(found.state, point.state, rtol=1e-8, atol=1e-8)
        lossy = found.loss > 1e-9
        assert not lossy or plant.loses_at_rest, "it loses at an operating point: it must say so"


def plant_outputs(plant, state):
    u, w = [q.nominal for q in plant.inputs], [0.0] * len(plant.disturbances)
    values = plant.outputs(0.0, state, u, w, plant.nominal())
    return [values[plant.index("measurements", channel.output)] for channel in plant.channels]


def root(t, x, u, w, p):
    """Rests at x^2 = u, so only at x >= 0 for a command that follows: y = u has no equilibrium below 0."""
    return (u[0] - x[0] * x[0],)


ROOT = Plant(
    "root", (Quantity("x", "1", 1.0, 0.0, 3.0),), inputs=(Quantity("u", "1"),), channels=(Channel("x"),),
    derivative=root, entropy_rate=lambda t, x, u, w, p: x[0],
)  # fmt: skip


def test_beyond_the_last_equilibrium_the_last_one_stands():
    """The region ends at 3: a demand of 7 is met as far as that, up to the last part of the way that is tried."""
    found = Equilibria(ROOT).at([7.0])
    assert found.reached == pytest.approx((3.0 - 1.0) / (7.0 - 1.0), abs=2.0**-7)
    assert 2.9 < found.loss <= 3.0
    assert Equilibria(ROOT).at([2.0]).reached == 1.0


def test_of_several_states_of_rest_that_of_the_nearest_operating_point_counts():
    two = Plant(
        "two", (Quantity("x", "1"), Quantity("branch", "1")), inputs=(Quantity("u", "1"),), channels=(Channel("x"),),
        derivative=lambda t, x, u, w, p: (u[0] - x[0], x[1] * x[1] - 1.0), entropy_rate=lambda t, x, u, w, p: x[1],
        operating_points=(OperatingPoint("low", (0.0, 1.0)), OperatingPoint("high", (5.0, -1.0))),
    )  # fmt: skip
    assert [Equilibria(two).at([r]).loss for r in (0.4, 4.4)] == [1.0, -1.0]


def test_newtons_step_is_shortened_where_it_goes_too_far():
    """From c = 0 on the flat end of an arc tangent, a full step lands 30 beyond the answer, farther off than before."""
    flat = Plant(
        "flat", (Quantity("x", "1"),), inputs=(Quantity("c", "1"),), channels=(Channel("x"),),
        derivative=lambda t, x, u, w, p: (atan2(u[0] - 5.0, 1.0) - x[0],),
    )  # fmt: skip
    target = math.atan2(-5.0, 1.0) + 1.3734
    v = Equilibria(flat)._newton(np.array([0.0, 0.0]), np.array([target]), np.empty(0))
    assert v is not None
    assert math.atan(v[1] - 5.0) == pytest.approx(target, abs=1e-9)


def test_a_plant_that_cannot_rest_is_refused():
    drift = Plant(
        "drift", (Quantity("x", "1"),), inputs=(Quantity("u", "1"),), channels=(Channel("x"),),
        derivative=lambda t, x, u, w, p: (1.0 + 0.0 * u[0],),
    )  # fmt: skip
    with pytest.raises(ValueError, match="'drift' has no equilibrium on the way to the reference"):
        Equilibria(drift).at([1.0])
