"""Where the unicycle's algebraic loop is, and how strong: the specification's table, and what roll does to it."""

import numpy as np
import pytest

import plants
from experiments.reproduce.printed_unicycle.reference import X1, X2
from experiments.reproduce.vehicles.unicycle import loop_forms
from experiments.reproduce.vehicles.unicycle.loop_forms import ARRANGEMENTS, gains, inertia_at, largest_share, upright
from plants.core.algebraic_loop.gain import gain_of
from plants.unicycle import UNICYCLE

MINIMAL, TREE, PRINTED, SWEEPS, PAIRS = ARRANGEMENTS


def test_gains_upright():
    found = gains(state=upright(pitch=0.0))
    for name, expected in ((MINIMAL, 0.785), (TREE, 0.815), (PRINTED, 0.796), (SWEEPS, 0.617), (PAIRS, 0.063)):
        assert found[name].radius == pytest.approx(expected, abs=6e-4)
    heavy = gains({"ITz": 0.3}, upright(pitch=0.0))
    assert heavy[MINIMAL].radius == pytest.approx(0.86, abs=0.005)


@pytest.mark.parametrize(("state", "minimal", "printed"), [(X1, 1.00924249, 0.97737454), (X2, 1.24011725, 1.19928098)])
def test_gains_at_the_cases(state, minimal, printed):
    """The specification gives 0.97737435 for the printed form at A1: its last two digits are 54 the other way round."""
    found = gains(state=state)
    assert found[MINIMAL].radius == pytest.approx(minimal, abs=6e-9)
    assert found[PRINTED].radius == pytest.approx(printed, abs=6e-9)


def test_what_couples_upright():
    matrix = inertia_at(upright(pitch=0.0))
    gain = np.eye(5) - matrix / np.diag(matrix)[:, None]
    found = (gain[0, 4], gain[4, 0], gain[2, 3], gain[3, 2], gain[0, 1])
    np.testing.assert_allclose(found, (-0.589, -1.0, -0.249, -2.475, 0.202), atol=6e-4)
    assert np.sqrt(0.15 / matrix[0, 0]) == pytest.approx(0.767, abs=6e-4)
    turn = [gain_of(inertia_at(upright(0.0, 0.0, angle))).radius for angle in np.linspace(0.0, 6.3, 40)]
    assert 0.7835 < min(turn) < max(turn) < 0.7885


def test_the_gain_grows_with_roll():
    rolls = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
    found = [gains(state=upright(roll))[MINIMAL].radius for roll in rolls]
    np.testing.assert_allclose(found, (0.79, 1.02, 1.23, 1.38, 1.49, 1.61), atol=0.015)
    assert gains(state=upright(0.0469))[MINIMAL].radius < 1.0 < gains(state=upright(0.0471))[MINIMAL].radius
    pairs = [gains(state=upright(roll))[PAIRS].radius for roll in (0.1, 0.3)]
    np.testing.assert_allclose(pairs, (0.63, 0.93), atol=0.005)


def test_gains_at_random_tilts():
    """As many as give the median to a hundredth; extremes of the specification's own draw lie about these."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(150):
        roll, pitch = rng.uniform(-0.3, 0.3, 2)
        table = gains(state=(0.0, roll, pitch, rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0), *(0.0,) * 7))
        found.append([table[name].radius for name in (MINIMAL, TREE, PRINTED, SWEEPS)])
    lows, middles, highs = np.min(found, 0), np.median(found, 0), np.max(found, 0)
    assert (lows[:3] > (0.785, 0.815, 0.795)).all()  # reached near upright alone
    np.testing.assert_allclose(middles[:3], (1.32, 1.30, 1.28), atol=0.05)
    np.testing.assert_allclose(highs[:3], (1.61, 1.60, 1.55), atol=0.03)
    assert highs[3] < 0.951  # sweeps of a positive definite matrix always converge


def test_relaxed_passes_converge_at_any_tilt():
    """The five eigenvalues of D^-1 M add up to 5 and are positive: shares below 2/5 are safe, and 0.738 here."""
    rng = np.random.default_rng(1)
    states = [(0.0, *rng.uniform(-0.5, 0.5, 2), *rng.uniform(-3.0, 3.0, 2), *(0.0,) * 7) for _ in range(100)]
    assert min(largest_share(x) for x in states) > 0.735
    assert max(gains(state=x)[PRINTED].real for x in states) < 0.98


def test_the_plants_own_loop_gains_are_these():
    x, found = upright(0.1), gains(state=upright(0.1))
    assert plants.loop_gain(UNICYCLE, x) == pytest.approx(found[MINIMAL].radius, rel=1e-12)
    printed = plants.loop_gain(loop_forms.printed(), loop_forms.redundant_state(x))
    assert printed == pytest.approx(found[PRINTED].radius, rel=1e-9)
