"""The Duffing oscillator against its closed solutions: Jacobi's cn, the slide with dry friction, the wells' poles."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import plants
from plants.oscillators import DUFFING, duffing_derivative, duffing_entropy_rate


def free(initial, t, **parameters):
    p = DUFFING.values("parameters", parameters)
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12, "t_eval": t}
    return solve_ivp(lambda t, x: duffing_derivative(t, x, (0.0,), (0.0,), p), (0.0, t[-1]), initial, **options).y


@pytest.mark.parametrize(("linear", "cubic", "mass"), [(1.0, 0.5, 1.0), (0.3, 2.0, 1.7)])
def test_free_hardening_motion_is_jacobis(linear, cubic, mass):
    """q = a cn(w t, k) with m w^2 = alpha + beta a^2 and k^2 = beta a^2 / (2 m w^2) (Kovacic and Brennan)."""
    a, t = 1.4, np.linspace(0.0, 12.0, 61)
    stiffness = linear + cubic * a * a
    cn = ellipj(np.sqrt(stiffness / mass) * t, 0.5 * cubic * a * a / stiffness)[1]
    found = free((a, 0.0), t, linear=linear, cubic=cubic, mass=mass, damping=0.0)[0]
    np.testing.assert_allclose(found, a * cn, atol=1e-8)  # 1e-12 a step, over some hundred steps and two periods


def test_dry_friction_stops_a_slide():
    """m v' = -F tanh(v / s) gives sinh(v / s) = sinh(v0 / s) exp(-F t / (m s))."""
    t, force, speed, mass = np.linspace(0.0, 3.0, 31), 0.4, 0.2, 1.5
    none = {"linear": 0.0, "cubic": 0.0, "damping": 0.0}
    found = free((0.0, 0.6), t, **none, mass=mass, friction=force, friction_speed=speed)[1]
    expected = speed * np.arcsinh(np.sinh(0.6 / speed) * np.exp(-force * t / (mass * speed)))
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_dry_friction_is_the_signs_but_near_rest_and_dissipates_always():
    p = DUFFING.values("parameters", {"friction": 0.3, "damping": 0.0})
    speeds = np.array([-2.0, -0.11, -0.01, 0.0, 0.01, 0.11, 2.0])
    heat = duffing_entropy_rate(0.0, (0.0, speeds), (0.0,), (0.0,), p)
    fast = np.abs(speeds) > 0.1  # 2.2 v_s
    np.testing.assert_allclose(heat[fast], 0.3 * np.abs(speeds[fast]), rtol=0.025)
    assert (heat >= 0.0).all()


def test_damping_and_forces_are_those_of_the_equation():
    """m s^2 + c s + alpha + 3 beta q^2; at rest u carries alpha q + beta q^3, and w acts as u does."""
    at = plants.linearise(DUFFING, (2.0, 0.0), {"mass": 1.3, "damping": 0.4, "linear": -0.5, "cubic": 0.7})
    expected = np.roots([1.3, 0.4, -0.5 + 3.0 * 0.7 * 4.0])
    np.testing.assert_allclose(np.sort_complex(at.poles), np.sort_complex(expected), rtol=1e-12)
    np.testing.assert_allclose(at.input, [-0.5 * 2.0 + 0.7 * 8.0], rtol=1e-12)
    np.testing.assert_allclose([at.B, at.E], [[[0.0], [1.0 / 1.3]]] * 2, rtol=1e-12)


def test_the_hill_is_a_saddle_and_the_wells_are_centres():
    at = {q: plants.linearise(DUFFING, (q, 0.0), {"damping": 0.0}) for q in (-1.0, 0.0, 1.0)}
    np.testing.assert_allclose(np.sort(at[0.0].poles.real), [-1.0, 1.0], rtol=1e-12)  # sqrt(-alpha / m)
    for q in (-1.0, 1.0):
        np.testing.assert_allclose(np.sort(at[q].poles.imag), [-np.sqrt(2.0), np.sqrt(2.0)], rtol=1e-12)
        np.testing.assert_allclose(at[q].input, [0.0], atol=1e-12)
