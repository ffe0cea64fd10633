"""Gauss' function as a public function: both worked examples, transfers, minima under constraints, refusals."""

import math

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.mechanics import DeclarationError, Mechanism, gauss_function
from plants.mechanics.checks import samples

PHI, RATE, TORQUE = 0.6, 1.2, 0.5
PINNED = (
    0.4 * math.sin(PHI), -0.4 * math.cos(PHI), PHI,
    0.4 * RATE * math.cos(PHI), 0.4 * RATE * math.sin(PHI), RATE,
)  # fmt: skip


def test_a_plane_body_in_cartesian_coordinates_and_pinned():
    """The specification's R9: accelerations of the mass centre and the angle."""
    declared, pinned = (gauss_function(systems.pinned_body(), kind) for kind in ("declared", "reduced"))
    assert declared.text == "½ m xc''² + ½ m yc''² + ½ Jc phi''² + 9.81 m yc'' - Mz phi''"
    assert pinned.text == "½ (Jc + d² m) w'² - (Mz - 9.81 d m sin(phi)) w'"
    wanted = (-2.4185589459, -0.9567272889, -6.3408292439)
    np.testing.assert_allclose(declared.least(PINNED, u=(TORQUE,)), wanted, atol=1e-9)
    np.testing.assert_allclose(pinned.least((*PINNED[:3], RATE), u=(TORQUE,)), wanted[2:], atol=1e-9)


def test_the_true_motion_is_the_least_of_all_that_are_admissible():
    Z = gauss_function(systems.pinned_body())
    best = Z.least(PINNED, u=(TORQUE,))
    for w in np.random.default_rng(0).uniform(-20.0, 20.0, 50):
        bias = RATE**2 * np.array([-0.4 * math.sin(PHI), 0.4 * math.cos(PHI), 0.0])
        other = w * np.array([0.4 * math.cos(PHI), 0.4 * math.sin(PHI), 1.0]) + bias
        assert Z(other, PINNED, u=(TORQUE,)) > Z(best, PINNED, u=(TORQUE,))


def test_a_free_body_in_six_coordinates():
    """The specification's R15."""
    found = gauss_function(systems.rigid_body()).least((0, 0, 0, 0.4, 0.9, -0.3, 0, 0, 0, 0.5, -0.4, 0.8))
    np.testing.assert_allclose(found[3:], (-0.7178851309, -0.6251634328, 0.3259901067), atol=1e-9)


def test_joint_coordinates_give_what_the_built_plant_gives():
    mech = systems.double_pendulum_by_joints()
    Z, plant = gauss_function(mech, "reduced"), systems.double_pendulum_by_joints().build()
    for x in np.random.default_rng(1).uniform(-2.0, 2.0, (5, 4)):
        wanted = plant.derivative(0.0, tuple(x), (), (), plant.nominal())[2:]
        np.testing.assert_allclose(Z.least(x), wanted, rtol=1e-10)


@pytest.mark.parametrize("make", [systems.sleigh, systems.rolling_disk, systems.trailers])
def test_rolling_systems_move_alike_in_both_coordinates(make):
    declared, reduced = gauss_function(make()), gauss_function(make(), "reduced")
    equations = make().build("quasi", check=False).equations
    for t, x, u in samples(equations, 3):
        block = equations.block(t, x, u)
        q, v = equations.motion(*block)
        wanted = np.array(equations.coordinate_accelerations(*block), float)
        np.testing.assert_allclose(declared.least((*q, *v), t=t, u=u), wanted, rtol=1e-8, atol=1e-8)
        found = reduced.least(x, t=t, u=u)
        np.testing.assert_allclose(found, equations.accelerations(*block), rtol=1e-8, atol=1e-8)


def test_refusals():
    with pytest.raises(DeclarationError, match="'declared' or 'reduced'"):
        gauss_function(systems.sleigh(), "polar")
    mech = Mechanism("bare")
    mech.coordinates("x")
    mech.kinetic(mech.rates() ** 2)
    with pytest.raises(DeclarationError, match="joints"):
        gauss_function(mech, "reduced")
