"""Constraints that are not linear in the rates: Gauss' principle carries them as it carries the others."""

import numpy as np
import pytest

import plants
from plants.core.elementary import cos, sin, sqrt
from plants.mechanics import Mechanism

G = 9.81


def hamel(form="quasi"):
    """Appell's machine: the vertical speed is k times the horizontal one."""
    mech = Mechanism("hamel")
    mech.coordinates("x y z")
    vx, vy, vz = mech.rates(initial=(1.5, 2.0, 1.0))
    m, k = mech.parameters(m=2.0, k=0.4)
    mech.kinetic(m / 2 * (vx**2 + vy**2 + vz**2))
    mech.potential(m * G * mech.symbol("z"))
    mech.velocity_constraint(vz - k * sqrt(vx**2 + vy**2), linear=False)
    if form == "quasi":
        a, b = mech.quasi_velocities("a b")
        mech.admissible({vx: a, vy: b, vz: k * sqrt(a**2 + b**2)})
    return mech.build(form)


@pytest.mark.parametrize("form", ["quasi", "routh", "gauss"])
def test_appells_machine_brakes_as_derived(form):
    # Along the horizontal speed s: m (s' + k z'') with z'' = k s' against -m g k: s' = -g k / (1 + k^2).
    plant = hamel(form)
    end = plants.simulate(plant, t_end=0.5, step=1e-3).states[-1]
    start = plant.equations.motion(*plant.equations.block(0.0, plant.initial()))[1]
    speed = np.hypot(*start[:2])
    assert start[2] == pytest.approx(0.4 * speed, abs=1e-12)  # the initial rates were moved onto the constraint
    left = speed - G * 0.4 / 1.16 * 0.5
    np.testing.assert_allclose(end[3:5], np.array(start[:2]) * left / speed, rtol=1e-9)


def test_constant_speed_is_held_by_a_force_across():
    # |v| = c: the acceleration is the force's part across the motion, and the constraint takes the part along it.
    mech = Mechanism("isokinetic")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates(initial=(2.0, 0.0))
    Fx, Fy = mech.inputs("Fx Fy")
    mech.kinetic(3.0 / 2 * (vx**2 + vy**2))
    mech.force({x: Fx, y: Fy})
    mech.velocity_constraint(vx**2 + vy**2 - 4.0, linear=False)
    course = mech.quasi_velocities("course")
    mech.admissible({vx: 2.0 * cos(course), vy: 2.0 * sin(course)})
    plant = mech.build()
    x, u = (0.1, 0.2, 0.7), (1.0, -2.0)
    rate = plant.derivative(0.0, x, u, (), ())
    assert rate[2] == pytest.approx((-np.sin(0.7) * 1.0 + np.cos(0.7) * -2.0) / (3.0 * 2.0), rel=1e-12)
    gained = plant.supplied_power(0.0, x, u, (), ())  # the constraint takes what the force supplies
    assert gained == pytest.approx(0.0, abs=1e-12)
