"""Iterated algebraic loops: three methods, what they cost, and the error where they fail."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import Plant, Quantity
from plants.core.algebraic_loop.iteration import METHODS, sweep
from tests.reference import algebraic_loop_twin as twin

INERTIA = plants.get("nonlinear_inertia")
FAR = replace(INERTIA, states=(replace(INERTIA.states[0], nominal=2.5), INERTIA.states[1]))  # gain 2.5
PLANTS = {"one": FAR, "two": twin.two_masses(0.6), "three": twin.cart(light=True)}


@pytest.mark.parametrize("plant", list(PLANTS.values()), ids=list(PLANTS))
@pytest.mark.parametrize("mode", list(METHODS))
def test_all_iterations_agree_with_solved_and_cost_what_they_say(plain, mode, plant):
    steps = 30 if len(plant.states) > 4 else 100
    solved, iterated = (plain(plant, steps * 0.01, 0.01, algebraic_loop=one) for one in ("solved", mode))
    # Residuals below 1e-10 (1 + |a|), a up to 20: accelerations are wrong by at most that times the norm of
    # (I - G)^-1, 20 for the cart and less for the others; the motions forget or keep such errors in that time.
    np.testing.assert_allclose(iterated.states, solved.states, rtol=0.0, atol=1e-8)
    state, calls = twin.simulated(plant, mode, steps, 0.01, (0.0,) * len(plant.inputs))
    np.testing.assert_allclose(iterated.states[-1], state, rtol=0.0, atol=1e-8)
    report, n = iterated.loop, len(plant.states) // 2
    # Both stop by the same rule, but may round a residual that is just the tolerance to either side.
    assert report.evaluations == iterated.evaluations == pytest.approx(calls, rel=0.01)
    per_pass = n + 1 if mode == "iterated" else 1
    assert report.iterations.mean == pytest.approx(report.evaluations / per_pass / (4 * steps))
    assert report.iterations.mean <= report.iterations.most <= METHODS[mode].limit
    assert 0.0 <= report.iterations.residual <= report.iterations.tolerance == 1e-10
    assert report.iterations.failure == ""
    assert (solved.evaluations, solved.loop.iterations) == (4 * steps, None)
    assert solved.loop.gain > (1.0 if n != 2 else 0.5)


def test_newton_needs_two_passes_for_affine_equations_and_gauss_seidel_more(plain):
    passes = {m: plain(PLANTS["three"], 0.2, 0.01, algebraic_loop=m).loop.iterations.mean for m in METHODS}
    assert passes["iterated_exact"] <= 2.0  # one that changes something, one that confirms
    assert passes["iterated"] == pytest.approx(2.0, abs=0.1)  # a difference quotient is good to 1e-10 of the slope
    assert passes["gauss_seidel"] > 10.0


@pytest.mark.parametrize("scaled", [False, True])
def test_gauss_seidel_converges_for_positive_definite_matrices_where_jacobi_does_not(scaled):
    rng, jacobi = np.random.default_rng(3), []
    for _ in range(40):
        root = rng.standard_normal((5, 8))
        matrix = root @ root.T
        # The equations of M a = 0 may be scaled as they like: solved for their own unknown, or not.
        rows = rng.uniform(-3.0, 3.0, 5) if scaled else 1.0 / np.diag(matrix)
        gain = np.eye(5) - rows[:, None] * matrix
        swept = [sweep(lambda a, g=gain: tuple(g @ a), lambda _, g=gain: g.tolist(), tuple(e))[0] for e in np.eye(5)]
        step = np.array(swept).T  # what a sweep makes of an error
        lower = np.tril(matrix)
        # The textbook's iteration matrix; its condition is that of the triangle, some 100 here.
        np.testing.assert_allclose(step, np.linalg.solve(lower, lower - matrix), rtol=0.0, atol=1e-11)
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0
        jacobi.append(np.abs(np.linalg.eigvals(np.eye(5) - matrix / np.diag(matrix)[:, None])).max())
    assert sum(radius > 1.0 for radius in jacobi) > 20


def hinge(fails):
    """Two accelerations; the second's equation has no solution where the first position is beyond 0.5 m."""

    def acceleration(t, x, a, u, w, p):
        from plants.core.elementary import where

        return -0.2 * a[1], where(x[0] - 0.5, fails(a[1]), -x[1] - 0.2 * a[0])

    names = (("front", "m", 0.0), ("rear", "m", 0.1), ("front speed", "m/s", 1.0), ("rear speed", "m/s", 0.0))
    return Plant(name="hinge", states=tuple(Quantity(*name) for name in names), acceleration=acceleration)


@pytest.mark.parametrize("mode", list(METHODS))
def test_an_equation_that_is_not_met_is_named_with_time_state_and_residual(plain, mode):
    with pytest.raises(plants.AlgebraicLoopError) as caught:
        plain(hinge(lambda a: a + a * a + 1.0), 1.0, 0.01, algebraic_loop=mode)  # a^2 + 1 = 0
    message = str(caught.value)
    limit = METHODS[mode].limit
    assert f"algebraic loop of plant 'hinge' was not solved after {limit} passes ({mode})" in message
    assert "acceleration of 'rear' (rate of 'rear speed') keeps a residual of" in message
    assert "in the step from t = 0.49 s at front = 0.4" in message  # a stage of that step is beyond 0.5 m
    residual = float(message.split("residual of ")[1].split(maxsplit=1)[0])
    assert residual > 1e-3
    assert isinstance(caught.value, plants.DivergedError)


@pytest.mark.parametrize(
    ("fails", "fault"),
    [(lambda a: a + 1.0, "acceleration of 'rear' (rate of 'rear speed') keeps a residual of 0.9"),  # 1 = 0
     (lambda a: 0.0 * a / 0.0, "its equations give no finite numbers")],
)  # fmt: skip
def test_equations_without_a_finite_solution_are_told_as_well(plain, fails, fault):
    with pytest.raises(plants.AlgebraicLoopError) as caught:
        plain(hinge(fails), 1.0, 0.01, algebraic_loop="iterated_exact")
    assert f"'hinge' was not solved after 50 passes (iterated_exact): {fault}" in str(caught.value).replace(
        "the equation of the ", ""
    )


def test_the_modes_are_known_everywhere():
    from configs.schema import RunConfig
    from plants.core.motion.modes import MODES

    rule = RunConfig.__dataclass_fields__["algebraic_loop"].metadata["rule"]
    assert rule.choices == MODES
    with pytest.raises(ValueError, match="no algebraic_loop 'gauss_siedel'; did you mean 'gauss_seidel'"):
        plants.simulate(INERTIA, 1.0, algebraic_loop="gauss_siedel")
