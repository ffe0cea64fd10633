"""Temperature-control kit: its public equations in their own form, and entropy from the second law."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants
from plants.exergy import T0

HEATER = plants.get("heater")


def published(t, s, q1, q2, ambient):
    """The kit's energy balance, all terms one by one, temperatures in degrees Celsius (radiation in kelvin)."""
    h1, h2, s1, s2 = s
    k1, k2, ka = h1 + 273.15, h2 + 273.15, ambient + 273.15
    m, cp, a, a_s, u, u_s, eps, sigma, tau = (
        4.0 / 1000.0,
        500.0,
        10.0 / 100**2,
        2.0 / 100**2,
        10.0,
        20.0,
        0.9,
        5.67e-8,
        20.0,
    )
    conv12, rad12 = u_s * a_s * (h2 - h1), eps * sigma * a_s * (k2**4 - k1**4)
    d1 = (u * a * (ambient - h1) + eps * sigma * a * (ka**4 - k1**4) + conv12 + rad12 + 0.01 * q1) / (m * cp)
    d2 = (u * a * (ambient - h2) + eps * sigma * a * (ka**4 - k2**4) - conv12 - rad12 + 0.0075 * q2) / (m * cp)
    return d1, d2, (h1 - s1) / tau, (h2 - s2) / tau


def test_it_warms_as_the_published_equations_say():
    def rates(t, s):
        return HEATER.derivative(t, tuple(s), (70.0, 40.0), (-4.0,), HEATER.nominal())

    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-10}
    run = solve_ivp(rates, (0.0, 600.0), HEATER.initial(), **options).y[:, -1]
    expected = solve_ivp(published, (0.0, 600.0), (23.0,) * 4, args=(70.0, 40.0, 19.0), **options).y[:, -1]
    np.testing.assert_allclose(run - 273.15, expected, atol=1e-7)
    assert 50.0 < expected[0] < 70.0  # degC: what the kit reaches at 70 %


def test_entropy_is_what_the_second_law_leaves():
    """Production = entropy of the heaters' metal and of what the surroundings take up: no formula of a single loss."""
    p = HEATER.nominal()
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, w = tuple(rng.uniform(290.0, 360.0, 4)), (rng.uniform(-8.0, 8.0),)
        u = tuple(rng.uniform(0.0, 100.0, 2))
        rates = HEATER.derivative(0.0, x, u, w, p)
        metal = sum(p[0] * rate / T for rate, T in zip(rates[:2], x[:2], strict=True))
        released = p[6] * u[0] + p[7] * u[1] - p[0] * (rates[0] + rates[1])
        production = HEATER.entropy_rate(0.0, x, u, w, p) / T0
        assert production == pytest.approx(metal + released / (p[9] + w[0]), rel=1e-9)
        assert production > 0.0
