"""Cart and pole against Lagrange's equations and against the printed exact form."""

import numpy as np
import pytest

import plants
from plants.cart_pole import CART_POLE, GRAVITY, allocate

P = (0.9, 0.2, 0.4, 0.3, 0.01)
STATES = np.random.default_rng(5).uniform(-1.0, 1.0, (20, 4)) * (2.0, 3.0, 3.0, 6.0)


@pytest.fixture(scope="module")
def equations():
    """The rod's kinetic energy by König: its middle moves, it turns with m (2 l)^2 / 12; viscous friction; wind."""
    sympy = pytest.importorskip("sympy")
    from tests.reference.motion import lagrange

    z, a, v, s = sympy.symbols("z a v s")
    cart, pole, half, a1, b, u, w = sympy.symbols("cart pole half a1 b u w")
    middle = (v + half * s * sympy.cos(a), -half * s * sympy.sin(a))
    kinetic = cart * v**2 / 2 + pole * (middle[0] ** 2 + middle[1] ** 2) / 2 + pole * (2 * half) ** 2 / 12 * s**2 / 2
    forces = [u + w - a1 * v, w * half * sympy.cos(a) - b * s]
    potential = pole * GRAVITY * half * sympy.cos(a)
    return lagrange([(z, v), (a, s)], kinetic, potential, forces, (cart, pole, half, a1, b), (u, w))


def test_accelerations_are_lagranges(equations):
    for x in STATES:
        found = CART_POLE.derivative(0.0, tuple(x), (3.0,), (0.7,), P)
        np.testing.assert_allclose(found, equations(0.0, x, (*P, 3.0, 0.7)), rtol=1e-11, atol=1e-11)


def test_it_moves_as_lagrange_says(equations):
    """A fall from 3 degrees to the side; rk4 at 2 ms on rates of up to 6 / s: (0.012)^4 = 2e-8, measured 3e-10."""
    from tests.reference.motion import driven

    found, expected = driven(CART_POLE, equations, (0.1, 0.05, 0.0, 0.0), (0.5, 0.1), 0.8, 0.002)
    assert abs(expected[1]) > 0.3
    np.testing.assert_allclose(found, expected, atol=2e-8)


def test_accelerations_are_those_of_the_printed_form():
    """As in Florian (2007), with viscous friction a1 of the cart and b of the pivot."""
    cart, pole, half, a1, b = P
    total, u = cart + pole, -2.5
    for x in STATES:
        _, angle, speed, turning = x
        sine, cosine = np.sin(angle), np.cos(angle)
        bracket = (-u + a1 * speed - pole * half * turning**2 * sine) / total
        turn = (GRAVITY * sine + cosine * bracket - b * turning / (pole * half)) / (
            half * (4.0 / 3.0 - pole * cosine**2 / total)
        )
        along = (u - a1 * speed + pole * half * (turning**2 * sine - turn * cosine)) / total
        found = CART_POLE.derivative(0.0, tuple(x), (u,), (0.0,), P)
        np.testing.assert_allclose(found, [speed, turning, along, turn], rtol=1e-11, atol=1e-11)


def test_upright_at_rest_commands_of_nothing_hold_it_and_it_falls_at_the_known_rate():
    model = plants.linearise(
        CART_POLE, (0.7, 0.0, 0.0, 0.0), {"cart_friction": 0.0, "pivot_friction": 0.0}, commands=True
    )
    np.testing.assert_allclose(model.input, 0.0, atol=1e-12)
    fall = np.sqrt(GRAVITY / (0.5 * (4.0 / 3.0 - 0.1 / 1.1)))
    np.testing.assert_allclose(np.sort(model.poles.real), [-fall, 0.0, 0.0, fall], atol=1e-7)  # double root at 0


def test_either_command_tips_the_pole_to_the_positive_side():
    for commands in ((1.0, 0.0), (0.0, 1.0)):
        u = allocate(0.0, (0.0,) * 4, commands, P)
        _, _, along, turn = CART_POLE.derivative(0.0, (0.0,) * 4, u, (0.0,), P)
        assert along < 0.0 < turn
