"""The balancing vehicle in motion: trajectories T6, the step map's accuracy and balance, rolling, slip."""

import math

import numpy as np
import pytest

import controllers
import plants
from plants.balancing_vehicle import (
    BALANCING_VEHICLE,
    BALANCING_VEHICLE_NO_SLIP,
    NOMINAL_GAINS,
    STUDY,
    standing,
)  # fmt: skip
from plants.balancing_vehicle.stepping import advance
from plants.excitation import Sine
from tests.reference.vehicle_courses import CASES, EQUATIONS, own, study

COLUMNS = ("axle_x", "axle_y", "psi", "theta", "aL", "aR", "F_t_L", "F_t_R")
STRAIGHT = {  # x_a, theta, a, F_t, both wheels alike
    ("1a", 1.0): (0.2420672706, -0.1335311115, 1.7473617093, 2.7098842974),
    ("1a", 2.0): (0.9776908496, -0.0310531607, 6.5490452623, 2.7892707218),
    ("1a", 4.0): (3.7458285170, -0.0897405574, 25.0619839400, 2.2806205897),
    ("1b", 0.5): (0.0479587582, -0.2666249445, 0.5865892789, 7.9753332167),
    ("1b", 1.0): (0.3938898562, -0.2350407830, 5.2090284919, 7.6292274436),
    ("1b", 2.0): (1.7729970995, 0.2426385303, 16.7551151822, -7.7852082949),
    ("1b", 4.0): (2.4383802415, -0.3053992791, 15.2381632900, 7.2859797025),
}
TURNING = {
    2.5: (1.4827432382, 0.0263794582, 0.1455841605, -0.1289431457, 13.1393894787, 10.2645872955, 0.7728478586, 2.3982230743),
    3.0: (2.0400378561, 0.1944864722, 0.5305503729, -0.0788018960, 24.1461223688, 14.7838297929, 0.8968133294, 2.2712324127),
    4.0: (3.0379987609, 0.9543902863, 1.9464685263, -0.0384986712, 52.8908433106, 25.8129218068, 1.0494838059, 3.0600362983),
    5.0: (3.5092969592, 1.7648500598, 4.5593338017, -0.0357375967, 84.6246283549, 31.2176105728, 1.2973555899, 2.4195347597),
}  # fmt: skip
HEAT = {"1a": 4.2803e-5, "1b": 30.9538402248, "2": 22.7245230644}


def values(run, t, names=COLUMNS):
    k = round(t / (run.time[1] - run.time[0]))
    return np.array([run[name][k] for name in names])


@pytest.fixture(scope="module")
def references():
    return {case: study(case, 2e-4) for case in CASES}


def heat(run, names=("heat_sliding", "heat_bristle", "heat_viscous")):
    return np.trapezoid(sum(run[name] for name in names), run.time)


def test_t6_open_loop(references):
    """The specification's tolerance, 1e-6 relative and 1e-8 absolute."""
    for (case, t), (x, theta, turn, force) in STRAIGHT.items():
        expected = (x, 0.0, 0.0, theta, turn, turn, force, force)
        np.testing.assert_allclose(values(references[case], t), expected, rtol=1e-6, atol=1e-8)
    for t, expected in TURNING.items():
        np.testing.assert_allclose(values(references["2"], t), expected, rtol=1e-6, atol=1e-8)
    for case, expected in HEAT.items():  # trapezoids over peaks of bristle damping at the start
        assert heat(references[case]) == pytest.approx(expected, rel=1e-3)


def test_t6_closed_loops():
    """In continuous time by `plants.close`; nothing saturates, so anti-windup does not matter."""
    laws = controllers.PID()
    loop = plants.close(EQUATIONS, laws, NOMINAL_GAINS, {"speed": 0.5, "yaw_rate": 0.6})
    run = plants.simulate(loop, 4.0, 2e-4, initial=[*standing(0.1), *[q.nominal for q in loop.states[20:]]])
    np.testing.assert_allclose(
        values(run, 1.0),
        (0.2329305062, 0.0848704073, 0.5781200931, 0.0493286537, 0.7592319350, 2.6863080266, 1.4805332265,
         1.4279349960), rtol=1e-6, atol=1e-8,
    )  # fmt: skip
    np.testing.assert_allclose(
        values(run, 4.0),
        (0.3112877036, 1.5386810296, 2.3953691426, -0.0047308029, 8.8881768908, 16.8727515102, -0.1355792783,
         -0.1493940168), rtol=1e-6, atol=1e-8,
    )  # fmt: skip
    rolling = plants.close(BALANCING_VEHICLE_NO_SLIP, laws, NOMINAL_GAINS)
    start = [0.0, 0.0, 0.0, 0.1, *[q.nominal for q in rolling.states[4:]]]
    run = plants.simulate(rolling, 4.0, 1e-3, initial=start)
    for t, expected in (
        (0.5, (0.0442907828702, -0.0125691265301, 0.0286353491731)),
        (1.0, (0.0517525687284, -0.00731897065893, 0.00412705470946)),
        (4.0, (0.0164921033999, 0.000913373977925, -0.0105267305806)),
    ):
        np.testing.assert_allclose(values(run, t, ("x", "theta", "v")), expected, rtol=1e-6, atol=1e-9)


def test_energy_is_balanced_with_the_bristles(references):
    """T + V - E0 = W - D_fric - D_bear - (V_br - V_br0): what is left is the bristles' share of changing loads."""
    run, p = references["1b"], tuple(STUDY.values())
    energy = np.array([
        BALANCING_VEHICLE.energy(0.0, tuple(x), (0.0, 0.0), (1.0, 1.0, 0.0, 0.0), p) for x in run.states[[0, -1]]
    ])  # fmt: skip
    work = np.trapezoid(run["motor_power"], run.time)
    lost = heat(run) + np.trapezoid(run["heat_joints"], run.time)
    bent = run["bristle_energy"][-1] - run["bristle_energy"][0]
    assert lost > 30.0
    assert 0.0 < run["bristle_energy"].max() < 1.4e-4
    assert abs(energy[-1] - energy[0] - work + lost + bent) < 1e-5  # of 41 J; trapezoids of 0.2 ms included
    # The plant's own account, in which bristles belong to the ground, closes as the integrator does.
    assert abs(energy[-1] - energy[0] - run.supplied[-1] + run.entropy[-1]) < 1e-6


def test_slip_begins_where_rolling_needs_more_than_the_ground_gives(references):
    """Study 1b against the ideal model's demand; 1a and 1c ask for less and stay in stick."""
    p = {q.name: STUDY[q.name] for q in BALANCING_VEHICLE_NO_SLIP.parameters}

    def needed(level, swing):
        tau = level + Sine(swing, 1.0 / math.pi)
        run = plants.simulate(BALANCING_VEHICLE_NO_SLIP, 2.0, 1e-3, inputs={"tau_L": tau, "tau_R": tau}, parameters=p)
        return run.time, np.abs(run["needed_friction"]) / run["load"]

    time, share = needed(0.0, 1.6)
    assert time[(share > 0.15).argmax()] == pytest.approx(0.588, abs=1.5e-3)
    run = references["1b"]
    grip = np.abs(run["F_t_L"]) / run["f_n_L"]
    peak = grip[run.time < 0.7].argmax()
    assert grip[peak] == pytest.approx(0.1498, abs=1e-4)
    assert run.time[peak] == pytest.approx(0.601, abs=1e-3)
    sliding = np.abs(run["slip_t_L"]) > STUDY["v_s"]
    assert run.time[sliding.argmax()] == pytest.approx(0.639, abs=1e-3)
    assert values(run, 0.7388, ("F_t_L",))[0] / values(run, 0.7388, ("f_n_L",))[0] == pytest.approx(0.114, abs=1e-3)
    assert np.abs(run["axle_x"] - 0.15 * (run["theta"] + run["aL"])).max() == pytest.approx(0.78, abs=0.01)
    fast = np.abs(run["slip_t_L"]) > 0.25
    edges = run.time[1:][np.diff(fast.astype(int)) != 0]
    np.testing.assert_allclose(edges[:5], (0.67, 1.38, 2.17, 3.00, 3.81), atol=6e-3)  # published to 10 ms
    assert needed(0.0, 1.2)[1].max() < 0.15
    calm = references["1a"]
    assert np.abs(calm["axle_x"] - 0.15 * (calm["theta"] + calm["aL"])).max() < 1e-5
    settled = calm.time > 0.02  # the torque begins with a step, at which the bristles overshoot to 0.068
    assert (np.abs(calm["F_t_L"]) / calm["f_n_L"])[settled].max() < 0.0565


def test_stiff_bristles_roll_as_the_ideal_model(references):
    """Study 1c: the distance at 2 s falls as 1 / sigma0 (1.8e-6 m in between)."""
    tau = 0.0 + Sine(1.2, 1.0 / math.pi)
    p = {q.name: STUDY[q.name] for q in BALANCING_VEHICLE_NO_SLIP.parameters}
    ideal = plants.simulate(BALANCING_VEHICLE_NO_SLIP, 2.0, 1e-3, inputs={"tau_L": tau, "tau_R": tau}, parameters=p)
    for sigma0, sigma1, apart in ((1e3, 3.0, 1.8e-5), (1e5, 30.0, 1.8e-7)):
        run = study((0.0, 1.2, 0.0, 2.0), 2e-4, parameters=STUDY | {"sigma0": sigma0, "sigma1": sigma1})
        assert abs(run["axle_x"][-1] - ideal["x"][-1]) == pytest.approx(apart, rel=0.04)  # published to two digits


def test_the_side_slips_after_the_drop(references):
    """Lateral slip is the lateral speed of the axle's middle, whose path is T6's: 0.14 m/s at 3 s, 1.05 m/s at 4 s."""
    run = references["2"]
    assert values(run, 2.5, ("F_s_R",))[0] == pytest.approx(7.0, abs=0.3)
    for t, speed in ((2.5, 7e-5), (3.0, 0.136), (4.0, 1.048)):
        k, h = round(t / 2e-4), 2e-4
        ahead, aside = ((run[n][k + 1] - run[n][k - 1]) / (2.0 * h) for n in ("axle_x", "axle_y"))
        psi = run["psi"][k]
        assert run["slip_s_R"][k] == pytest.approx(aside * math.cos(psi) - ahead * math.sin(psi), abs=1e-6)
        assert -run["slip_s_R"][k] == pytest.approx(speed, rel=0.05)


def test_the_step_map_converges_with_its_first_order(references):
    """Errors at 1 ms as the specification states them; in steady sliding they are halved with the step."""

    def error(case, h, name):
        run, fine = own(case, h), references[case]
        return np.abs(run[name][:: round(1e-2 / h)] - fine[name][:: round(1e-2 / 2e-4)]).max()

    assert error("1b", 1e-3, "axle_x") < 1e-3
    assert error("1b", 1e-3, "theta") < 1e-3
    turning = [error("2", h, "psi") for h in (2e-3, 1e-3, 5e-4)]
    assert turning[1] == pytest.approx(1.1e-3, rel=0.05)
    np.testing.assert_allclose(np.divide(turning[1:], turning[:-1]), 0.5, atol=0.05)


def test_the_step_maps_energy_closes_linearly():
    """W - D - dE goes to 0 with the step, in sliding and sticking."""
    p, missing = tuple(STUDY.values()), []
    for h in (2e-3, 1e-3, 5e-4):
        run = own("1b", h)
        ends = [
            BALANCING_VEHICLE.energy(0.0, tuple(x), (0.0, 0.0), (1.0, 1.0, 0.0, 0.0), p) for x in run.states[[0, -1]]
        ]
        missing.append(abs(ends[1] - ends[0] - run.supplied[-1] + run.entropy[-1]))
    assert missing[1] < 0.1  # of 41 J
    np.testing.assert_allclose(np.divide(missing[1:], missing[:-1]), 0.5, atol=0.12)


def test_lanes_and_plain_numbers_make_the_same_steps():
    """From a skid, so that all of the friction moves."""
    start, p = (*standing(0.0, STUDY)[:8], 1.0, 0.3, 0.0, 0.5, *[0.0] * 8), tuple(STUDY.values())
    run = own("2", 1e-3, t_end=0.5, initial=start)
    x = start
    for k in range(500):
        x = advance(k * 1e-3, x, (0.5, 0.5), (1.0, 1.0, 0.0, 0.0), p, 1e-3)
        if k in (0, 9, 499):  # six passes leave no freedom but rounding
            np.testing.assert_allclose(run.states[k + 1], x, rtol=0.0, atol=1e-11)
