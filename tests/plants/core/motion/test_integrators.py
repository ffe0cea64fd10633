"""Orders of convergence on a problem with a known solution, and the integrals that are carried along."""

import numpy as np
import pytest

import plants
from benchmarks.accuracy.known_solutions import EXACT, exact_at

T_END = 2.0
COUNTS = np.array([16, 32, 64, 128])
ORDERS = {"euler": 1.0, "heun": 2.0, "rk2": 2.0, "rk4": 4.0, "rosenbrock": 3.0}


HELD = np.zeros(1)  # an input as an array, as in the test of held arrays: the same kernel


def ends(integrator):
    runs = [plants.simulate(EXACT, T_END, T_END / n, inputs=HELD, integrator=integrator) for n in COUNTS]
    return np.array([[*run.states[-1], run.entropy[-1]] for run in runs])


@pytest.mark.parametrize("integrator", list(ORDERS))
def test_order_of_convergence_of_states_and_integrals(integrator):
    errors = np.abs(ends(integrator) - exact_at(T_END))
    slopes = -np.diff(np.log(errors), axis=0) / np.diff(np.log(COUNTS))[:, None]
    # From 64 to 128 steps the next power of the step changes a measured order by less than a tenth.
    np.testing.assert_allclose(slopes[-1], ORDERS[integrator], atol=0.15)
    largest = {"euler": 0.1, "heun": 2e-3, "rk2": 2e-3, "rk4": 1e-7, "rosenbrock": 1e-6}[integrator]
    assert errors[-1].max() < largest  # an order alone does not tell a wrong factor from a right one


def test_one_step_of_each_method_is_the_textbook_formula():
    h, x = 0.1, np.array([1.0, 1.0])

    def f(t, x):
        return np.array([x[0] * np.cos(t), -x[1] * x[1]])

    k1 = f(0.0, x)
    k2, middle = f(h, x + h * k1), f(0.5 * h, x + 0.5 * h * k1)
    k3 = f(0.5 * h, x + 0.5 * h * middle)
    k4 = f(h, x + h * k3)
    expected = {
        "euler": x + h * k1,
        "heun": x + 0.5 * h * (k1 + k2),
        "rk2": x + h * middle,
        "rk4": x + h / 6.0 * (k1 + 2.0 * middle + 2.0 * k3 + k4),
    }
    for integrator, state in expected.items():
        run = plants.simulate(EXACT, h, h, inputs=HELD, integrator=integrator)
        np.testing.assert_allclose(run.states[-1], state, rtol=1e-15)


def test_arrays_of_inputs_are_held_over_their_steps():
    values = np.array([1.0, -1.0, 0.5, 2.0])
    run = plants.simulate(EXACT, 1.0, 0.25, initial=(1.0, 0.0), inputs=values, integrator="euler")
    np.testing.assert_array_equal(run["u"][:-1], values)
    assert run["u"][-1] == values[-1]
    y = 0.0
    for value in values:
        y += 0.25 * (-y * y + value)
    assert run["y"][-1] == pytest.approx(y, rel=1e-15)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"integrator": "rk5"}, "no integrator 'rk5'; did you mean 'rk4'"),
        ({"algebraic_loop": "iterated"}, "has no algebraic loop, so algebraic_loop='iterated' means nothing"),
        ({"algebraic_loop": "loopfree"}, "no algebraic_loop 'loopfree'; did you mean 'loop_free'"),
        ({"step": 0.3}, r"t_end = 2 s must be a multiple of step = 0\.3 s"),
        ({"step": -0.1}, "must be positive and finite"),
        ({"initial": (1.0,)}, r"states of plant 'known_solution' must have 2 values \(x, y\), got 1"),
        ({"initial": {"z": 1.0}}, "no name among the states of plant 'known_solution': 'z'"),
        ({"initial": {"x": np.nan}}, "'x' among the states of plant 'known_solution' must be finite, got nan"),
        ({"inputs": {"v": 1.0}}, "no name among the inputs of plant 'known_solution': 'v'"),
        ({"inputs": (1.0, 2.0)}, "plant 'known_solution' has 1 inputs, got 2"),
        ({"inputs": np.zeros((4, 2))}, r"as an array must have shape \(n, 1\), got \(4, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(options, told):
    with pytest.raises(ValueError, match=told):
        plants.simulate(EXACT, T_END, **({"step": 0.1} | options))


def test_a_run_that_leaves_the_region_says_when_and_where():
    with pytest.raises(plants.DivergedError) as caught:
        plants.simulate(EXACT, T_END, 0.0625, initial=(1.0, -1.0), inputs=HELD)  # y = 1 / (t - 1) has a pole
    message = str(caught.value)
    assert "plant 'known_solution' left the region" in message
    reached = float(message.split("t = ")[1].split(" s", maxsplit=1)[0])
    assert 0.9 <= reached <= 1.2
    assert "y = -" in message
