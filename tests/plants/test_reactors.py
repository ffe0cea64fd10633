"""Stirred-tank reactors: published steady states and eigenvalues, other units and coordinates, the second law."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root

import plants
from plants.exergy import T0

CSTR, BEQUETTE = plants.get("cstr"), plants.get("cstr_bequette")


def litres_and_minutes(t, s, coolant):
    """Seborg, Edgar and Mellichamp in their own units: mol/L, K, min."""
    c, temperature = s
    k = 7.2e10 * np.exp(-8750.0 / temperature)
    return (
        100.0 / 100.0 * (1.0 - c) - k * c,
        (350.0 - temperature)
        + 5e4 / (1000.0 * 0.239) * k * c
        + 5e4 / (100.0 * 1000.0 * 0.239) * (coolant - temperature),
    )


def steady_states(plant, coolant, low, high):
    """Temperatures at which heat made equals heat removed, by a scan for changes of sign; with their concentrations."""
    flow, volume, capacity, k0, activation, heat, transfer, feed, entering = plant.nominal()

    def concentration(T):
        return feed / (1.0 + k0 * np.exp(-activation / T) * volume / flow)

    def excess(T):
        made = heat * flow * (feed - concentration(T))
        return made + capacity * flow * (entering - T) + transfer * (coolant - T)

    grid = np.linspace(low, high, 2001)
    signs = np.sign([excess(T) for T in grid])
    roots = [brentq(excess, grid[k], grid[k + 1], xtol=1e-10) for k in np.flatnonzero(np.diff(signs))]
    return [(concentration(T), T) for T in roots]


def test_seborgs_three_steady_states():
    """0.8773 mol/L, 324.48 K and 0.5 mol/L, 350 K are published; the third is the ignited one. All are equilibria."""
    found = steady_states(CSTR, 300.0, 280.0, 450.0)
    assert len(found) == 3
    np.testing.assert_allclose(found[0], (877.25294608, 324.475443432), rtol=1e-8)
    np.testing.assert_allclose(found[1], (500.0, 350.0), rtol=5e-4)  # "0.5 mol/L at 350 K"
    for state in found:
        rates = CSTR.derivative(0.0, state, (300.0,), (0.0, 0.0), CSTR.nominal())
        np.testing.assert_allclose(rates, 0.0, atol=1e-9)


def test_bequettes_three_steady_states_and_eigenvalues():
    """Bequette's tables: states to four digits, eigenvalues [1/h] to three or four."""
    found = steady_states(BEQUETTE, 298.0, 298.0, 400.0)
    published = [
        (8.564, 311.2, (-0.8957, -0.5166)), (5.518, 339.1, (-0.8369, 0.4942)), (2.359, 368.1, (-0.7657 + 0.9584j, -0.7657 - 0.9584j)),
    ]  # fmt: skip
    for (c, temperature), (c_published, t_published, eigenvalues) in zip(found, published, strict=True):
        assert c / 1000.0 == pytest.approx(c_published, abs=2e-3)
        assert temperature == pytest.approx(t_published, abs=0.06)
        poles = 3600.0 * plants.linearise(BEQUETTE, (c, temperature), input=(298.0,)).poles
        np.testing.assert_allclose(np.sort_complex(poles), np.sort_complex(np.array(eigenvalues)), atol=4e-3)


def test_it_moves_in_seconds_as_in_minutes():
    """From the unstable middle the reactor ignites or dies down; SI units must not change which, nor when."""

    def rates(t, s):
        return CSTR.derivative(t, tuple(s), (301.0,), (0.0, 0.0), CSTR.nominal())

    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-11}
    run = solve_ivp(rates, (0.0, 240.0), (500.0, 349.0), **options).y[:, -1]
    expected = solve_ivp(litres_and_minutes, (0.0, 4.0), (0.5, 349.0), args=(301.0,), **options).y[:, -1]
    np.testing.assert_allclose(run, (1000.0 * expected[0], expected[1]), rtol=1e-7)


@pytest.mark.parametrize("plant", [CSTR, BEQUETTE], ids=lambda plant: plant.name)
def test_entropy_is_what_the_second_law_leaves(plant):
    """Contents' entropy grows by what flows and heats bring and by production: production is the rest, and positive.

    The heat of reaction enters at the reactor's temperature. Against the formulas of heat transfer and mixing.
    """
    flow, volume, capacity, k0, activation, heat, transfer, feed, entering = p = plant.nominal()
    rng = np.random.default_rng(3)
    for _ in range(20):
        c, T, coolant = rng.uniform(0.1, 0.9) * feed, rng.uniform(300.0, 390.0), rng.uniform(280.0, 330.0)
        w = (rng.uniform(-10.0, 10.0), rng.uniform(-0.1, 0.1) * feed)
        rate = plant.derivative(0.0, (c, T), (coolant,), w, p)[1]
        contents = capacity * volume * rate / T
        carried = capacity * flow * np.log(T / (entering + w[0]))
        jacket = transfer * (coolant - T) / coolant
        made = heat * volume * k0 * np.exp(-activation / T) * c / T
        production = plant.entropy_rate(0.0, (c, T), (coolant,), w, p) / T0
        assert production == pytest.approx(contents + carried - jacket - made, rel=1e-9, abs=1e-12 * made)
        assert production > 0.0


@pytest.mark.parametrize("plant", [CSTR, BEQUETTE], ids=lambda plant: plant.name)
def test_disturbances_are_changes_of_the_feed(plant):
    x, u, p = plant.initial(), (300.0,), plant.nominal()
    moved = (*p[:7], p[7] - 50.0, p[8] + 3.0)
    found = plant.derivative(0.0, x, u, (3.0, -50.0), p)
    assert found == pytest.approx(plant.derivative(0.0, x, u, (0.0, 0.0), moved), rel=1e-12)


def test_operating_points_are_unstable_where_they_are_said_to_be():
    for plant in (CSTR, BEQUETTE):
        assert plants.linearise(plant, plant.operating_points[0]).poles.real.max() > 0.0
    poles = 60.0 * plants.linearise(CSTR, "350 K").poles.real
    np.testing.assert_allclose(poles, [2.834, -0.454], atol=3e-3)  # 1/min; text-book values of the middle state


REACTOR = plants.get("cstr_dimensionless")


@pytest.mark.parametrize(
    ("state", "unstable"), [((0.144, 0.886), False), ((0.447, 2.752), True), ((0.765, 4.705), False)]
)
def test_published_steady_states(state, unstable):
    """To the three digits in which they are quoted; the middle one alone is unstable."""
    found = root(lambda x: REACTOR.derivative(0.0, tuple(x), (0.0,), (0.0,), REACTOR.nominal()), state)
    assert found.success
    np.testing.assert_allclose(found.x, state, atol=6e-4)
    poles = plants.linearise(REACTOR, tuple(found.x), input=(0.0,)).poles
    assert (poles.real.max() > 0.0) == unstable


def dimensionless(p):
    """Da, B, gamma, beta of a dimensional reactor, and its residence time [s]."""
    flow, volume, capacity, k0, activation, heat, transfer, feed, entering = p
    gamma, residence = activation / entering, volume / flow
    return (
        k0 * np.exp(-gamma) * residence, heat * feed * gamma / (capacity * entering), gamma,
        transfer / (capacity * flow),
    ), residence  # fmt: skip


def test_it_is_the_dimensional_reactor_in_other_coordinates():
    """Rates and entropy production agree at random states: two sets of equations written apart from one another."""
    p = CSTR.nominal()
    flow, _, capacity, _, _, _, _, feed, entering = p
    q, residence = dimensionless(p)
    gamma = q[2]
    rng = np.random.default_rng(5)

    def scaled(T):
        return gamma * (T - entering) / entering

    for _ in range(20):
        c, T = rng.uniform(0.1, 0.9) * feed, rng.uniform(310.0, 400.0)
        coolant, warmer = rng.uniform(285.0, 330.0), rng.uniform(-8.0, 8.0)
        rates = CSTR.derivative(0.0, (c, T), (coolant,), (warmer, 0.0), p)
        x, u, w = (1.0 - c / feed, scaled(T)), (scaled(coolant),), (scaled(entering + warmer),)
        expected = (-rates[0] / feed * residence, gamma * rates[1] / entering * residence)
        np.testing.assert_allclose(REACTOR.derivative(0.0, x, u, w, q), expected, rtol=1e-10, atol=1e-12)
        production = CSTR.entropy_rate(0.0, (c, T), (coolant,), (warmer, 0.0), p) / T0
        assert REACTOR.entropy_rate(0.0, x, u, w, q) == pytest.approx(production * gamma / (capacity * flow), rel=1e-9)
