"""Gain of algebraic loops and the damping that loop-free forms add; both against formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import plants
from plants import Plant, Quantity
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


def test_spurious_damping_follows_the_modal_formula():
    """sigma = -Ne tau Omega^2 / (2 He) for a chain of three masses coupled by inertia."""
    rng = np.random.default_rng(1)
    root, spring = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    inertia, stiffness = root @ root.T, spring @ spring.T
    names = [Quantity(f"q{k}", "m") for k in range(3)] + [Quantity(f"v{k}", "m/s") for k in range(3)]
    chain = Plant(
        name="chain", states=tuple(names), mass_matrix=lambda t, x, u, w, p: tuple(map(tuple, inertia.tolist())),
        force=lambda t, x, u, w, p: tuple(-sum(k * q for k, q in zip(row, x[:3], strict=True)) for row in stiffness.tolist()),
    )  # fmt: skip
    squares, modes = eigh(stiffness, inertia)
    coupling = inertia - np.diag(np.diag(inertia))
    modal = np.einsum("ik,ij,jk->k", modes, coupling, modes), np.einsum("ik,ij,jk->k", modes, inertia, modes)
    found = plants.spurious_damping(chain, 0.002)
    np.testing.assert_allclose(found.eigenvalues.imag, np.sqrt(squares), rtol=1e-9)
    np.testing.assert_allclose(found.growth, -modal[0] * 0.002 * squares / (2.0 * modal[1]), rtol=1e-8)
    assert (found.growth > 0.0).any()  # N has no diagonal: some mode is always fed


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
