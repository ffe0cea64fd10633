"""DC motor: the data sheet's no-load point, poles and step response of the text-book transfer function."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants

MOTOR = plants.get("dc_motor")
R, L, K, J, B = MOTOR.nominal()


def test_the_published_no_load_point():
    """3350 r/min and 0.15 A at 6 V, the sheet's two or three digits; the friction was derived from them."""
    matrix = plants.linearise(MOTOR, (0.0, 0.0, 0.0)).A[1:, 1:]
    speed, current = np.linalg.solve(matrix, [0.0, -6.0 / L])
    assert speed * 30.0 / np.pi == pytest.approx(3350.0, rel=2e-3)
    assert current == pytest.approx(0.15, rel=5e-3)


def test_units_of_the_data_sheet():
    ounce_inch = 0.45359237 / 16.0 * 9.80665 * 0.0254  # N m
    assert pytest.approx(2.0 * ounce_inch, rel=1e-4) == K
    assert pytest.approx(150e-6 * ounce_inch, rel=1e-4) == J


def test_poles_are_those_of_the_transfer_function():
    """Speed over voltage: k / (L J s^2 + (R J + L b) s + R b + k^2); the shaft integrates."""
    poles = plants.linearise(MOTOR, "rest").poles
    expected = np.append(np.roots([L * J, R * J + L * B, R * B + K**2]), 0.0)
    np.testing.assert_allclose(np.sort_complex(poles), np.sort_complex(expected), rtol=1e-9, atol=1e-9)


def test_a_step_of_voltage_turns_the_shaft_as_the_partial_fractions_say():
    """From rest, angle over V / s: residues of k / (s^2 (L J s^2 + ...)); load torque in the same way."""
    a, b = np.roots([L * J, R * J + L * B, R * B + K**2])
    gain, t = K / (L * J) * 3.0, np.linspace(0.0, 0.3, 31)
    expected = gain * (
        t / (a * b) + (a + b) / (a * b) ** 2 + np.exp(a * t) / (a**2 * (a - b)) - np.exp(b * t) / (b**2 * (a - b))
    )

    def rates(t, x):
        return MOTOR.derivative(t, tuple(x), (3.0,), (0.0,), MOTOR.nominal())

    run = solve_ivp(rates, (0.0, 0.3), (0.0, 0.0, 0.0), method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t)
    np.testing.assert_allclose(run.y[0], expected.real, atol=1e-7)  # the residues lose digits: 1e16 * 1e-16 of 50 rad


def test_a_held_shaft_only_heats_its_winding():
    torque = -1e-3
    current = -torque / K
    x, u = (1.0, 0.0, current), (R * current,)
    assert MOTOR.derivative(0.0, x, u, (torque,), MOTOR.nominal()) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert MOTOR.entropy_rate(0.0, x, u, (torque,), MOTOR.nominal()) == pytest.approx(R * current**2)
    assert MOTOR.supplied_power(0.0, x, u, (torque,), MOTOR.nominal()) == pytest.approx(R * current**2)
