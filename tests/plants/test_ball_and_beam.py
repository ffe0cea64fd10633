"""Ball and beam against Lagrange's equations, the rolling law, and its poles."""

import numpy as np
import pytest

import plants
from plants.ball_and_beam import BALL_AND_BEAM, GRAVITY, derivative, entropy_rate

P = (0.06, 0.012, 0.03, 4.0, 0.4, 0.02)
STATES = np.random.default_rng(6).uniform(-1.0, 1.0, (20, 4)) * (0.5, 1.0, 2.0, 6.0)


@pytest.fixture(scope="module")
def equations():
    """Hauser's kinetic energy: the ball's middle in the plane, its spin along the beam, and its turning with it."""
    sympy = pytest.importorskip("sympy")
    from tests.reference.motion import lagrange

    r, a, v, s = sympy.symbols("r a v s")
    ball, radius, beam, k, d, b, u, w = sympy.symbols("ball radius beam k d b u w")
    solid = 2 * ball * radius**2 / 5
    kinetic = ball * (v**2 + r**2 * s**2) / 2 + solid * ((v / radius) ** 2 + s**2) / 2 + beam * s**2 / 2
    forces = [w - b * v, k * (u - a) - d * s]
    potential = -ball * GRAVITY * r * sympy.sin(a)
    return lagrange([(r, v), (a, s)], kinetic, potential, forces, (ball, radius, beam, k, d, b), (u, w))


def test_accelerations_are_lagranges(equations):
    for x in STATES:
        found = derivative(0.0, tuple(x), (0.2,), (0.03,), P)
        np.testing.assert_allclose(found, equations(0.0, x, (*P, 0.2, 0.03)), rtol=1e-11, atol=1e-11)


def test_it_moves_as_lagrange_says(equations):
    """rk4 at 1 ms on the servo's 22 / s: (0.022)^4 = 2e-7 of angles of some 0.01 rad, measured 6e-11."""
    from tests.reference.motion import driven

    found, expected = driven(BALL_AND_BEAM, equations, (0.1, 0.05, -0.3, 0.2), (0.1, 0.01), 1.0, 0.001)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_ball_rolls_down_a_held_beam_with_five_sevenths_of_gravity():
    *_, speed_rate, _ = derivative(0.0, (0.0, 0.3, 0.0, 0.0), (0.3,), (0.0,), P)
    assert speed_rate == pytest.approx(5.0 / 7.0 * GRAVITY * np.sin(0.3), rel=1e-12)


def test_losses_are_those_of_the_servos_damping_and_of_rolling():
    friction, damping = P[5], P[4]
    assert entropy_rate(0.0, (0.1, 0.2, 0.5, 0.0), (0.3,), (0.1,), P) == pytest.approx(friction * 0.5**2)
    assert entropy_rate(0.0, (0.1, 0.2, 0.0, 3.0), (0.3,), (0.1,), P) == pytest.approx(damping * 3.0**2)


@pytest.mark.parametrize("place", [0.0, 0.3])
def test_poles_at_a_place_by_hand(place):
    """(7/5 M s^2 + b s) (J s^2 + d s + k) = (M g)^2: the ball's weight turns the beam, and the beam moves the ball."""
    ball, radius, beam, k, d, b = P
    model = plants.linearise(BALL_AND_BEAM, (place, 0.0, 0.0, 0.0), P)
    about = beam + ball * (0.4 * radius**2 + place**2)
    polynomial = np.polymul([1.4 * ball, b, 0.0], [about, d, k])
    polynomial[-1] -= (ball * GRAVITY) ** 2
    np.testing.assert_allclose(np.sort_complex(model.poles), np.sort_complex(np.roots(polynomial)), rtol=1e-9)
    assert model.poles.real.max() > 0.0
    np.testing.assert_allclose(model.input, [-ball * GRAVITY * place / k], atol=1e-12)
