"""Contacts by cases and selects: against the general method, as plain Python, on arrays and compiled."""

import numpy as np
import pytest

from plants.core.linear_solve import solve_symmetric
from plants.mechanics.algebra.blocks import Full, Matrices
from plants.mechanics.contacts.active_sets import contact_accelerations
from plants.mechanics.contacts.active_sets import impact as reference_impact
from plants.mechanics.contacts.cases import Mobility, complementarity
from tests.plants.mechanics.contact_systems import box


def drawn(rng, n_gaps, n_rows, n=4):
    root, rows, pushes = rng.normal(size=(n, n)), rng.normal(size=(n_rows, n)), rng.normal(size=(n_gaps, n))
    none = np.zeros(0)
    return Matrices(
        mass=root @ root.T + 0.3 * np.eye(n), load=3.0 * rng.normal(size=n), residuals=none, jacobian=rows,
        speeds=np.zeros(n_rows), drift=rng.normal(size=n_rows), curvature=rng.normal(size=n_rows), gaps=np.zeros(n_gaps),
        gap_jacobian=pushes, gap_speeds=rng.normal(size=n_gaps), gap_curvature=rng.normal(size=n_gaps),
    )  # fmt: skip


def solved(at, closed):
    mobility = Mobility(at.mass.tolist(), at.jacobian.tolist(), at.gap_jacobian.tolist())
    free = solve_symmetric(at.mass.tolist(), at.load.tolist())
    return mobility.nearest(free, (-at.curvature).tolist(), (-at.gap_curvature).tolist(), closed)


@pytest.mark.parametrize("n_gaps", [1, 2])
@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_cases_give_what_the_general_method_gives(n_gaps, n_rows):
    rng, sets = np.random.default_rng(10 * n_gaps + n_rows), set()
    for _ in range(60):
        at, closed = drawn(rng, n_gaps, n_rows), rng.choice([1.0, -1.0], size=n_gaps, p=[0.8, 0.2])
        a, lam, mu = solved(at, closed.tolist())
        found = contact_accelerations(at, closed > 0.0)
        np.testing.assert_allclose(a, found.motion, atol=1e-9 * (1.0 + np.abs(found.motion).max()))
        np.testing.assert_allclose(mu, found.forces, atol=1e-9 * (1.0 + found.forces.max()))
        np.testing.assert_allclose(lam, found.multipliers, atol=1e-9 * (1.0 + np.abs(lam).max(initial=0.0)))
        assert min(mu) >= 0.0
        sets.add(found.active)
    assert len(sets) == 2**n_gaps  # every active set was met


@pytest.mark.parametrize("n_rows", [0, 1])
def test_impacts_by_cases_give_what_the_general_method_gives(n_rows):
    rng = np.random.default_rng(n_rows)
    for _ in range(60):
        at, e, v = drawn(rng, 2, n_rows), rng.uniform(size=2), rng.normal(size=4)
        found = reference_impact(at, v, [True, True], e)
        steady = at.gap_speeds - at.gap_jacobian @ v
        wanted = e * np.maximum(-at.gap_speeds, 0.0) - steady
        mobility = Mobility(at.mass.tolist(), at.jacobian.tolist(), at.gap_jacobian.tolist())
        after, _, impulses = mobility.nearest(v.tolist(), (-at.drift).tolist(), wanted.tolist(), [1.0, 1.0])
        np.testing.assert_allclose(after, found.motion, atol=1e-9 * (1.0 + np.abs(found.motion).max()))
        np.testing.assert_allclose(impulses, found.forces, atol=1e-9 * (1.0 + found.forces.max()))


@pytest.mark.parametrize("factor", [1.0, 0.3, 4.0])
@pytest.mark.parametrize("more", [0.0, 0.7, -0.7])
def test_of_two_rows_that_say_the_same_the_stricter_one_pushes(factor, more):
    mass, row = [[2.0, 0.3], [0.3, 1.0]], [0.4, 1.0]
    twice = [row, [factor * x for x in row]]
    wanted = [1.0, factor * (1.0 + more)]
    a, _, mu = Mobility(mass, [], twice).nearest([0.0, 0.0], [], wanted, [1.0, 1.0])
    alone, _, _ = Mobility(mass, [], [row]).nearest([0.0, 0.0], [], [1.0 + max(more, 0.0)], [1.0])
    np.testing.assert_allclose(a, alone, rtol=1e-12)
    assert min(mu) == 0.0


def test_a_contact_that_the_constraints_do_not_let_yield_does_not_push():
    a, _, mu = Mobility([[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]], [[0.0, 1.0]]).nearest([0.0, -3.0], [0.0], [0.5], [1.0])
    assert a == [0.0, 0.0]
    assert mu == (0.0,)


def test_nor_does_one_that_yields_by_rounding_only():
    mass, row = [[2.0, 0.3], [0.3, 0.7]], [0.3, 1.1]
    along = [[0.1 / 3.0 * x for x in row]]
    a, _, mu = Mobility(mass, [row], along).nearest([0.4, -3.0], [0.0], [0.5], [1.0])
    assert mu == (0.0,)
    assert abs(np.dot(row, a)) < 1e-14


def test_more_than_two_gaps_are_refused():
    with pytest.raises(ValueError, match="at most 2 gaps, got 3; use simulate_contacts"):
        complementarity(np.eye(3).tolist(), [1.0] * 3, [1.0] * 3, [1.0] * 3)


def test_compiled_selects_are_the_plain_ones(compiled):
    full = Full(box().declared())

    def accelerations(push, left, right):
        lists = full(
            ("mass", "load", "gap_jacobian", "gap_curvature"),
            0.0,
            (0.0, 0.5, 0.0),
            (0.0,) * 3,
            (push,),
            (),
            (2.0, 0.3, 0.5, 0.4),
        )
        (m00, m10, m11, m20, m21, m22), load, rows, rest = lists
        mass = [[m00, m10, m20], [m10, m11, m21], [m20, m21, m22]]
        a, _, mu = Mobility(mass, [], [rows[:3], rows[3:]]).nearest(
            solve_symmetric(mass, load), [], [-c for c in rest], [left, right]
        )
        return (*a, *mu)

    push = np.linspace(-40.0, 40.0, 53)
    left, right = np.resize((1.0, 1.0, -1.0), 53), np.resize((1.0, -1.0, -1.0, 1.0), 53)
    kernel = compiled(accelerations, 3, 5)(push, left, right)
    arrays = np.array([np.broadcast_to(row, push.shape) for row in accelerations(push, left, right)])
    floats = np.array([accelerations(*point) for point in zip(push, left, right, strict=True)]).T
    np.testing.assert_array_equal(arrays, floats)
    # Kernels contract products and sums, and take reciprocals of pivots: some last digits of forces of 20 N.
    np.testing.assert_allclose(kernel, floats, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(kernel[3:] > 0.0, floats[3:] > 0.0)
    assert floats[3:].min() == 0.0
