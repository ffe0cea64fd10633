"""Temperature-control kit and steam valve: equations in forms of their own, gains, entropy from the second law."""

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


VALVE = plants.get("equal_percentage_valve")


def steam_heater(t, s, demand, colder, weaker):
    """Degrees Celsius, the valve as a power of its rangeability, heat per degree in kW/K."""
    stem, water, sensor = s
    steam = 270.0 * (1.0 - weaker) * 50.0**stem / 50.0  # kW
    return (
        (demand - stem) / 2.5,
        (1.0 * 4.186 * (15.0 - colder - water) + steam) / (20.0 * 4.186),
        (water - sensor) / 6.0,
    )


def test_steam_warms_the_water_as_its_heat_balance_says():
    p, start = VALVE.nominal(), VALVE.initial()

    def rates(t, s):
        return VALVE.derivative(t, tuple(s), (0.9,), (-2.0, -0.04), p)

    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-10}
    run = solve_ivp(rates, (0.0, 90.0), start, **options).y[:, -1]
    begin = (start[0], start[1] - 273.15, start[2] - 273.15)
    expected = solve_ivp(steam_heater, (0.0, 90.0), begin, args=(0.9, 2.0, 0.04), **options).y[:, -1]
    np.testing.assert_allclose(run - [0.0, 273.15, 273.15], expected, atol=1e-7)
    assert expected[1] > 50.0


def test_the_valves_gain_changes_sixteen_to_one_over_its_working_travel():
    """Between 22 % and 93 % of the travel, with one time constant: no fixed gains have one speed everywhere."""
    models = {point.state[0]: plants.linearise(VALVE, point) for point in VALVE.operating_points}
    gains = {x: -(m.C @ np.linalg.solve(m.A, m.B))[VALVE.index("measurements", "sensor"), 0] for x, m in models.items()}
    low, high = min(gains), max(gains)
    assert (low, high) == (0.22, pytest.approx(0.93, abs=2e-3))
    assert gains[high] / gains[low] == pytest.approx(16.0, rel=1e-9)
    slope = np.log(50.0) * 270e3 / 4186.0  # K for each part of the travel, open
    for x, gain in gains.items():
        assert gain == pytest.approx(slope * 50.0 ** (x - 1.0), rel=1e-9)
        np.testing.assert_allclose(np.sort(models[x].poles.real), [-0.4, -1.0 / 6.0, -0.05], rtol=1e-9)


def test_every_operating_point_of_the_valve_is_at_rest():
    for point in VALVE.operating_points:
        rates = VALVE.derivative(0.0, point.state, point.state[:1], VALVE.calm(), VALVE.nominal())
        np.testing.assert_allclose(rates, 0.0, atol=1e-12)


def test_the_steam_heaters_entropy_is_what_the_second_law_leaves():
    """Entropy of water that flows out less in, of the contents, less what came with heat at the boiler's temperature."""
    p = VALVE.nominal()
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, w = (rng.uniform(0.0, 1.0), *rng.uniform(285.0, 360.0, 2)), (rng.uniform(-8.0, 8.0), rng.uniform(-0.2, 0.2))
        contents = 4186.0 * 20.0 * VALVE.derivative(0.0, x, (0.5,), w, p)[1] / x[1]
        carried = 4186.0 * np.log(x[1] / (288.15 + w[0]))
        heat = 270e3 * (1.0 + w[1]) * 50.0 ** (x[0] - 1.0)
        production = VALVE.entropy_rate(0.0, x, (0.5,), w, p) / T0
        assert production == pytest.approx(contents + carried - heat / 425.0, rel=1e-9)
        assert production > 0.0
