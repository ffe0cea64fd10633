"""Magnetic levitation: Hamilton's equations in momentum and flux, poles, and the balance that needs L(x)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants

BALL = plants.get("magnetic_levitation")
M, C, L_INF, R, B = BALL.nominal()
G = 9.81


def hamilton(t, s, voltage, force):
    """H = p^2 / (2 m) - m g x + flux^2 / (2 L(x)): no force law and no induced voltage is written down."""
    x, momentum, flux = s
    inductance = L_INF + 2.0 * C / x
    slope = -2.0 * C / x**2
    speed, current = momentum / M, flux / inductance
    return speed, M * G + 0.5 * current**2 * slope - B * speed + force(t), voltage(t) - R * current


def test_the_ball_moves_as_hamilton_says():
    def voltage(t):
        return 80.0 + 8.0 * np.sin(30.0 * t)

    def force(t):
        return 0.01 * np.cos(17.0 * t)

    def rates(t, s):
        return BALL.derivative(t, tuple(s), (voltage(t),), (force(t),), BALL.nominal())

    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
    start = (0.08, 0.05, 2.0)
    run = solve_ivp(rates, (0.0, 0.15), start, **options).y[:, -1]
    canonical = (start[0], M * start[1], (L_INF + 2.0 * C / start[0]) * start[2])
    x, momentum, flux = solve_ivp(hamilton, (0.0, 0.15), canonical, args=(voltage, force), **options).y[:, -1]
    # The unstable mode (14 1/s) magnifies the integrators' errors by e^2 only.
    np.testing.assert_allclose(run, (x, momentum / M, flux / (L_INF + 2.0 * C / x)), rtol=1e-8)


@pytest.mark.parametrize("gap", [0.08, 0.1, 0.12])
def test_poles_about_a_held_ball(gap):
    """(m s^2 + b s - 2 m g / x)(L s + R) + (2 C I / x^2)^2 s = 0, by hand from the linear equations."""
    current = gap * np.sqrt(M * G / C)
    model = plants.linearise(BALL, (gap, 0.0, current))
    assert model.input[0] == pytest.approx(R * current, rel=1e-12)
    coupling = 2.0 * C * current / gap**2
    characteristic = np.polymul([M, B, -2.0 * M * G / gap], [L_INF + 2.0 * C / gap, R])
    characteristic = np.polyadd(characteristic, [coupling**2, 0.0])
    np.testing.assert_allclose(np.sort_complex(model.poles), np.sort_complex(np.roots(characteristic)), rtol=1e-8)
    assert (model.poles.real > 0.0).sum() == 1


def test_more_voltage_makes_the_gap_smaller():
    model = plants.linearise(BALL, BALL.operating_points[0])
    static = -model.C[0] @ np.linalg.solve(model.A, model.B[:, 0])
    unstable = model.poles.real.max() > 0.0
    assert unstable
    assert static > 0.0  # det A > 0: of an odd number of unstable poles the static gain has the other sign
    assert model.A[1, 2] * model.B[2, 0] < 0.0  # at once, the ball is pulled up
    assert all(high <= 0.0 for high in BALL.channels[0].gains_high)


def test_a_constant_inductance_would_break_the_balance():
    """Without the part of L(x) that moves, the energy misses what the ball's motion takes from the field."""
    x, u, p = (0.05, 0.4, 1.5), (40.0,), BALL.nominal()
    gap, speed, current = x
    _, acceleration, current_rate = BALL.derivative(0.0, x, u, (0.0,), p)
    supplied = BALL.supplied_power(0.0, x, u, (0.0,), p) - BALL.entropy_rate(0.0, x, u, (0.0,), p)
    kinetic = M * speed * acceleration - M * G * speed
    moving = (L_INF + 2.0 * C / gap) * current * current_rate - C / gap**2 * speed * current**2
    assert kinetic + moving == pytest.approx(supplied, rel=1e-12)
    assert abs(kinetic + L_INF * current * current_rate - supplied) > 0.01 * abs(supplied)
