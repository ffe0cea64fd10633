"""Gain of algebraic loops and the damping that loop-free forms add; against formulas in NumPy and published gains."""

import numpy as np
import pytest

import plants
from experiments.reproduce.mechanics import systems
from plants.core.algebraic_loop.loop_free import loop_delay
from tests.reference import algebraic_loop_twin as twin

INERTIA = plants.get("nonlinear_inertia")
MODES = ("loop_free", "loop_free_relaxed", "loop_free_filtered")


def jacobi_radius(matrix):
    """Spectral radius of I - diag(M)^-1 M: Jacobi's method converges where it is below 1."""
    return np.abs(np.linalg.eigvals(np.eye(len(matrix)) - matrix / np.diag(matrix)[:, None])).max()


def test_the_gain_is_the_spectral_radius_of_jacobis_method():
    light = twin.cart(light=True)
    for x in np.random.default_rng(0).uniform(-3.0, 3.0, (5, 6)):
        matrix = twin.Counted(light, (0.7,)).matrices(x)[0]
        gain = plants.loop_gain(light, tuple(x), inputs={"push": 0.7}, t=2.0)
        assert gain == pytest.approx(jacobi_radius(matrix), rel=1e-12)
    assert plants.loop_gain(light) > 1.0 > plants.loop_gain(light, parameters=(5.0, 1.0, 0.05))


def test_the_gain_of_one_acceleration():
    assert plants.loop_gain(INERTIA, {"position": 1.7}) == pytest.approx(0.4 * 1.7**2)
    assert plants.loop_gain(INERTIA, (-1.7, 3.0), {"a3": 0.1}, disturbances=(5.0,)) == pytest.approx(0.1 * 1.7**2)
    assert plants.loop_gain(twin.two_masses(0.6)) == pytest.approx(0.6)
    assert plants.loop_gain(twin.two_masses(0.0)) == 0.0


def test_plants_without_a_loop_and_unknown_names_are_refused():
    with pytest.raises(ValueError, match="plant 'van_der_pol' has no algebraic loop"):
        plants.loop_gain(plants.get("van_der_pol"))
    with pytest.raises(ValueError, match="did you mean 'position'"):
        plants.loop_gain(INERTIA, {"positon": 1.0})


@pytest.mark.parametrize(
    ("coupling", "mode", "step", "predicted"),
    [(0.6, "loop_free", 1e-3, 0.0169), (-0.6, "loop_free", 1e-3, -0.0011), (0.6, "loop_free_filtered", 4e-4, 0.0675),
     (0.6, "loop_free_relaxed", 2e-3, 0.0675)],
)  # fmt: skip
def test_two_masses_gain_or_lose_energy_as_predicted(plain, coupling, mode, step, predicted):
    """Two unit masses, stiffness 9, anti-phase: constrained dynamics, section 3; a filter of 4 ms is 10 steps of 0.4 ms."""
    plant = twin.two_masses(coupling)
    run = plain(plant, 4.0, step, algebraic_loop=mode)
    omega = np.sqrt(9.0 / (1.0 - coupling))
    apart, rate = (run.states[:, k] - run.states[:, k + 1] for k in (0, 2))
    later = run.time >= 0.2  # the filter has settled
    # omega makes the envelope ripple by the shift of frequency, which a fit over several periods does not see.
    level = 0.5 * np.log(apart**2 + (rate / omega) ** 2)
    measured = np.polyfit(run.time[later], level[later], 1)[0]
    found = plants.spurious_damping(plant, loop_delay(mode, step))
    sigma = found.growth[np.argmin(np.abs(found.eigenvalues.imag - omega))]
    assert sigma == pytest.approx(predicted, rel=0.05)  # two digits are given
    assert measured == pytest.approx(sigma, rel=0.05)
    assert run.loop.growth == found.growth.max()


def test_damped_modes_are_moved_by_the_delay_as_a_run_shows(plain):
    plant = twin.two_masses(0.6, damping=0.5)
    found = plants.spurious_damping(plant, 0.01)
    # The delayed loop itself, as an eigenvalue problem: (1 + 0.6 exp(-0.01 s)) s^2 ... for the anti-phase mode.
    s = found.eigenvalues[-1]
    moved = s
    for _ in range(50):  # Newton on s^2 (1 - 0.6 exp(-0.01 s)) + 0.5 s + 9 = 0
        late = 0.6 * np.exp(-0.01 * moved)
        value = moved**2 * (1.0 - late) + 0.5 * moved + 9.0
        moved -= value / (2.0 * moved * (1.0 - late) + 0.01 * late * moved**2 + 0.5)
    # First order in the delay: the rest is of the size delay * |s| = 0.05 of it.
    assert found.growth[-1] == pytest.approx((moved - s).real, rel=0.15)


def test_a_run_reports_the_largest_gain_and_when(plain):
    run = plain(INERTIA, 3.0, 0.01, {"position": 0.5, "velocity": 1.0}, algebraic_loop="solved")
    gains = 0.4 * run["position"] ** 2
    np.testing.assert_allclose(run.loop.gains, gains, rtol=1e-14)
    assert run.loop.gain == gains.max()
    assert run.loop.gain_time == run.time[np.argmax(gains)] > 0.0
    assert run.loop.growth is None
    without = plain(plants.get("van_der_pol"), 0.1, 0.01)
    assert (without.loop, without.evaluations) == (None, 40)
    text = str(run.loop)
    assert "algebraic loop solved: 1200 evaluations; gain up to 0.4" in text


LINKS = (1, 2, 3)


def upright(links, speed=0.3):
    """All links straight up; speed, turning and the links' rates are small and different."""
    return (0.0,) * (5 + links) + tuple(speed * (1.0 - 0.4 * k) for k in range(2 + links))


def by_hand(links, angles):
    """H = D'MD of the carts in (vf, om, va_0, ...), written down from their geometry at heading 0."""
    r, b, mw, jw, jd, lc, ll = 0.1, 0.2, 0.5, 0.0025, 0.00125, 0.25, 0.5
    h = np.zeros((2 + links,) * 2)
    h[0, 0] = 2.0 * mw + 2.0 * jw / r**2
    h[1, 1] = 2.0 * mw * b**2 + 2.0 * jd + 2.0 * jw * (b / r) ** 2
    for i in range(links):
        mass = 5.0 / (i + 1)
        arms = np.array([ll] * i + [lc] + [0.0] * (links - i - 1))
        forward, up, side = np.zeros(2 + links), np.zeros(2 + links), np.zeros(2 + links)
        forward[0], forward[2:], up[2:] = 1.0, arms * np.cos(angles), -arms * np.sin(angles)
        side[1] = arms @ np.sin(angles)
        h += mass * sum(np.outer(row, row) for row in (forward, up, side))
        h[1, 1] += (0.1 * np.sin(angles[i]) ** 2 + 0.05 * np.cos(angles[i]) ** 2) / (i + 1)
        h[2 + i, 2 + i] += 0.12 / (i + 1)
    return h


@pytest.mark.parametrize("links", LINKS)
def test_the_gain_of_the_carts_is_that_of_jacobis_method_on_their_inertia(links):
    plant = systems.cart(links).build()
    for angles in np.random.default_rng(0).uniform(-np.pi, np.pi, (8, links)):
        h = by_hand(links, angles)
        x = (0.0,) * 5 + tuple(angles) + (0.1,) * (2 + links)
        np.testing.assert_allclose(plant.mass_matrix(*plant.equations.block(0.0, x)), h, rtol=1e-12, atol=1e-13)
        gain = jacobi_radius(h)
        assert plants.loop_gain(plant, x) == pytest.approx(gain, rel=1e-12)


@pytest.mark.parametrize(("links", "published", "largest"), [(1, 0.74, 0.7455), (2, 1.28, 1.2859), (3, 1.77, 1.8391)])
def test_the_largest_gains_are_met_upright_and_are_those_published(links, published, largest):
    """Published are the largest of sampled states (0.74, 1.28, 1.77); the largest of all are met with straight links."""
    plant = systems.cart(links).build()
    gain = plants.loop_gain(plant, upright(links))
    assert gain == pytest.approx(largest, abs=1e-4)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (300, links))
    met = [jacobi_radius(by_hand(links, a)) for a in angles]
    assert max(met) < gain + 1e-12
    assert max(met) == pytest.approx(published, abs=0.01)


def test_forms_with_multipliers_have_no_loop_and_say_so():
    plant = systems.cart(1).build("routh")
    assert not plant.has_loop
    with pytest.raises(ValueError, match="has no algebraic loop"):
        plants.simulate(plant, 0.01, 1e-3, algebraic_loop="iterated")
