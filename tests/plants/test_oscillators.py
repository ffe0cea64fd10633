"""The two oscillators against equations written anew, published series of the limit cycle, a period in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipe

import plants
from plants.excitation import Sine

FORCE, EXCITATION = Sine(0.6, 0.21, 0.4), Sine(0.15, 0.13, 1.0)
T_END = 8.0


def sine(part, t):
    return part.amplitude * np.sin(2.0 * np.pi * part.frequency * t + part.phase)


def van_der_pol(t, s, mu):
    q, v = s
    f, xi = sine(FORCE, t), sine(EXCITATION, t)
    return [v, f + xi - mu * (q**2 - 1.0) * v - (1.0 + xi) * q]


def nonlinear_inertia(t, s, a1, a2, a3, a4):
    """d/dt (dL/dv) - dL/dq = Q with L = (1 + a3 q^2) v^2 / 2 - q^2 / 2 - a2 q^4 / 4: no algebraic loop to solve."""
    q, momentum = s
    f, xi = sine(FORCE, t), sine(EXCITATION, t)
    v = momentum / (1.0 + a3 * q**2)
    return [v, a3 * q * v**2 - q - a2 * q**3 - (a1 * q**2 + a4) * v - xi * q + f + xi]


def to_momentum(state, a3):
    return state[0], state[1] * (1.0 + a3 * state[0] ** 2)


SIGNALS = {"inputs": (FORCE,), "disturbances": (EXCITATION,)}


def simulated(name, initial, parameters, step=0.005):
    return plants.simulate(plants.get(name), T_END, step, initial, parameters, **SIGNALS).states[-1]


def integrated(equations, initial, parameters):
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    return solve_ivp(equations, (0.0, T_END), initial, args=parameters, **options).y[:, -1]


# rk4 at 5 ms on motions with rates of a few 1/s is accurate to (0.02)^4, some 1e-8; measured 1e-10 to 4e-9.
def test_van_der_pol_moves_as_independently_derived():
    expected = integrated(van_der_pol, (1.5, -0.8), (2.0,))
    np.testing.assert_allclose(simulated("van_der_pol", (1.5, -0.8), {"mu": 2.0}), expected, rtol=0.0, atol=3e-8)


def test_nonlinear_inertia_moves_as_its_lagrangian_says():
    a = (0.3, 0.2, 0.7, 0.1)
    initial = (1.8, 0.5)
    expected = integrated(nonlinear_inertia, to_momentum(initial, a[2]), a)
    state = simulated("nonlinear_inertia", initial, a)
    np.testing.assert_allclose(to_momentum(state, a[2]), expected, rtol=0.0, atol=3e-8)


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
