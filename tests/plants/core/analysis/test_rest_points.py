"""Points of rest of many parameter sets at once, against those of one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import plants
from plants.core.analysis.equilibrium import Equilibria
from plants.core.analysis.linearise import linearise
from plants.core.analysis.rest_points import RestPointSearch

SPREAD = (0.95, 1.0, 1.04)


def of_plant(name, parameter=None):
    """A plant, its last point, and parameter sets in which one (or the first) is spread."""
    plant = plants.get(name)
    nominal = np.array(plant.values("parameters", None))
    scaled = np.tile(nominal, (len(SPREAD), 1))
    scaled[:, 0 if parameter is None else plant.index("parameters", parameter)] *= SPREAD
    return plant, plant.operating_points[-1], nominal, scaled


@pytest.mark.parametrize("name", ["van_der_pol", "pendulum", "dc_motor", "cart_pole"])
def test_where_an_input_holds_the_declared_state(name):
    plant, point, nominal, scaled = of_plant(name)
    found = RestPointSearch(plant).at(point.state, nominal, scaled)
    assert found.at_rest.all()
    assert not found.moved.any()
    for k, values in enumerate(scaled):
        one = linearise(plant, point.state, values, commands=True)
        np.testing.assert_allclose(found.input[k], one.input, rtol=1e-7, atol=1e-9)
        for key in "ABC":
            np.testing.assert_allclose(getattr(found.local, key)[k], getattr(one, key), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "parameter"), [("cstr", "flow"), ("magnetic_levitation", "mass"), ("two_tanks", "upper hole")]
)
def test_another_plant_stands_still_elsewhere_with_the_same_controlled_outputs(name, parameter):
    plant, point, nominal, scaled = of_plant(name, parameter)
    found = RestPointSearch(plant).at(point.state, nominal, scaled)
    assert found.at_rest.all()
    assert found.moved.tolist() == [True, False, True]
    place = plant.index("measurements", plant.channels[0].output)
    reference = found.local.output[1, place]
    for k, values in enumerate(scaled):
        one = Equilibria(plant, values).at([reference])
        assert one.reached == 1.0
        np.testing.assert_allclose(found.state[k], one.state, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.input[k], one.commands, rtol=1e-6, atol=1e-9)


def test_a_plant_that_runs_away_has_no_state_of_rest():
    """A cooled reactor whose coolant would have to be colder than it may be."""
    plant = plants.get("cstr")
    nominal = np.array(plant.values("parameters", None))
    hot = nominal.copy()
    hot[plant.index("parameters", "feed temperature")] *= 1.5
    found = RestPointSearch(plant).at(plant.operating_points[0].state, nominal, np.array([nominal, hot]))
    assert found.at_rest.tolist() == [True, False]
