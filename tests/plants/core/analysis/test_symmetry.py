"""Which plants are their own mirror images."""

from dataclasses import replace

import pytest

import plants


@pytest.mark.parametrize("name", ["van_der_pol", "duffing", "pendulum", "cart_pole", "fopdt", "dc_motor"])
def test_odd_plants(name):
    assert plants.is_odd(plants.get(name))


@pytest.mark.parametrize("name", ["magnetic_levitation", "two_tanks", "cstr", "heater", "planar_quadrotor"])
def test_plants_that_are_not(name):
    assert not plants.is_odd(plants.get(name))


def test_one_limit_or_one_term_spoils_it():
    plant = plants.get("van_der_pol")

    def leaning(t, x, u, w, p):
        q, v = plant.derivative(t, x, u, w, p)
        return q, v + 1e-6 * x[0] * x[0]

    assert not plants.is_odd(replace(plant, derivative=leaning))
    channel = replace(plant.channels[0], high=plant.channels[0].high * 0.5)
    assert not plants.is_odd(replace(plant, channels=(channel,)))
