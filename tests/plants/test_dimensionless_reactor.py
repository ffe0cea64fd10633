"""The dimensionless reactor: its published steady states, and the dimensional plant in other coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import plants
from plants.exergy import T0

REACTOR, CSTR = plants.get("cstr_dimensionless"), plants.get("cstr")


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
