"""Equilibria that Newton's method does not find from the nominal command: against a root finder on the same equation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from plants import Channel, OperatingPoint, Plant, Quantity, check
from plants.core.analysis.equilibrium import Equilibria
from plants.core.analysis.linearise import linearise
from plants.core.analysis.starts import COUNT, bounds, fewest_left, starts
from plants.core.elementary import maximum, minimum, sin, table1d
from sscq.situations.generic_task import generic_task

LOSS, POWER, AMBIENT = 2.0, 114.5, 20.0

HEATS = {
    "power with the square of the voltage": lambda duty: (duty / 100.0) ** 2,
    "phase angle": lambda duty: 0.02 * duty / 2.0 - sin(0.02 * np.pi * duty) / (2.0 * np.pi),
    "dead zone, then a table": lambda duty: table1d(maximum(duty - 30.0, 0.0), (0.0, 20.0, 70.0), (0.0, 0.5, 1.0)),
    "saturates": lambda duty: minimum(maximum(duty - 12.0, 0.0) / 20.0, 1.0),
}


def heater(share, nominal=0.0):
    """It rests at 20 degC without heat; a share of its power at each duty."""

    def derivative(t, x, u, w, p):
        return ((POWER * share(u[0]) - LOSS * (x[0] - AMBIENT)) / 400.0,)

    return Plant(
        name="oven",
        states=(Quantity("temperature", "degC", AMBIENT, -50.0, 200.0),),
        inputs=(Quantity("duty", "%", nominal, 0.0, 100.0),),
        channels=(Channel("temperature", scale=5.0, low=0.0, high=100.0),),
        derivative=derivative,
        operating_points=(OperatingPoint("warm", (30.0,)),),
    )


@pytest.mark.parametrize("nominal", [0.0, 100.0])
@pytest.mark.parametrize("kind", HEATS)
def test_a_heater_is_held_by_the_duty_that_a_root_finder_finds(kind, nominal):
    """Its slope vanishes at a duty of 0 (and of 100): Newton's method cannot leave from there."""
    share, plant = HEATS[kind], heater(HEATS[kind], nominal)
    duty = brentq(lambda u: POWER * float(share(u)) - LOSS * 10.0, 0.0, 100.0)
    assert linearise(plant, "warm").input == pytest.approx([duty], rel=1e-6)
    assert Equilibria(plant).at([30.0]).commands == pytest.approx([duty], rel=1e-6)
    alone = replace(plant, operating_points=())
    assert Equilibria(alone).at([30.0]).reached == 1.0
    assert "not held" not in str(check(plant))
    assert not [line for line in check(plant).problems if "operating point" in line]


def test_situations_step_to_where_a_heater_can_be_held():
    """Upwards as far as its scale says, and not below what no heat reaches."""
    task = generic_task(replace(heater(HEATS["phase angle"]), operating_points=()))
    steps = [situation["reference"]["temperature"] for situation in task["taught"]]
    assert max(steps) >= 24.0
    assert min(steps) >= AMBIENT


def test_what_no_duty_holds_is_refused_with_the_best_one():
    """100 % gives 114.5 W: 77.25 degC; at 90 degC what is missing is by hand (2 * 70 - 114.5) / 400."""
    plant = heater(HEATS["power with the square of the voltage"])
    with pytest.raises(
        ValueError, match=r"no input holds .* = 90 degC; the best is duty = 100 %; .*: -0\.06375 degC/s"
    ):
        linearise(plant, {"temperature": 90.0})
    assert Equilibria(plant).at([90.0]).reached < 1.0
    assert Equilibria(plant).at([90.0]).commands[0] <= 100.0


def test_of_two_equilibria_the_one_inside_the_bounds_is_taken():
    """u (u + 3) = 10 holds it: u = -5 is nearer to the nominal -2, but only u = 2 is allowed."""
    plant = Plant(
        name="twice",
        states=(Quantity("x", "1"),),
        inputs=(Quantity("u", "1", -2.0, -2.0, 4.0),),
        derivative=lambda t, x, u, w, p: (u[0] * (u[0] + 3.0) - 10.0 - x[0],),
    )
    assert linearise(plant, {"x": 0.0}).input == pytest.approx([2.0])


def test_starts_fill_the_bounds_evenly():
    """Each half of each side of a box has about half of them; what has no bound is searched about where it is."""
    low, high = bounds([Quantity("a", "1", low=2.0, high=4.0), Quantity("b", "1", low=1.0)], np.array([3.0, 5.0]))
    assert (low[0], high[0], low[1]) == (2.0, 4.0, 1.0)
    assert high[1] > 5.0
    points = starts(low, high)
    assert points.shape == (2, COUNT)
    assert ((points >= low[:, None]) & (points <= high[:, None])).all()
    upper = (points > (0.5 * (low + high))[:, None]).mean(axis=1)
    assert np.abs(upper - 0.5).max() < 0.1


def test_points_where_the_model_gives_no_number_come_last():
    left = np.array([[np.nan, 1.0], [0.1, 0.1], [5.0, 3.0]])
    assert fewest_left(left) == [1, 2, 0]
