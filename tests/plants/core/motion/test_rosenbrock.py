"""The linearly implicit integrator: its coefficients, its order on stiff plants, and what it must refuse."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import controllers
import plants
import sscq
from benchmarks.accuracy.known_solutions import LOAD, MOTOR, VOLTAGE, motor_at
from plants.core.checks.runs import _followed
from plants.core.linear_solve import factorise
from plants.core.motion.integrators import ALPHA, COUPLING, GAMMA, rosenbrock, slopes_of
from plants.core.tracing.trace import names, trace
from sscq.loop.closed_loop import ClosedLoop
from tests.reference.closed_loop_twin import Twin, uncompiled

A = np.array([[*row, *[0.0] * (4 - len(row))] for row in ALPHA])
B = A + np.array([[*row, *[0.0] * (4 - len(row))] for row in COUPLING]) + GAMMA * np.eye(4)
WEIGHTS, ONES = B[-1], np.ones(4)  # stiffly accurate: the last rows are the weights


# ------------------------------------------------------------------------------------------------------- coefficients


def test_the_coefficients_are_of_order_three_and_follow_moving_equilibria_to_second_order():
    nodes, drifts = A @ ONES, B @ ONES
    conditions = {  # Hairer and Wanner, Solving Ordinary Differential Equations II, table IV.7.1
        "1": WEIGHTS @ ONES - 1.0,
        "2": WEIGHTS @ drifts - 1.0 / 2.0,
        "3a": WEIGHTS @ nodes**2 - 1.0 / 3.0,
        "3b": WEIGHTS @ B @ drifts - 1.0 / 6.0,
    }
    # Its local error in Prothero and Robinson's example has no term in h^2 whatever the mode's speed.
    gap = 2.0 * B @ drifts - nodes**2
    conditions |= {f"moving {k}": WEIGHTS @ np.linalg.matrix_power(B, k) @ gap for k in range(4)}
    # The coefficients are printed with 17 digits and of size 1: sums of a few are right to 1e-15.
    np.testing.assert_allclose(list(conditions.values()), 0.0, atol=1e-15, err_msg=str(list(conditions)))
    assert (nodes >= 0.0).all()
    assert (nodes <= 1.0).all()


def amplification(z):
    """Factor of one step of x' = z x / h."""
    return 1.0 + z * (WEIGHTS @ np.linalg.solve(np.eye(4) - z * B, ONES + 0.0j))


def test_it_is_l_stable():
    # The poles lie at 1 / GAMMA > 0, so the largest factor of the left half plane stands on the imaginary axis.
    factors = [abs(amplification(1j * y)) for y in np.geomspace(1e-3, 1e4, 2000)]
    assert max(factors) <= 1.0 + 1e-12  # |R(iy)| = 1 - O(y^4): rounding decides at the slow end
    assert abs(amplification(-1e8)) < 1e-7
    for z in (-0.5, -30.0, -1e6):
        (new,) = rosenbrock(lambda t, x, z=z: (z * x[0],), 0.0, (1.0,), 1.0)
        assert new == pytest.approx(amplification(z).real, rel=1e-9, abs=1e-15)


# ---------------------------------------------------------------------------------------------- one step, one solve


def test_one_step_is_the_formula_of_the_books():
    """With derivatives taken by hand: (I - h GAMMA J) k_i = h f(stage) + h J sum(gamma_ij k_j) + h^2 drift_i f_t."""
    h, t, x = 0.3, 0.4, np.array([0.8, -0.5])

    def f(t, x):
        return np.array([-50.0 * (x[0] - np.cos(t)), x[0] * x[1] ** 2])

    jacobian, by_time = np.array([[-50.0, 0.0], [x[1] ** 2, 2.0 * x[0] * x[1]]]), np.array([-50.0 * np.sin(t), 0.0])
    k, gamma = np.zeros((4, 2)), B - A
    for i in range(4):
        stage = h * f(t + h * A[i].sum(), x + A[i] @ k) + h * h * gamma[i].sum() * by_time
        k[i] = np.linalg.solve(np.eye(2) - h * GAMMA * jacobian, stage + h * jacobian @ (gamma[i, :i] @ k[:i]))

    def block(t, x):
        from plants.core.elementary import cos

        return -50.0 * (x[0] - cos(t)), x[0] * x[1] ** 2

    new = rosenbrock(block, t, tuple(x), h)
    np.testing.assert_allclose(new, x + WEIGHTS @ k, rtol=1e-13)  # a solve of condition 10
    step = trace(lambda t, x, h: rosenbrock(block, t, x, h), "t", names("x", 2), "h")
    np.testing.assert_allclose(step(t, *x, h), new, rtol=1e-14)


def test_slopes_leave_alone_what_is_held():
    """A held input was computed from the state; the rates' slopes must not see that."""

    def slopes(t, x):
        u = 3.0 * x[0] * t  # a law
        rows, by_time = slopes_of(lambda s, z: (u * z[0] * s, z[0] * z[1]), t, x)
        return (*rows, by_time)

    found = trace(slopes, "t", names("x", 2))(2.0, 5.0, 7.0)  # u = 30
    np.testing.assert_array_equal(found, [60.0, 0.0, 7.0, 5.0, 150.0, 0.0])


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_factors_solve(n):
    rng = np.random.default_rng(n)
    matrix, right = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)
    factors = factorise(matrix.tolist(), np.abs(np.diag(matrix)).tolist())
    assert factors.margin > 0.0
    np.testing.assert_allclose(factors.solve(right), np.linalg.solve(matrix, right), rtol=1e-11)


def test_a_lost_pivot_is_told():
    third = 1.0 / 3.0
    lost = factorise([[3.0, 1.0], [1.0, third * (1.0 + 4e-16)]], [3.0, third])
    assert lost.margin <= 0.0
    assert factorise([[3.0, 1.0], [1.0, third + 1e-9]], [3.0, third]).margin > 0.0


def test_growth_that_the_step_would_damp_has_no_result():
    """L-stable methods damp what grows too fast for the step: an unstable plant would look stable."""
    step = trace(lambda x, h, a: rosenbrock(lambda t, z: (a * z[0],), 0.0, (x,), h), "x", "h", "a")
    assert step(1.0, 0.1, 1.0)[0] == pytest.approx(np.exp(0.1), rel=1e-5)
    assert np.isnan([step(1.0, h, 1.0)[0] for h in (1.0 / GAMMA, 3.0, 1e3)]).all()
    assert abs(amplification(1e3)) < 1.0


# -------------------------------------------------------------------------------------------------------- stiff plants


DRIVE = {"inputs": (VOLTAGE,), "disturbances": (LOAD,)}
T_END, COUNTS = 4.0, np.array([20, 40, 80, 160])


@pytest.fixture(scope="module")
def motor_runs():
    return [plants.simulate(MOTOR, T_END, T_END / n, integrator="rosenbrock", **DRIVE) for n in COUNTS]


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_driven_stiff_plant_at_steps_where_rk4_diverges(motor_runs):
    """Order 3 with the fast mode at 2 500 to 20 000 times the step."""
    errors = np.array([np.abs(run.states[-1] / motor_at(T_END) - 1.0) for run in motor_runs])
    # The slow mode carries the error of both states; near cancellation of its terms the order is read to 0.15.
    np.testing.assert_allclose(orders(errors[:, 1])[-1], 3.0, atol=0.15)
    assert errors[-1].max() < 2e-5
    with pytest.raises(plants.DivergedError, match="use a smaller step than 0.025 s"):
        plants.simulate(MOTOR, T_END, T_END / COUNTS[-1], **DRIVE)


def test_the_integrals_have_the_weights_of_the_states(motor_runs):
    """So the energy balance closes with the same order. The run starts where the fast mode rests: the heat of a
    transient shorter than the step is known to the order of the step alone."""
    missing, exchanged = [], 0.0
    for run in motor_runs:
        arguments = [tuple(run.group(kind).T) for kind in ("states", "inputs", "disturbances")]
        energy = MOTOR.energy(run.time, *arguments, MOTOR.nominal())
        missing.append(np.abs(energy - energy[0] - run.supplied + run.entropy).max())
        exchanged = np.abs(run.supplied).max()
    np.testing.assert_allclose(orders(missing)[-1], 3.0, atol=0.15)
    assert missing[-1] < 1e-4 * exchanged


def test_the_check_advises_it_with_a_step_that_is_enough():
    report = plants.check(MOTOR)
    assert report.ok, str(report)
    (advice,) = (line for line in report.advice if line.startswith("stiff: "))
    assert "1e+05 1/s" in advice
    assert f"integrator=rosenbrock a step of {report.implicit_step:g} s is enough" in advice
    assert report.implicit_step > 1000.0 * 2.78 / 1e5  # rk4 is unstable beyond 2.78e-5 s
    run = plants.simulate(MOTOR, T_END, report.implicit_step, integrator="rosenbrock", **DRIVE)
    np.testing.assert_allclose(run.states[-1], motor_at(T_END), rtol=5e-3)  # advised for 1e-3 of the largest value
    assert plants.check(plants.get("van_der_pol")).implicit_step is None


@pytest.mark.parametrize(
    ("values", "followed"),
    [
        ([-1e5, -1.1], 1.1),  # both settle: the slowest
        ([-1e4, -1.0 + 10j, -1.0 - 10j], np.hypot(1.0, 10.0)),  # a lightly damped swing
        ([-1e4, 3.0, -3.0, -0.1], 3.0),  # growth
        ([-1e3, 0.0], 1e3),  # an integrator has no rate of its own
        ([0.0, 0.0], 0.0),
    ],
)
def test_the_step_is_for_what_grows_or_swings_or_settles_last(values, followed):
    assert _followed(np.array([values], complex)) == pytest.approx(followed)


def van_der_pol(mu):
    plant = plants.get("van_der_pol")
    return replace(plant, parameters=(replace(plant.parameters[0], nominal=mu, high=1e4),))


@pytest.mark.parametrize(
    ("mu", "t_end", "steps"), [(100.0, 50.0, (0.5, 0.25, 0.125)), (1000.0, 500.0, (5.0, 2.5, 1.25))]
)
def test_van_der_pol_on_its_slow_branch_agrees_with_radau(mu, t_end, steps):
    plant, start = van_der_pol(mu), (2.0, -2.0 / (3.0 * mu))

    def rates(t, x):
        return plant.derivative(t, x, (0.0,), (0.0,), (mu,))

    exact = solve_ivp(rates, (0.0, t_end), start, "Radau", rtol=1e-11, atol=1e-14).y[:, -1]
    ends = [plants.simulate(plant, t_end, h, start, integrator="rosenbrock").states[-1] for h in steps]
    errors = [np.abs(end / exact - 1.0).max() for end in ends]
    assert errors[-1] < 1e-7
    assert orders(errors).min() > 2.5  # the larger steps are not yet in the regime of the order
    with pytest.raises(plants.DivergedError):
        plants.simulate(plant, t_end, steps[-1], start)


# ------------------------------------------------------------------------------------------------------- closed loops


class ImplicitTwin(Twin):
    """The closed loop in plain floats with the input held over the step."""

    def _advance(self, k, u):
        def rates(t, x):
            return self.plant.derivative(t, x, u, tuple(source(k) for source in self.w), self.p)

        return rosenbrock(rates, k * self.step, self.x, self.step)


def test_a_closed_loop_holds_its_input_within_the_step():
    plant, law = van_der_pol(50.0), controllers.PID(sample_time=0.02)
    situation = sscq.Situation(name="stiff", reference=1.5, t_end=1.0)
    gains = np.array([[6.0, 2.0, 3.0]])
    with uncompiled():
        loop = ClosedLoop(plant, law, (situation,), 0.01, integrator="rosenbrock", lanes=1)
        quality = loop.evaluate(gains)
    resolved = replace(law, limits=(plant.channels[0].low, plant.channels[0].high))
    totals, _ = ImplicitTwin(plant, [resolved], lambda *_: gains[0], situation, 0.01, sample=2).run()
    for name in ("iae", "effort", "entropy_plant", "total_variation"):
        assert getattr(quality, name)[0, 0] == pytest.approx(totals[name], rel=1e-9), name


@pytest.mark.parametrize("mode", ["iterated", "loop_free", "loop_free_filtered"])
def test_it_needs_solved_accelerations(mode):
    plant = plants.get("nonlinear_inertia")
    with pytest.raises(ValueError, match=f"knows no algebraic_loop='{mode}'; use algebraic_loop='solved', or one of"):
        plants.simulate(plant, 1.0, 0.1, integrator="rosenbrock", algebraic_loop=mode)
    with pytest.raises(ValueError, match="differentiates the solved equations"):
        ClosedLoop(plant, controllers.PID(), (sscq.Situation(name="a"),), integrator="rosenbrock", algebraic_loop=mode)
