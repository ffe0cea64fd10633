"""State feedback: gains against a library and by hand, and the closed loop against a simulation in NumPy."""

import control
import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller
from controllers.state_feedback import DemandLaw
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.excitation import Step
from sscq.baselines.lqi import MOST_DELAY, NoLqiError, lqi_problem, with_states
from sscq.margins.hold import hold_inputs

H = 0.1


def double(**changes):
    """A mass on a frictionless floor: place and speed, only the place is measured."""
    given = {
        "name": "mass", "states": (Quantity("place", "m"), Quantity("speed", "m/s")), "inputs": (Quantity("force", "N"),),
        "measurements": (Quantity("at", "m"),), "outputs": lambda t, x, u, w, p: (x[0],),
        "parameters": (Quantity("load", "N"),), "derivative": lambda t, x, u, w, p: (x[1], u[0] - p[0]),
        "channels": (Channel("at", low=-1.0, high=1.5),), "operating_points": (OperatingPoint("rest", (0.0, 0.0)),),
    }  # fmt: skip
    return Plant(**(given | changes))


PLAIN = (sscq.Situation(),)


def problem(plant=None, situations=PLAIN, integrating=(True,), law=None):
    return lqi_problem(plant or double(), (law or PID(sample_time=H),), situations, 0.05, integrating)


# -------------------------------------------------------------------------------------------------------------- gains


def test_feedback_is_that_of_the_library():
    """Mass, integral of the error, and weights written out; python-control's own Riccati solver."""
    found = problem().feedback(0.3, 4.0, 0.7)
    A = np.array([[1.0, H, 0.0], [0.0, 1.0, 0.0], [-H, 0.0, 1.0]])
    B = np.array([[0.5 * H * H], [H], [0.0]])
    half = 1.25
    Q, R = np.diag([1.0, 0.49, 1.0 / 16.0]), np.array([[0.3 / half**2]])
    expected, _, _ = control.dlqr(A, B, Q, R, method="scipy")
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_fast_sampling_gives_the_text_books_gains():
    """Continuous double integrator, Q = diag(1, 0), R = 1: K = [1, sqrt(2)] (Anderson and Moore, Optimal Control)."""
    fine = lqi_problem(double(), (PID(sample_time=1e-3),), (sscq.Situation(),), 1e-3, (False,))
    K = fine.feedback(1.25**2, 1.0)
    np.testing.assert_allclose(K, [[1.0, np.sqrt(2.0)]], rtol=2e-3)  # to first order in h times the pole's 1 / s


def test_zero_order_hold_of_the_mass():
    A, B = hold_inputs(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), 0.2)
    np.testing.assert_allclose(A, [[1.0, 0.2], [0.0, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(B, [[0.02], [0.2]], rtol=1e-14)


def test_commands_on_their_way_are_states():
    """The predictor's poles: those without dead time, and zeros for the samples of dead time (at equal weights)."""
    late = problem(situations=(sscq.Situation(delay=3 * H),))
    assert late.schedule.delay == 3
    A, B = late.system
    assert A.shape == (2 + 3 + 1, 6)
    push = np.zeros((6, 1))
    push[2] = 1.0
    np.testing.assert_array_equal(B, push)  # a new command is the newest on its way
    start = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    two, three = np.linalg.matrix_power(A, 2) @ start, np.linalg.matrix_power(A, 3) @ start
    np.testing.assert_allclose(two[:2], 0.0)
    np.testing.assert_allclose(three[:2], [0.5 * H * H, H])  # it arrives, held for one sample, after three
    K, prompt = late.feedback(1.0, 5.0), problem().feedback(1.0, 5.0)
    poles = np.sort(np.abs(np.linalg.eigvals(A - B @ K)))
    A, B = problem().system
    expected = np.sort(np.abs(np.linalg.eigvals(A - B @ prompt)))
    # A delayed linear-quadratic loop is the prompt one seen later: certainty equivalence of the prediction.
    np.testing.assert_allclose(poles[3:], expected, rtol=1e-6)
    np.testing.assert_allclose(poles[:3], 0.0, atol=1e-4)  # a triple zero: rounding to the power of 1/3


def test_weights_that_hold_nothing_give_nothing():
    fixed = double(derivative=lambda t, x, u, w, p: (x[1], 0.1 * x[0] + 0.0 * u[0]), name="no grip")
    assert problem(fixed).theta(1.0, 1.0) is None


def test_too_much_dead_time_is_refused():
    with pytest.raises(NoLqiError, match=f"{MOST_DELAY + 1} samples"):
        problem(situations=(sscq.Situation(delay=(MOST_DELAY + 1) * H),))


def test_commands_need_limits():
    with pytest.raises(NoLqiError, match="no limits"):
        problem(double(channels=(Channel("at"),)))


def test_kd_is_the_feedback_of_the_rate():
    found = problem()
    np.testing.assert_allclose(found.theta(1.0, 5.0)[-1], found.feedback(1.0, 5.0)[0, 1])
    vdp = lqi_problem(plants.get("van_der_pol"), (PID(),), (sscq.Situation(),), 0.01, (True,))
    assert vdp.theta(1.0, 5.0)[-1] == pytest.approx(vdp.theta(1.0, 5.0)[1])


def test_of_two_channels_on_one_force_only_what_can_be_held_is_integrated():
    """Cart and pole: the pole rests upright only, the cart anywhere."""
    cart = plants.get("cart_pole")
    found = lqi_problem(cart, (PID(),) * 2, (sscq.Situation(),), 0.01, (True, True))
    assert found.schedule.integrating == (1,)
    np.testing.assert_allclose(found.model.state, 0.0, atol=1e-9)
    np.testing.assert_allclose(
        np.array(found.schedule.state_per_reference), [[0, 1], [0, 0], [0, 0], [0, 0]], atol=1e-9
    )
    assert found.theta(1.0, 5.0) is not None


# ----------------------------------------------------------------------------------------------------- measured states


def test_states_that_are_measured_keep_their_sensor():
    wider, names = with_states(plants.get("van_der_pol"))
    assert names == ("position", "velocity")
    assert wider is plants.get("van_der_pol")
    wider, names = with_states(plants.get("heater"))
    assert names[2:] == ("sensor 1", "sensor 2")
    x = (300.0, 310.0, 301.0, 311.0)
    values = wider.outputs(0.0, x, (0.0, 0.0), (0.0,) * len(wider.disturbances), wider.nominal())
    seen = dict(zip((q.name for q in wider.measurements), values, strict=True))
    assert tuple(seen[name] for name in names) == x


def test_states_that_are_not_measured_are_added():
    wider, names = with_states(double())
    assert names == ("at", "state speed")
    assert wider.outputs(0.0, (3.0, 4.0), (0.0,), (), (0.0,)) == (3.0, 4.0)
    assert wider.measurements[1].unit == "m/s"


# ------------------------------------------------------------------------------------------------------ closed loop


def by_hand(found, theta, reference, start, n, delay=0):
    """The mass under state feedback in plain NumPy, exact between samples: places, speeds, commands."""
    K, past = theta[:2], theta[2 : 2 + delay]
    ki, low, high = theta[2 + delay], -1.0, 1.5
    x, q, way, rows = np.array(start, float), 0.0, [0.0] * delay, []
    for k in range(n):
        r = reference(k)
        demand = -K @ (x - [r, 0.0]) - past @ way + ki * q
        command = min(max(demand, low), high)
        error = r - x[0]
        outward = (demand >= high and ki * error > 0.0) or (demand <= low and ki * error < 0.0)
        q += 0.0 if outward else H * error
        rows.append((*x, command))
        way = [command, *way]
        u = way.pop()
        x = np.array([x[0] + H * x[1] + 0.5 * H * H * u, x[1] + H * u])
    return np.array(rows)


@pytest.mark.parametrize("delay", [0, 3])
def test_closed_loop_is_that_of_numpy(delay):
    """Reference steps that hit both limits, with the integral's anti-windup, with and without dead time."""
    situation = sscq.Situation(
        reference=Step(2.0) + Step(-3.0, at=4.0), initial=(0.5, -0.2), t_end=12.0, delay=delay * H
    )
    found = problem(situations=(situation,))
    theta = found.theta(0.05, 2.0)
    run = sscq.record(found.plant, found.controller, theta, situation, step=0.05)
    expected = by_hand(found, theta, lambda k: 2.0 if k < 40 else -1.0, (0.5, -0.2), 120, delay)
    command = run.group("command")[:-1:2, 0]
    # RK4 moves a mass under a held force exactly; what is left is rounding, and an unstable plant's memory of it.
    np.testing.assert_allclose(command, expected[:, 2], atol=1e-9)
    np.testing.assert_allclose(run.group("states")[:-1:2], expected[:, :2], atol=1e-9)
    assert command.max() == 1.5
    assert command.min() == -1.0
    assert abs(run.group("states")[-1, 0] + 1.0) < 0.05


def test_a_constant_load_leaves_no_error():
    situation = sscq.Situation(reference=Step(0.5) + Step(-0.5, at=1.0), parameters={"load": 0.4}, t_end=60.0)
    found = problem()
    run = sscq.record(found.plant, found.controller, found.theta(0.05, 2.0), situation, step=0.05)
    assert run.group("states")[-1, 0] == pytest.approx(0.0, abs=1e-3)
    assert run.group("command")[-1, 0] == pytest.approx(0.4, abs=1e-3)


def test_the_law_keeps_limits_and_rate():
    law = DemandLaw((-1.0, 2.0), rate_limit=5.0, sample_time=0.1, rest=0.5)
    assert law.initial() == (0.5,)
    assert law.law(0.0, 0, 0, 0, 0, (0.5,), (9.0, 0.0)) == (1.0, (1.0,))
    assert law.law(0.0, 0, 0, 0, 0, (1.9,), (9.0, 0.0)) == (2.0, (2.0,))
    assert DemandLaw((-1.0, 2.0)).law(0.0, 0, 0, 0, 0, (), (-7.0, 0.0)) == (-1.0, ())
    with pytest.raises(ValueError, match="sampled controller"):
        law.continuous(0.0, 0, 0, 0, 0, (0.5,), (0.0, 0.0))


def test_names_and_parameters_belong_together():
    found = problem(situations=(sscq.Situation(delay=2 * H),))
    names = found.schedule.theta_names
    assert names == ("k[1,at]", "k[1,state speed]", "past[1,1-1]", "past[1,1-2]", "ki[1,1]", "kd[1]")
    assert len(found.theta(1.0, 5.0)) == len(names)
    assert Controller(found.laws, found.schedule).n_theta == len(names)
