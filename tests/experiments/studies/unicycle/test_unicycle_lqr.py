"""LQR of the unicycle against the Riccati equation of continuous time, and what it feeds back."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are

import sscq
from experiments.studies.unicycle.contenders import MEASURED, NODES, STATES, UnicycleLqr, Weights, held_model, model
from experiments.studies.unicycle.pushes import reference
from plants.unicycle import UNICYCLE_BALANCED, UNICYCLE_SPEED_HOLD
from plants.unicycle.tasks import start
from sscq.baselines.linear_quadratic import feedback, riccati
from sscq.margins.hold import hold_inputs

LIMITS = ((-12.5, 12.5), (-12.0, 12.0))
WEIGHTS = Weights(1.0, 1.0, 0.1, 0.1, 3.0)
GENOME = np.array([[1.0, 1.0, 0.1, 0.1, 3.0, 1.5]])


@pytest.mark.parametrize("speed", [1.5, -1.5])
def test_the_gains_are_those_of_the_riccati_equation_as_the_sample_time_goes_to_0(speed):
    """Held over 10 us the gains differ by a share of about half a sample times the fastest pole, 10 1/s: 5e-5."""
    A, B = model(speed)
    Q, R = WEIGHTS.matrices([12.5, 12.0])
    P = solve_continuous_are(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ P)
    h = 1e-5
    found = feedback(*hold_inputs(A, B, h), Q * h, R * h)
    assert found == pytest.approx(K, rel=1e-3, abs=1e-3 * np.abs(K).max())


def test_the_model_has_the_poles_of_the_specification():
    """Upright at 1.5 m/s: +6.45 1/s in pitch, +3.37 1/s in roll, as printed to two decimals."""
    poles = np.linalg.eigvals(model(1.5)[0])
    unstable = np.sort(poles[poles.real > 0.1].real)
    assert unstable == pytest.approx([3.37, 6.45], abs=0.006)


def test_the_criterion_weighs_by_what_counts_as_large():
    """Angles 0.1 rad, rates by their times, speed, commands by half of their ranges."""
    Q, R = Weights(2.0, 3.0, 0.2, 0.5, 4.0).matrices([10.0, 5.0])
    expected = {"gamma": 100.0, "beta": 100.0, "gamma_rate": 25.0, "beta_rate": 4.0, "theta_w_rate": 1.0 / 16.0}
    assert np.diag(Q) == pytest.approx([expected.get(name, 0.0) for name in STATES])
    assert np.diag(R) == pytest.approx([0.02, 0.12])


def test_steering_is_reversed_where_the_wheel_rolls_backwards():
    """Roll gains change sign with the speed; those of pitch do not."""
    rows = UnicycleLqr(LIMITS, 0.01, scheduled=True).theta(GENOME[:, :5])[0].reshape(len(NODES), -1)
    on_roll = rows[:, len(STATES) + STATES.index("gamma")]
    on_pitch = rows[:, STATES.index("beta")]
    assert np.all(on_roll * np.sign(NODES) > 0.0)
    assert np.all(on_pitch > 0.0)


def test_doubling_solves_the_discrete_riccati_equation():
    """Several at once against SciPy's solver; both are good to some 1e-9 of the largest entry."""
    weights = [WEIGHTS, Weights(1e-3, 10.0, 0.01, 1.0, 50.0)]
    Q, R = (np.array(several) for several in zip(*(w.matrices([12.5, 12.0]) for w in weights), strict=True))
    A, B = held_model(1.5, 0.01)
    for one, q, r in zip(riccati(A[None], B[None], Q, R), Q, R, strict=True):
        expected = solve_discrete_are(A, B, q, r)
        assert one == pytest.approx(expected, rel=1e-6, abs=1e-8 * np.abs(expected).max())


def test_there_is_no_feedback_where_the_command_does_not_reach_what_grows():
    """Twice as large with each sample, whatever is done; its neighbour has one."""
    A = np.array([np.diag([2.0, 0.5])] * 2)
    B = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])
    found = feedback(A, B, np.eye(2)[None], np.eye(1)[None])
    assert np.isnan(found[0]).all()
    assert np.abs(np.linalg.eigvals(A[1] - B[1] @ found[1])).max() < 1.0


def test_a_search_goes_on_where_there_is_no_feedback():
    """Weights that nothing stabilises decode to no feedback: the robot falls, and the fitness says so."""
    decode = UnicycleLqr(LIMITS, 0.01).candidate().decode
    both = decode(np.vstack([GENOME[0], [np.nan, *GENOME[0, 1:]]]))
    assert both[0].any()
    assert not both[1].any()


@pytest.mark.parametrize("scheduled", [False, True])
def test_it_balances_and_holds_the_speed(scheduled):
    """Out of balance by 0.05 rad: upright to the end, less than 0.01 rad of roll and 0.2 m/s from the speed asked for."""
    lqr = UnicycleLqr(LIMITS, 0.01, scheduled)
    situation = sscq.Situation(name="ride", initial=start(1.5, 0.05, 0.05), reference=reference(1.5), t_end=15.0)
    ride = sscq.record(UNICYCLE_SPEED_HOLD, lqr.controller, lqr.theta(GENOME[:, :5] if scheduled else GENOME)[0], situation,
                       step=0.005)  # fmt: skip
    assert abs(ride["output roll"][-1]) < 0.01
    assert abs(ride["output speed"][-1] - 1.5) < 0.2


def test_scheduled_gains_are_those_of_the_node_at_its_speed_and_between_them_linear():
    """At 1 m/s the mean of the nodes at 0.5 and 1.5 m/s; yaw rate 1 rad/s, everything else at rest."""
    lqr = UnicycleLqr(LIMITS, 0.01, scheduled=True)
    theta = lqr.theta(GENOME[:, :5])[0]
    rows = theta.reshape(len(NODES), -1)

    def demand(speed):
        schedule = lqr.controller.schedule
        rest = dict(zip(MEASURED, schedule.rest_state, strict=True)) | {"yaw_rate": 1.0, "speed": speed}
        seen = {"lean": schedule.rest_output[0], **rest}
        signals = (0.0, 0.0, 0.0, 0.0, *(seen[name] for name in schedule.signals))
        gains, _ = schedule.gains(0.0, signals, (), tuple(theta))
        return gains[2]  # of the roll channel

    on_yaw = rows[:, len(STATES) + STATES.index("alpha_rate")]
    on_speed = rows[:, len(STATES) + STATES.index("theta_w_rate")]
    at = NODES.index(0.5)
    assert demand(0.5) == pytest.approx(-on_yaw[at] - 0.5 * on_speed[at])
    assert demand(1.0) == pytest.approx(-on_yaw[at : at + 2].mean() - on_speed[at : at + 2].mean())


@pytest.mark.parametrize("scheduled", [False, True])
def test_with_a_channel_for_each_motion_it_commands_the_same(scheduled):
    """The motors get the same torques, so the ride is the same but for rounding; the further channels stay still."""
    found = []
    for plant, asked in ((UNICYCLE_SPEED_HOLD, reference(1.5)), (UNICYCLE_BALANCED, reference(1.5, balanced=True))):
        limits = tuple((channel.low, channel.high) for channel in plant.channels)
        lqr = UnicycleLqr(limits, 0.01, scheduled, tuple(channel.output for channel in plant.channels))
        situation = sscq.Situation(name="ride", initial=start(1.5, 0.02, 0.02), reference=asked, t_end=2.0)
        theta = lqr.theta(GENOME[:, :5] if scheduled else GENOME)[0]
        ride = sscq.record(plant, lqr.controller, theta, situation, step=0.005)
        found.append(np.array([ride[name] for name in ("tau1", "tau3", "output roll", "output speed")]))
    assert np.abs(found[0]).max() < 12.0  # within all limits: they differ where commands are cut
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def test_more_weights_to_begin_at_do_not_replace_the_usual_ones():
    """At one speed with it, scheduled without."""
    more = UnicycleLqr(LIMITS, 0.01, True, starts=((50.0, 8.0, 1.0, 0.2, 6.0, 1.5),)).candidate().start
    usual = UnicycleLqr(LIMITS, 0.01, True).candidate().start
    assert np.array_equal(more[:-1], usual)
    assert more[-1].tolist() == [50.0, 8.0, 1.0, 0.2, 6.0]
