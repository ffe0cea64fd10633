"""Algebraic loops: solved, iterated and loop-free agree as they should, and fail where they must."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import Plant, Quantity
from plants.core.elementary import cos, sin
from plants.core.kernel.kernel import KernelDesign
from plants.core.kernel.lanes import Lane
from plants.core.linear_solve import solve_general, solve_symmetric
from plants.core.motion.step import Motion
from plants.excitation import Sine

INERTIA = plants.get("nonlinear_inertia")
T_END = 5.0


def driven(size):
    """Smooth excitation; a small one instead of none, so that the tests share their kernels."""
    return {"inputs": {"force": Sine(size, 0.3)}, "disturbances": {"excitation": Sine(0.2 * size, 0.2, 1.0)}}


DRIVE, REST = driven(0.5), driven(1e-12)


def arm_mass_matrix(t, x, u, w, p):
    """Two links: coupled by the angle between them."""
    coupling = 0.3 * cos(x[0] - x[1])
    return (1.0, coupling), (coupling, 0.4)


def arm_force(t, x, u, w, p):
    a, b, va, vb = x
    coupling = 0.3 * sin(a - b)
    return u[0] - 2.0 * sin(a) - coupling * vb * vb - 0.1 * va, -sin(b) + coupling * va * va - 0.05 * vb


ARM = Plant(
    name="two_links",
    states=tuple(Quantity(name, "rad", value) for name, value in (("a", 0.8), ("b", -0.5), ("va", 0.0), ("vb", 0.3))),
    inputs=(Quantity("torque", "N m"),),
    mass_matrix=arm_mass_matrix,
    force=arm_force,
)


def end(plant, mode, step, integrator="rk4", initial=None, t_end=T_END, **drive):
    run = plants.simulate(plant, t_end, step, initial, algebraic_loop=mode, integrator=integrator, **drive)
    return run.states[-1]


@pytest.mark.parametrize(
    ("plant", "integrator", "initial", "drive"),
    [(INERTIA, "heun", {"position": 1.2}, DRIVE), (ARM, "euler", None, {"inputs": {"torque": 0.3}})],
    ids=["one", "two"],
)
def test_iterated_agrees_with_solved_to_the_iterations_tolerance(plant, integrator, initial, drive):
    solved, iterated = (end(plant, mode, 0.01, integrator, initial, **drive) for mode in ("solved", "iterated"))
    # Newton stops at 1e-10 of the accelerations, mostly far below; the motion forgets or keeps such errors, no more.
    np.testing.assert_allclose(iterated, solved, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("velocity", [0.0, 1.2])
@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_loop_free_is_of_first_order_under_any_integrator(integrator, velocity):
    initial = {"position": 0.8, "velocity": velocity}
    reference = end(INERTIA, "solved", 0.00125, initial=initial, **DRIVE)
    steps = np.array([0.02, 0.01, 0.005])
    errors = [np.abs(end(INERTIA, "loop_free", h, integrator, initial, **DRIVE) - reference).max() for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    # The second-order part of the error is a few per cent of the first at these steps.
    np.testing.assert_allclose(slopes, 1.0, atol=0.1)
    assert errors[-1] < 0.02


def test_loop_free_diverges_where_the_loop_gain_exceeds_one_and_the_filtered_form_does_not():
    # Gain a3 q^2 = 0.4 * 1.7^2 = 1.156.
    with pytest.raises(plants.DivergedError, match=r"after t = 0\.\d+ s at position = .* m, velocity = .* m/s"):
        plants.simulate(INERTIA, 20.0, 1e-3, {"position": 1.7}, algebraic_loop="loop_free", **REST)
    solved, filtered = (
        plants.simulate(INERTIA, 20.0, 1e-3, {"position": 2.5}, algebraic_loop=mode, **REST)
        for mode in ("solved", "loop_free_filtered")
    )
    # The filter's time constant is 10 steps; the method's own study measured 6e-3 (method.md 3.2).
    assert np.abs(filtered["position"] - solved["position"]).max() == pytest.approx(6e-3, rel=0.1)
    assert filtered.evaluations == solved.evaluations == 4 * 20_000


def test_below_a_gain_of_one_loop_free_is_stable():
    run = plants.simulate(INERTIA, 20.0, 1e-3, {"position": 1.5}, algebraic_loop="loop_free", **REST)
    assert np.abs(run["position"][-1000:]).max() < 1.5


@pytest.mark.parametrize("mode", ["loop_free", "loop_free_relaxed", "loop_free_filtered"])
@pytest.mark.parametrize(("integrator", "stages"), [("euler", 1), ("heun", 2), ("rk4", 4)])
def test_loop_free_evaluates_the_equations_once_a_stage(integrator, stages, mode):
    calls = []

    def acceleration(t, x, a, u, w, p):
        calls.append(1)
        return (-x[0] - 0.2 * a[0],)

    plant = Plant(
        name="counted", states=(Quantity("q", "m"), Quantity("v", "m/s")), derivative=lambda *_: (0.0, 0.0),
        acceleration=acceleration,
    )  # fmt: skip
    none = tuple
    motion = Motion(plant, integrator, mode, disturbances=lambda *_: none(), inputs=lambda *_: none())
    design = KernelDesign("counted")
    motion.add_rows(design)
    for item in motion.items():
        for body in item.bodies:
            body(Lane(design.rows))
    assert len(calls) == stages == motion.stages


def test_all_ways_to_declare_the_equations_give_one_derivative():
    by_acceleration = replace(INERTIA, mass_matrix=None, force=None)
    by_matrix = replace(INERTIA, acceleration=None)
    point = (0.0, (1.3, -0.7), (0.4,), (0.2,), INERTIA.nominal())
    expected = INERTIA.derivative(*point)
    np.testing.assert_allclose(by_acceleration.derivative(*point), expected, rtol=1e-15)
    np.testing.assert_allclose(by_matrix.derivative(*point), expected, rtol=1e-15)


def test_several_accelerations_are_solved_from_their_own_equations():
    def acceleration(t, x, a, u, w, p):
        (m, c), (d, n) = arm_mass_matrix(t, x, u, w, p)
        f, g = arm_force(t, x, u, w, p)
        return (f - c * a[1]) / m, (g - d * a[0]) / n

    by_acceleration = replace(ARM, mass_matrix=None, force=None, acceleration=acceleration)
    point = (0.0, (0.7, -0.4, 0.5, -0.2), (0.3,), (), ())
    np.testing.assert_allclose(by_acceleration.derivative(*point), ARM.derivative(*point), rtol=1e-14)
    matrix, force = arm_mass_matrix(*point), arm_force(*point)
    np.testing.assert_allclose(ARM.derivative(*point)[2:], np.linalg.solve(matrix, force), rtol=1e-14)


def test_a_copy_with_other_forces_moves_by_them():
    # A past bug: the copy kept the solved derivative of the original.
    heavy = replace(INERTIA, mass_matrix=lambda t, x, u, w, p: ((4.0,),), force=lambda t, x, u, w, p: (2.0,))
    assert heavy.derivative(0.0, (1.0, 3.0), (0.0,), (0.0,), INERTIA.nominal()) == (3.0, 0.5)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_linear_solves_agree_with_numpy(n):
    rng = np.random.default_rng(n)
    root = rng.standard_normal((n, n))
    matrix, right = root @ root.T + np.eye(n), rng.standard_normal(n)
    # Without pivoting the error is about the condition number (here below 1e4) times rounding.
    np.testing.assert_allclose(solve_symmetric(matrix, tuple(right)), np.linalg.solve(matrix, right), rtol=1e-10)
    general = matrix + np.triu(rng.standard_normal((n, n)), 1) * 0.1
    np.testing.assert_allclose(solve_general(general, tuple(right)), np.linalg.solve(general, right), rtol=1e-10)


def test_declarations_without_equations_or_with_an_odd_state_are_refused():
    state = (Quantity("q", "m"),)
    with pytest.raises(ValueError, match="'none' needs derivative, or acceleration, or mass_matrix and force"):
        Plant(name="none", states=state)
    with pytest.raises(ValueError, match="positions followed by velocities: an even number, got 1"):
        Plant(name="odd", states=state, acceleration=lambda t, x, a, u, w, p: (a[0],))
