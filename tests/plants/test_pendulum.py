"""The upright pendulum against the closed solution of the free swing and the poles at the top."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import plants
from plants.pendulum import GRAVITY, PENDULUM, derivative

MASS, LENGTH = 0.8, 0.7
SLOW = np.sqrt(GRAVITY / LENGTH)


def test_the_free_swing_is_jacobis():
    """sin(b / 2) = k sn(K - w t, k) for the angle b from below, released at rest with k = sin(amplitude / 2)."""
    amplitude, t = 2.5, np.linspace(0.0, 4.0, 41)
    k = np.sin(0.5 * amplitude)
    below = 2.0 * np.arcsin(k * ellipj(ellipk(k * k) - SLOW * t, k * k)[0])
    p = (MASS, LENGTH, 0.0)
    # Tolerance of the integration 1e-11 a step; some hundred steps.
    found = solve_ivp(
        lambda t, x: derivative(t, x, (0.0,), (0.0,), p), (0.0, 4.0), (np.pi - amplitude, 0.0), method="DOP853",
        rtol=1e-12, atol=1e-12, t_eval=t,
    )  # fmt: skip
    np.testing.assert_allclose(np.pi - found.y[0], below, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.5])
def test_poles_and_holding_torque_at_a_lean(angle):
    model = plants.linearise(PENDULUM, (angle, 0.0), {"mass": MASS, "length": LENGTH, "damping": 0.3})
    inertia = MASS * LENGTH**2
    expected = np.roots([inertia, 0.3, -MASS * GRAVITY * LENGTH * np.cos(angle)])
    np.testing.assert_allclose(np.sort(model.poles.real), np.sort(expected.real), rtol=1e-12)
    np.testing.assert_allclose([model.B, model.E], [[[0.0], [1.0 / inertia]]] * 2, rtol=1e-12)
    np.testing.assert_allclose(model.input, [-MASS * GRAVITY * LENGTH * np.sin(angle)], atol=1e-12)
