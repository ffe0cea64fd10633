"""Loop-free forms: first order where they converge, a warning or an error where the loop's gain is too large for them."""

from contextlib import nullcontext

import numpy as np
import pytest

import plants
from plants.core.algebraic_loop.loop_free import SHARES
from tests.reference import algebraic_loop_twin as twin

INERTIA = plants.get("nonlinear_inertia")
PLANTS = {"two": twin.two_masses(-0.6, damping=0.3), "three": twin.cart()}


@pytest.mark.parametrize("plant", list(PLANTS.values()), ids=list(PLANTS))
@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize("mode", ["loop_free", "loop_free_relaxed"])
def test_coupled_accelerations_converge_at_first_order(plain, plant, integrator, mode):
    assert 0.3 < plants.loop_gain(plant) < 1.0
    reference = plain(plant, 1.0, 0.005).states[-1]
    steps = np.array([0.005, 0.0025])
    runs = [plain(plant, 1.0, h, integrator=integrator, algebraic_loop=mode) for h in steps]
    errors = [np.abs(run.states[-1] - reference).max() for run in runs]
    # The second-order part of the error is some per cent of the first at these steps.
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)
    assert runs[0].evaluations == 200 * {"euler": 1, "rk4": 4}[integrator]


@pytest.mark.parametrize(
    ("mode", "limit"), [("loop_free", 1.0), ("loop_free_relaxed", 3.0), ("loop_free_filtered", 19.0)]
)
def test_the_error_of_the_rebuilt_acceleration_grows_from_the_limit_of_the_form_on(plain, mode, limit):
    assert limit == pytest.approx(2.0 / SHARES[mode] - 1.0)
    for gain, stable in ((0.93 * limit, True), (1.07 * limit, False)):
        if SHARES[mode] == 1.0 and not stable:
            with pytest.raises(plants.AlgebraicLoopError, match=r"is 1\.07 at t = 0 s.*'solved' has no such limit"):
                plain(INERTIA, 0.1, 1e-3, (2.0, 0.0), {"a3": gain / 4.0}, integrator="euler", algebraic_loop=mode)
            continue  # it stays in its region for so short a time, and is refused all the same
        # Relaxed forms warn of every gain above 1: the raw form's limit, where their own error factor is not small.
        told = mode == "loop_free_relaxed" or not stable
        with pytest.warns(plants.LoopGainWarning) if told else nullcontext():
            run = plain(INERTIA, 0.1, 1e-3, (2.0, 0.0), {"a3": gain / 4.0}, integrator="euler", algebraic_loop=mode)
        v = run["velocity"]
        kinks = np.abs(np.diff(v, 3))  # alternating errors, against the smooth motion
        assert (kinks[-1] < kinks[5]) == stable
        assert run.loop.factors[0] == pytest.approx(abs(1.0 - SHARES[mode] * (1.0 + gain)))


def test_a_gain_above_one_warns_with_time_and_state(plain):
    with pytest.warns(plants.LoopGainWarning) as caught:
        relaxed = plain(INERTIA, 2.0, 0.005, {"position": 1.4, "velocity": 1.0}, algebraic_loop="loop_free_relaxed")
    first = int(np.argmax(relaxed.loop.gains >= 1.0))
    assert first > 0
    (message,) = (str(one.message) for one in caught)
    assert f"is {relaxed.loop.gains[first]:.4g} at t = {relaxed.time[first]:.6g} s, position = 1.58" in message
    assert f"and {relaxed.loop.gain:.4g} at most" in message
    # It fades all the same: half the new difference bears a gain of 3.
    exact = plain(INERTIA, 2.0, 0.005, {"position": 1.4, "velocity": 1.0})
    np.testing.assert_allclose(relaxed.states, exact.states, atol=0.03)


def test_coupled_accelerations_with_a_gain_above_one_diverge_raw_and_sooner_with_a_smaller_step(plain):
    light, ends = twin.cart(light=True), []
    assert plants.loop_gain(light) == pytest.approx(1.24, abs=0.005)
    for step in (1e-3, 5e-4):
        with pytest.raises(
            plants.DivergedError, match="loop of plant 'cart' is 1.241 at t = 0 s, place = 0 m"
        ) as caught:
            plain(light, 0.2, step, algebraic_loop="loop_free")
        ends.append(float(str(caught.value).split("after t = ")[1].split()[0]))
    # The error grows by the gain each step, so in half the time; the same number of steps but for what they start from.
    assert ends[1] / ends[0] == pytest.approx(0.5, abs=0.05)
    reference = plain(light, 0.1, 1e-3).states[-1]
    with pytest.warns(plants.LoopGainWarning):
        relaxed = [plain(light, 0.1, h, algebraic_loop="loop_free_relaxed").states[-1] for h in (1e-3, 5e-4)]
    errors = [np.abs(state - reference).max() for state in relaxed]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.05)
