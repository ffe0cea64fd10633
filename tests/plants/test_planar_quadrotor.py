"""The planar quadrotor against Newton's law written in complex numbers, falls with drag, and its allocation."""

import numpy as np
import pytest

import plants
from plants.planar_quadrotor import ARM, GRAVITY, MASS, PLANAR_QUADROTOR, ROTOR, allocate, derivative
from tests.reference.motion import driven

P = (1.2, 0.02, 0.25, 0.4, 0.01)
HOVER = (0.5 * MASS * GRAVITY,) * 2


def newton(t, s, values):
    """Place x + i z: the body's axis is i exp(-i a); rotors pull along it at -+ l from the middle."""
    mass, inertia, arm, drag, turning_drag, left, right, wind, updraught = values
    axis, velocity = 1j * np.exp(-1j * s[2]), s[3] + 1j * s[4]
    force = (left + right) * axis + drag * (wind + 1j * updraught - velocity) - 1j * mass * GRAVITY
    across = axis * -1j  # from the middle to the right rotor
    torque = sum(np.imag(np.conj(place * across) * (pull * axis)) for place, pull in ((-arm, left), (arm, right)))
    rate = force / mass
    return [s[3], s[4], s[5], rate.real, rate.imag, (-torque - turning_drag * s[5]) / inertia]


def test_accelerations_are_newtons():
    for x in np.random.default_rng(7).uniform(-1.5, 1.5, (20, 6)):
        found = derivative(0.0, tuple(x), (4.0, 5.5), (1.2, -0.4), P)
        np.testing.assert_allclose(found, newton(0.0, x, (*P, 4.0, 5.5, 1.2, -0.4)), rtol=1e-11, atol=1e-11)


def test_it_moves_as_newton_says():
    """rk4 at 10 ms on rates of a few 1/s: (0.02)^4 = 2e-7, measured 1e-9."""
    initial = (0.0, 0.0, 0.2, 0.5, -0.3, 0.1)
    found, expected = driven(PLANAR_QUADROTOR, newton, initial, (0.05, 0.05, 1.0, 0.5), 2.0, 0.01)
    assert abs(expected[2] - initial[2]) > 0.1
    np.testing.assert_allclose(found, expected, atol=2e-7)


def test_it_falls_to_the_speed_at_which_drag_carries_it_and_drifts_with_the_wind():
    mass, _, _, drag, _ = P
    *_, along, up, _ = derivative(
        0.0, (0.0, 0.0, 0.0, 3.0, 2.0 - mass * GRAVITY / drag, 0.0), (0.0, 0.0), (3.0, 2.0), P
    )
    assert (along, up) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_wind_heats_what_stands_in_it_and_nothing_that_drifts_along():
    drag, at_rest, drifting = P[3], (0.0,) * 6, (0.0, 0.0, 0.0, 3.0, -1.0, 0.0)
    blocks = (PLANAR_QUADROTOR.supplied_power, PLANAR_QUADROTOR.entropy_rate)
    for block in blocks:  # at rest, whatever the rotors pull, the wind brings what becomes heat
        assert block(0.0, at_rest, (4.0, 4.0), (3.0, -1.0), P) == pytest.approx(drag * (3.0**2 + 1.0**2))
        assert block(0.0, drifting, (0.0, 0.0), (3.0, -1.0), P) == pytest.approx(0.0, abs=1e-15)


def test_in_hover_all_commands_are_nothing():
    model = plants.linearise(PLANAR_QUADROTOR, (0.0,) * 6, commands=True)
    np.testing.assert_allclose(model.input, 0.0, atol=1e-12)
    # x'' = g a, z'' = height / m, J a'' = pitch + position; drag damps each.
    assert model.A[3, 2] == pytest.approx(GRAVITY)
    np.testing.assert_allclose(model.B[3:], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1 / 0.015, 1 / 0.015]], atol=1e-12)
    poles = [0.0, 0.0, 0.0, -0.25, -0.25, -0.005 / 0.015]
    np.testing.assert_allclose(np.sort(model.poles.real), np.sort(poles), atol=1e-6)  # double roots: sqrt of rounding


def test_allocation_gives_thrust_and_moment_while_rotors_can():
    left, right = allocate(0.0, (0.0,) * 6, (2.0, 0.3, -0.1), PLANAR_QUADROTOR.nominal())
    assert left + right == pytest.approx(MASS * GRAVITY + 2.0)
    assert ARM * (left - right) == pytest.approx(0.3 - 0.1)
    assert allocate(0.0, (0.0,) * 6, (0.0, 1.0, 1.5), P) == (ROTOR, 0.0)  # rotors only push, and so far
    assert allocate(0.0, (0.0,) * 6, (0.0, 0.0, 0.0), P) == HOVER
