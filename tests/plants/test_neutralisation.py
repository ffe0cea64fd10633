"""pH neutralisation: Henson and Seborg's own equations with their implicit pH, published state, second law, balances."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import plants
from plants.exergy import T0
from plants.neutralisation import chemistry

TANK = plants.get("ph_neutralisation")
ACID, BUFFER, BASE = (3e-3, 0.0), (-0.03, 0.03), (-3.05e-3, 5e-5)  # Wa, Wb [mol/L]


def charge(pH, Wa, Wb):
    """The titration equation as it is published, mol/L: 0 at the pH of a liquid."""
    share = (1.0 + 2.0 * 10.0 ** (pH - 10.25)) / (1.0 + 10.0 ** (6.35 - pH) + 10.0 ** (pH - 10.25))
    return Wa + 10.0 ** (pH - 14.0) - 10.0**-pH + Wb * share


def implicit_ph(Wa, Wb):
    return brentq(charge, 0.0, 14.0, args=(Wa, Wb), xtol=1e-14, rtol=1e-14)


def published(t, s, flows):
    """Balances of both invariants in the published form, mL and mol/L, at 14 cm; the probe reads the implicit pH."""
    Wa, Wb, probe = s
    volume = 207.0 * 14.0
    feeds = (ACID, BUFFER, BASE)
    changes = [sum(q * (feed[k] - s[k]) for q, feed in zip(flows, feeds, strict=True)) / volume for k in (0, 1)]
    return *changes, (implicit_ph(Wa, Wb) - probe) / 10.0


def invariants(x):
    """Wa and Wb [mol/L] of a state of the tank."""
    at = chemistry.speciation(x[0])
    return 1e-3 * chemistry.strong_acid(at, x[1]), 1e-3 * x[1]


def test_the_published_steady_state():
    """pH 7.0 with Wa -4.32e-4 M and Wb 5.28e-4 M at 16.6, 0.55 and 15.6 mL/s: to the digits in which they are given."""
    rates = TANK.derivative(0.0, TANK.initial(), (15.6 / 0.3,), TANK.calm(), TANK.nominal())
    held = plants.linearise(TANK, "pH 7").input[0]
    assert 0.3 * held == pytest.approx(15.6, abs=0.06)
    Wa, Wb = invariants(TANK.initial())
    assert (Wa, Wb) == (pytest.approx(-4.32e-4, abs=2e-6), pytest.approx(5.28e-4, abs=1e-6))
    assert np.abs(rates[:2]).max() < 4e-4  # of the flow's last digit
    q = np.array([16.6, 0.55, 15.6])
    mixed = [float(q @ [feed[k] for feed in (ACID, BUFFER, BASE)]) / q.sum() for k in (0, 1)]
    assert implicit_ph(*mixed) == pytest.approx(7.0, abs=0.05)


@pytest.mark.parametrize("percent", [10.0, 45.0, 62.0, 80.0])
def test_it_moves_as_the_published_equations_with_their_implicit_ph(percent):
    """Through flat and steep parts of the titration curve: pH as a state against a root at every instant."""
    p, start = TANK.nominal(), TANK.initial()
    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
    times = np.linspace(0.0, 240.0, 13)
    run = solve_ivp(
        lambda t, s: TANK.derivative(t, tuple(s), (percent,), (1e-6, -0.2e-6), p), (0.0, 240.0), start,
        t_eval=times, **options,
    ).y  # fmt: skip
    begin = (*invariants(start), start[2])
    flows = (17.6, 0.35, 0.3 * percent)
    expected = solve_ivp(published, (0.0, 240.0), begin, args=(flows,), t_eval=times, **options).y
    np.testing.assert_allclose(run[0], [implicit_ph(*s) for s in expected[:2].T], atol=1e-8)
    np.testing.assert_allclose(1e-3 * run[1], expected[1], rtol=1e-9)
    np.testing.assert_allclose(run[2], expected[2], atol=1e-8)
    assert np.ptp(run[0]) > 0.5


def test_both_invariants_are_balanced():
    """Wa and Wb change by what flows in and over, whatever the pH does: slopes of Wa along the motion by differences."""
    p, rng = TANK.nominal(), np.random.default_rng(6)
    for _ in range(40):
        x, percent = (rng.uniform(3.0, 11.0), rng.uniform(0.2, 2.0), 7.0), rng.uniform(0.0, 100.0)
        rates = np.array(TANK.derivative(0.0, x, (percent,), TANK.calm(), p))
        dt = 1e-4 / (1.0 + np.abs(rates).max())
        after, before = (np.array(invariants(np.array(x) + sign * dt * rates)) for sign in (1.0, -1.0))
        flows = (16.6e-6, 0.55e-6, 0.3e-6 * percent)
        own = np.array(invariants(x))
        entering = [sum(f * (feed[k] - own[k]) for f, feed in zip(flows, (ACID, BUFFER, BASE), strict=True))
                    for k in (0, 1)]  # fmt: skip
        np.testing.assert_allclose((after - before) / (2.0 * dt) * 207e-4 * 0.14, entering, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("feed", [ACID, BUFFER, BASE, (-4.32e-4, 5.28e-4)])
def test_bisection_finds_the_root_of_the_titration_curve(feed):
    found = chemistry.ph_of(1e3 * feed[0], 1e3 * feed[1])
    assert found == pytest.approx(implicit_ph(*feed), abs=1e-12)


def test_buffer_capacity_is_the_slope_of_the_titration_curve():
    for pH in np.linspace(2.5, 11.5, 19):
        slope = (charge(pH + 1e-4, 0.0, 5e-4) - charge(pH - 1e-4, 0.0, 5e-4)) / 2e-4
        assert 1e-3 * chemistry.buffer_capacity(chemistry.speciation(pH), 0.5) == pytest.approx(slope, rel=1e-6)


def ideal(Wa, Wb):
    """Free energy of an ideal dilute solution over R T [mol/m^3], summed over its species, with their standard values."""
    pH = implicit_ph(1e-3 * Wa, 1e-3 * Wb)
    h = 1e3 * 10.0**-pH
    k1, k2, kw = 1e3 * 10.0**-6.35, 1e3 * 10.0**-10.25, 1e-8
    acid = Wb / (1.0 + k1 / h + k1 * k2 / h**2)
    species = [(h, 0.0), (kw / h, -np.log(kw)), (acid, 0.0), (acid * k1 / h, -np.log(k1)),
               (acid * k1 * k2 / h**2, -np.log(k1 * k2))]  # fmt: skip
    return sum(c * (np.log(c) - 1.0 + standard) for c, standard in species if c > 0.0)


def test_loss_is_the_free_energy_that_mixing_destroys():
    """A drop of each feed is stirred into a large tank: free energies before less after, summed over the species.

    Drops of a millionth of the tank, added and taken away: the error is of their square.
    """
    p, share = TANK.nominal(), 1e-6
    for pH, Wb in ((4.0, 0.6), (7.0, 0.53), (8.3, 0.5), (10.0, 0.47)):
        at = chemistry.speciation(pH)
        inside = np.array([chemistry.strong_acid(at, Wb), Wb])
        lost = []
        for feed in (ACID, BUFFER, BASE):
            drop = 1e3 * np.array(feed)
            mixtures = [ideal(*(inside + s * (drop - inside))) for s in (share, -share)]
            slope = (mixtures[0] - mixtures[1]) / (2.0 * share)
            lost.append(ideal(*drop) - ideal(*inside) - slope)
        flows = (16.6e-6, 0.55e-6, 0.3e-6 * 50.0)
        expected = 8.314462618 * T0 * float(np.dot(flows, lost))
        found = TANK.entropy_rate(0.0, (pH, Wb, pH), (50.0,), TANK.calm(), p)
        assert found == pytest.approx(expected, rel=1e-6)
        assert min(lost) > 0.0


def test_every_operating_point_is_at_rest_with_the_slope_of_its_titration_curve():
    """Eightfold between pH 6.3 and 8.3, by finite differences of the implicit pH over the flow of base."""
    gains = {}
    for point in TANK.operating_points:
        model = plants.linearise(TANK, point)
        rates = TANK.derivative(0.0, point.state, tuple(model.input), TANK.calm(), TANK.nominal())
        np.testing.assert_allclose(rates, 0.0, atol=1e-10)
        gains[point.state[0]] = -np.linalg.solve(model.A, model.B)[0, 0]

        def settled(percent):
            q = np.array([16.6, 0.55, 0.3 * percent])
            return implicit_ph(*(float(q @ [f[k] for f in (ACID, BUFFER, BASE)]) / q.sum() for k in (0, 1)))

        held = model.input[0]
        assert settled(held) == pytest.approx(point.state[0], abs=1e-9)
        assert gains[point.state[0]] == pytest.approx((settled(held + 1e-3) - settled(held - 1e-3)) / 2e-3, rel=1e-4)
    assert gains[8.3] / gains[6.3] > 8.0
