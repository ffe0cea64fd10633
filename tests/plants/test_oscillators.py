"""The oscillators against closed solutions: limit cycle, period of nonlinear inertia, Jacobi's cn, dry friction."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipe, ellipj

import plants
from plants.oscillators import DUFFING, duffing_derivative, duffing_entropy_rate


def maxima(name, initial, t_end, parameters):
    """Times and heights of the maxima of the free motion."""
    plant = plants.get(name)
    p = plant.values("parameters", parameters)

    def rates(t, x):
        return plant.derivative(t, x, (0.0,), (0.0,), p)

    def velocity(t, x):
        return x[1]

    velocity.direction = -1.0
    run = solve_ivp(rates, (0.0, t_end), initial, "DOP853", rtol=1e-12, atol=1e-12, events=velocity)
    return run.t_events[0], run.y_events[0][:, 0]


@pytest.mark.parametrize("mu", [0.3, 0.5])
def test_the_limit_cycle_of_van_der_pol_is_the_published_one(mu):
    """Series in mu of Andersen and Geer (SIAM J. Appl. Math. 42, 1982) for the frequency, of Dadfar, Geer and Andersen
    (44, 1984) for the amplitude; what they leave out is of order mu^10 and mu^8: 1.3e-8 and 2.4e-7 at mu = 0.5. The
    start has decayed by exp(-mu t)."""
    frequency = 1.0 - mu**2 / 16 + 17 * mu**4 / 3072 + 35 * mu**6 / 884736 - 678899 * mu**8 / 5096079360
    amplitude = 2.0 + mu**2 / 96 - 1033 * mu**4 / 552960 + 1019689 * mu**6 / 55738368000
    times, heights = maxima("van_der_pol", (2.1, 0.0), 30.0 / mu, {"mu": mu})
    assert 2.0 * np.pi / (times[-1] - times[-2]) == pytest.approx(frequency, abs=2e-8)
    assert heights[-1] == pytest.approx(amplitude, abs=4e-7)


@pytest.mark.parametrize(("a3", "height"), [(0.4, 1.0), (2.0, 1.5)])
def test_free_nonlinear_inertia_swings_with_a_period_in_closed_form(a3, height):
    """(1 + a3 q^2) q'^2 + q^2 is constant, so with q = A sin(s) the period is 4 E(m = -a3 A^2), complete elliptic."""
    free = {"a1": 0.0, "a2": 0.0, "a3": a3, "a4": 0.0}
    times, heights = maxima("nonlinear_inertia", (0.0, height), 40.0, free)
    np.testing.assert_allclose(heights, height, atol=1e-9)  # all energy at q = 0, where the inertia is 1
    np.testing.assert_allclose(np.diff(times), 4.0 * ellipe(-a3 * height**2), atol=1e-9)


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
