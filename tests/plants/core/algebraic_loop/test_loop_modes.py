"""The reduced equations H w' = r as an algebraic loop: gains, sweeps, what a delay of the accelerations does."""

import numpy as np
import pytest

import plants
from benchmarks.mechanics import systems
from plants.core.algebraic_loop.loop_free import loop_delay
from plants.mechanics import Mechanism

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


def jacobi(h):
    return np.eye(len(h)) - h / np.diag(h)[:, None]


@pytest.mark.parametrize("links", LINKS)
def test_the_gain_of_the_carts_is_that_of_jacobis_method_on_their_inertia(links):
    plant = systems.cart(links).build()
    for angles in np.random.default_rng(0).uniform(-np.pi, np.pi, (8, links)):
        h = by_hand(links, angles)
        x = (0.0,) * 5 + tuple(angles) + (0.1,) * (2 + links)
        np.testing.assert_allclose(plant.mass_matrix(*plant.equations.block(0.0, x)), h, rtol=1e-12, atol=1e-13)
        gain = np.abs(np.linalg.eigvals(jacobi(h))).max()
        assert plants.loop_gain(plant, x) == pytest.approx(gain, rel=1e-12)


@pytest.mark.parametrize(("links", "published", "largest"), [(1, 0.74, 0.7455), (2, 1.28, 1.2859), (3, 1.77, 1.8391)])
def test_the_largest_gains_are_met_upright_and_are_those_published(links, published, largest):
    """Published are the largest of sampled states (0.74, 1.28, 1.77); the largest of all are met with straight links."""
    plant = systems.cart(links).build()
    gain = plants.loop_gain(plant, upright(links))
    assert gain == pytest.approx(largest, abs=1e-4)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (300, links))
    met = [np.abs(np.linalg.eigvals(jacobi(by_hand(links, a)))).max() for a in angles]
    assert max(met) < gain + 1e-12
    assert max(met) == pytest.approx(published, abs=0.01)


@pytest.mark.parametrize("links", LINKS)
def test_gauss_seidel_and_newton_give_the_solved_accelerations(links):
    plant = systems.cart(links).build()
    x = list(upright(links))
    x[5 : 5 + links] = (0.3, -0.2, 0.1)[:links]
    ends = {
        mode: plants.simulate(plant, 0.2, 1e-3, x, inputs={"tL": 0.3, "tR": 0.1}, algebraic_loop=mode).states[-1]
        for mode in ("solved", "gauss_seidel", "iterated_exact")
    }
    for mode in ("gauss_seidel", "iterated_exact"):
        np.testing.assert_allclose(ends[mode], ends["solved"], rtol=1e-9, atol=1e-9, err_msg=mode)


@pytest.mark.parametrize(("links", "grows"), [(1, False), (2, True), (3, True)])
def test_jacobis_sweeps_diverge_where_the_gain_is_above_1(links, grows):
    plant = systems.cart(links).build()
    block = (0.0, upright(links), (0.3, 0.1, *(0.0,) * (links - 1)), (), plant.nominal())
    h, r = np.array(plant.mass_matrix(*block), float), np.array(plant.force(*block), float)
    wanted = np.array(plant.derivative(*block)[5 + links :], float)
    errors, a = [], np.zeros(len(r))
    for _ in range(60):
        a = (r - (h - np.diag(np.diag(h))) @ a) / np.diag(h)
        errors.append(np.abs(a - wanted).max())
    rate = (errors[-1] / errors[-21]) ** (1.0 / 20.0)
    assert rate == pytest.approx(plants.loop_gain(plant, block[1]), rel=0.02)
    assert (rate > 1.0) == grows


def test_a_raw_delay_of_the_cart_with_two_links_diverges_and_sooner_with_smaller_steps():
    plant = systems.cart(2).build()
    times = []
    for step in (1e-3, 5e-4):
        with pytest.raises(plants.DivergedError) as caught:
            plants.simulate(plant, 0.5, step, upright(2), algebraic_loop="loop_free")
        times.append(float(str(caught.value).split("t = ")[1].split(" s")[0]))
    assert times[1] < times[0]


def test_a_raw_delay_of_the_cart_with_one_link_is_of_first_order():
    plant = systems.cart(1).build()
    x = (0, 0, 0, 0, 0, 0.3, 0.1, 0.2, 0.0)
    right = plants.simulate(plant, 0.5, 1e-3, x).states[-1]
    off = [
        np.abs(plants.simulate(plant, 0.5, step, x, algebraic_loop="loop_free").states[-1] - right).max()
        for step in (1e-3, 5e-4)
    ]
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.1)


def two_masses(coupling):
    mech = Mechanism("two_masses")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates()
    H12 = mech.parameters(H12=coupling)
    mech.kinetic((vx**2 + vy**2) / 2 + H12 * vx * vy)
    mech.potential(4.5 * (x**2 + y**2))
    return mech.build()


@pytest.mark.parametrize(
    ("coupling", "mode", "step", "published"),
    [(0.6, "loop_free", 1e-3, 0.0171), (-0.6, "loop_free", 1e-3, -0.0011), (0.6, "loop_free_filtered", 4e-4, 0.0682)],
)
def test_two_masses_gain_or_lose_energy_as_predicted(coupling, mode, step, published):
    """sigma = -Ne tau Omega^2 / (2 He) of the anti-phase mode: He = 1 - H12, Ne = -H12, Omega^2 = 9 / He."""
    plant = two_masses(coupling)
    omega2 = 9.0 / (1.0 - coupling)
    sigma = coupling * loop_delay(mode, step) * omega2 / (2.0 * (1.0 - coupling))
    found = plants.spurious_damping(plant, loop_delay(mode, step))
    mode_of = np.argmin(np.abs(found.eigenvalues.imag - np.sqrt(omega2)))
    assert found.growth[mode_of] == pytest.approx(sigma, rel=1e-9)
    run = plants.simulate(plant, 6.0, step, (0.5, -0.5, 0.0, 0.0), algebraic_loop=mode)
    p = plant.nominal()
    energy = np.array(plant.energy(0.0, tuple(run.states.T), (), (), p))
    later = run.time > 0.3  # the filter has settled
    measured = 0.5 * np.polyfit(run.time[later], np.log(energy[later]), 1)[0]
    assert measured == pytest.approx(sigma, rel=0.05)
    assert measured == pytest.approx(published, rel=0.05)


def test_forms_with_multipliers_have_no_loop_and_say_so():
    plant = systems.cart(1).build("routh")
    assert not plant.has_loop
    with pytest.raises(ValueError, match="has no algebraic loop"):
        plants.simulate(plant, 0.01, 1e-3, algebraic_loop="iterated")
